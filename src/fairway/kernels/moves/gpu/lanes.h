// What a warp computes with: a number, a word or a truth per lane, and what lanes tell each other.
//
// On a GPU each lane has a register of its own. Elsewhere a value is an array over all lanes, and each operation a loop,
// so that the same search runs on any machine and decides the same. Control flow depends on what all lanes share alone.

#ifdef __CUDACC__

#define DEVICE static __device__ __forceinline__
typedef int Int;
typedef unsigned Word;
typedef bool Bool;
#define ALL 0xffffffffu

DEVICE Int lanes() { return threadIdx.x & 31; }
DEVICE Int every(int x) { return x; }
DEVICE Word word(Int x) { return (Word)x; }
DEVICE Int number(Word x) { return (Int)x; }
DEVICE Int choose(Bool c, Int a, Int b) { return c ? a : b; }
DEVICE Int larger(Int a, Int b) { return max(a, b); }
DEVICE Int lesser(Int a, Int b) { return min(a, b); }
DEVICE Int plus_larger(Int a, Int b, Int c) { return __viaddmax_s32(a, b, c); }
DEVICE Int plus_lesser(Int a, Int b, Int c) { return __viaddmin_s32(a, b, c); }
DEVICE Word high_product(Word a, Word b) { return __umulhi(a, b); }
DEVICE Int from_below(Int x, int by) { return __shfl_up_sync(ALL, x, by); }
DEVICE Int from_above(Int x, int by) { return __shfl_down_sync(ALL, x, by); }
DEVICE int of_lane(Int x, int lane) { return __shfl_sync(ALL, x, lane); }
DEVICE unsigned which(Bool c) { return __ballot_sync(ALL, c); }
DEVICE int least(Int x) { return __reduce_min_sync(ALL, x); }
DEVICE int total(Int x) { return __reduce_add_sync(ALL, x); }
DEVICE int first_of(unsigned bits) { return __ffs(bits) - 1; }
template <class T> DEVICE Int read(const T *from, Int at) { return from[at]; }
DEVICE Int fetch(const int *from, Int at) { return __ldg(from + at); }
template <class T> DEVICE Int read_if(Bool c, const T *from, Int at, Int other) { return c ? (Int)from[at] : other; }
template <class T> DEVICE void write_if(Bool c, T *to, Int at, Int x) { if (c) to[at] = (T)x; }
DEVICE void settle() { __syncwarp(); }
DEVICE int bits_of(float x) { return __float_as_int(x); }
DEVICE float float_of(int x) { return __int_as_float(x); }

#else

#include <cstring>
#define DEVICE static inline
template <class T> struct Lanes { T v[32]; };
typedef Lanes<int> Int;
typedef Lanes<unsigned> Word;
typedef Lanes<int> Bool;
#define EACH for (int l = 0; l < 32; l++)

DEVICE Int every(int x) { Int r; EACH r.v[l] = x; return r; }
DEVICE Int lanes() { Int r; EACH r.v[l] = l; return r; }
DEVICE Word word(Int x) { Word r; EACH r.v[l] = (unsigned)x.v[l]; return r; }
DEVICE Int number(Word x) { Int r; EACH r.v[l] = (int)x.v[l]; return r; }
#define BINARY(T, R, op) \
    DEVICE R operator op(T a, T b) { R r; EACH r.v[l] = a.v[l] op b.v[l]; return r; } \
    template <class S> DEVICE R operator op(T a, S b) { R r; EACH r.v[l] = a.v[l] op b; return r; } \
    template <class S> DEVICE R operator op(S a, T b) { R r; EACH r.v[l] = a op b.v[l]; return r; }
BINARY(Int, Int, +)
BINARY(Int, Int, -)
BINARY(Int, Int, *)
BINARY(Int, Bool, <)
BINARY(Int, Bool, <=)
BINARY(Int, Bool, >)
BINARY(Int, Bool, >=)
BINARY(Int, Bool, ==)
BINARY(Int, Bool, !=)
BINARY(Int, Bool, &)
BINARY(Int, Bool, |)
BINARY(Word, Word, +)
BINARY(Word, Word, *)
BINARY(Word, Word, ^)
BINARY(Word, Word, &)
BINARY(Word, Word, >>)
BINARY(Word, Bool, <)
DEVICE Int choose(Bool c, Int a, Int b) { Int r; EACH r.v[l] = c.v[l] ? a.v[l] : b.v[l]; return r; }
DEVICE Int choose(Bool c, int a, Int b) { return choose(c, every(a), b); }
DEVICE Int choose(Bool c, Int a, int b) { return choose(c, a, every(b)); }
DEVICE Int choose(Bool c, int a, int b) { return choose(c, every(a), every(b)); }
DEVICE Int larger(Int a, Int b) { Int r; EACH r.v[l] = a.v[l] > b.v[l] ? a.v[l] : b.v[l]; return r; }
DEVICE Int lesser(Int a, Int b) { Int r; EACH r.v[l] = a.v[l] < b.v[l] ? a.v[l] : b.v[l]; return r; }
DEVICE Int larger(Int a, int b) { return larger(a, every(b)); }
DEVICE Int lesser(Int a, int b) { return lesser(a, every(b)); }
DEVICE Int plus_larger(Int a, Int b, Int c) { return larger(a + b, c); }
DEVICE Int plus_larger(Int a, Int b, int c) { return larger(a + b, every(c)); }
DEVICE Int plus_lesser(Int a, Int b, Int c) { return lesser(a + b, c); }
DEVICE Word high_product(Word a, unsigned b) { Word r; EACH r.v[l] = (unsigned)(((unsigned long long)a.v[l] * b) >> 32); return r; }
DEVICE Int from_below(Int x, int by) { Int r; EACH r.v[l] = x.v[l < by ? l : l - by]; return r; }
DEVICE Int from_above(Int x, int by) { Int r; EACH r.v[l] = x.v[l + by > 31 ? l : l + by]; return r; }
DEVICE int of_lane(Int x, int lane) { return x.v[lane & 31]; }
DEVICE unsigned which(Bool c) { unsigned r = 0; EACH r |= (unsigned)(c.v[l] != 0) << l; return r; }
DEVICE int least(Int x) { int r = x.v[0]; EACH r = x.v[l] < r ? x.v[l] : r; return r; }
DEVICE int total(Int x) { unsigned r = 0; EACH r += (unsigned)x.v[l]; return (int)r; }
DEVICE int first_of(unsigned bits) { return __builtin_ffs((int)bits) - 1; }
template <class T> DEVICE Int read(const T *from, Int at) { Int r; EACH r.v[l] = (int)from[at.v[l]]; return r; }
DEVICE Int fetch(const int *from, Int at) { return read(from, at); }
template <class T> DEVICE Int read_if(Bool c, const T *from, Int at, Int other) {
    Int r; EACH r.v[l] = c.v[l] ? (int)from[at.v[l]] : other.v[l]; return r;
}
template <class T> DEVICE void write_if(Bool c, T *to, Int at, Int x) { EACH if (c.v[l]) to[at.v[l]] = (T)x.v[l]; }
template <class T> DEVICE void write_if(Bool c, T *to, Int at, int x) { write_if(c, to, at, every(x)); }
DEVICE void settle() {}
DEVICE int choose(bool c, int a, int b) { return c ? a : b; }
DEVICE int larger(int a, int b) { return a > b ? a : b; }
DEVICE int lesser(int a, int b) { return a < b ? a : b; }
DEVICE unsigned high_product(unsigned a, unsigned b) { return (unsigned)(((unsigned long long)a * b) >> 32); }
DEVICE int bits_of(float x) { int r; std::memcpy(&r, &x, 4); return r; }
DEVICE float float_of(int x) { float r; std::memcpy(&r, &x, 4); return r; }

#endif
