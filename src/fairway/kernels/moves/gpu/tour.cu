// Local search for many instances side by side: one warp ruins and recreates one tour, round after round.
//
// All amounts are whole numbers, so that sums in any order agree. V nodes, the depot as 0 and as V - 1. A warp holds the
// tour under construction in registers, SLOTS consecutive positions per lane: the node there, the leg to it, its limits,
// the resource on arrival (start) and the highest with which all that follows is in time (latest), as on the CPU.
// Both follow from composed functions x -> max(x + a, b) and x -> min(x - a, b), by a scan over the lanes.
//
// Compiled for SLOTS per lane, WARPS per block, BLOCKS per multiprocessor, BY_SET (the resource grows by what a node
// holds, or else by the leg) and SYMMETRIC legs.

#define BIG (1 << 30)
#define CAPACITY (32 * SLOTS)
#define BLINK 3
#define NEAREST 10
#define DRAWS 64
typedef unsigned short Node;

struct Limits {  // by node
    int own[CAPACITY], closes[CAPACITY];
};

struct Model {
    const int *to, *from;  // legs [V, V] from a row to all columns, and the same transposed
    const Node *near;      // [V, 32] the stops nearest to each, 0 where there are no more
    const Limits *limits;
    int nodes, longest;    // stops of the longest string
};

struct Kept {  // a tour by position
    Node node[CAPACITY], place[CAPACITY];
    int leg[CAPACITY];
};

struct Room {  // of a warp: the tour to go back to and the one that is tried, in turn
    Kept tours[2];
    Limits limits;
    unsigned char waiting[CAPACITY];  // nodes whose surroundings have changed
};

struct Tour {
    Int node[SLOTS], leg[SLOTS];
    Int own[SLOTS], closes[SLOTS];  // own: what the node opens with, or what it adds to the load
    Int start[SLOTS], latest[SLOTS];
};

struct Stop {
    int node, own, closes;
};

struct Ruin {  // strings [a, b) and [c, d) of positions, a < b <= c <= d
    int a, b, c, d;
};

template <class W> DEVICE W mixed(W x) {
    x = (x ^ (x >> 16)) * 0x21f0aaadu;
    x = (x ^ (x >> 15)) * 0x735a2d97u;
    return x ^ (x >> 15);
}

DEVICE Word draw(unsigned key, int number) { return mixed(word(lanes() * DRAWS + number) ^ key); }

DEVICE int below(unsigned luck, int count) { return (int)high_product(luck, (unsigned)count); }

DEVICE float exponential(unsigned luck) {
    float u = (float)((luck >> 8) + 1) * (1.0f / 16777216.0f);
    int bits = bits_of(u);
    float part = float_of((bits & 0x7fffff) | 0x3f800000) - 1.0f;
    return -0.6931472f * ((float)((bits >> 23) - 127) + part * (1.3465f - 0.3465f * part));
}

DEVICE Int grows_by(const Tour &t, int k) {
#if BY_SET
    return t.own[k];
#else
    return t.leg[k];
#endif
}

DEVICE void forward(Tour &t) {
    Int sum = grows_by(t, 0);
#if BY_SET
    for (int k = 1; k < SLOTS; k++) sum = sum + t.own[k];
    Int ends = sum;
    for (int by = 1; by < 32; by *= 2) ends = ends + choose(lanes() >= by, from_below(ends, by), 0);
    Int x = ends - sum;
#pragma unroll
    for (int k = 0; k < SLOTS; k++) t.start[k] = x = x + t.own[k];
#else
    Int wait = t.own[0];
#pragma unroll
    for (int k = 1; k < SLOTS; k++) {
        wait = plus_larger(wait, t.leg[k], t.own[k]);
        sum = sum + t.leg[k];
    }
#pragma unroll
    for (int by = 1; by < 32; by *= 2) {
        Bool has = lanes() >= by;
        wait = choose(has, plus_larger(from_below(wait, by), sum, wait), wait);
        sum = sum + choose(has, from_below(sum, by), 0);
    }
    // The first position is the depot's own: nothing arrives there with more than it opens with.
    Int x = choose(lanes() == 0, -BIG, from_below(larger(sum - BIG, wait), 1));
#pragma unroll
    for (int k = 0; k < SLOTS; k++) t.start[k] = x = plus_larger(x, t.leg[k], t.own[k]);
#endif
}

DEVICE void backward(Tour &t) {
    Int sum = grows_by(t, SLOTS - 1), cap = t.closes[SLOTS - 1] - sum;
#pragma unroll
    for (int k = SLOTS - 2; k >= 0; k--) {
        cap = lesser(cap, t.closes[k]) - grows_by(t, k);
        sum = sum + grows_by(t, k);
    }
#pragma unroll
    for (int by = 1; by < 32; by *= 2) {
        Bool has = lanes() < 32 - by;
        cap = choose(has, lesser(from_above(cap, by) - sum, cap), cap);
        sum = sum + choose(has, from_above(sum, by), 0);
    }
    Int x = choose(lanes() == 31, BIG, from_above(lesser(BIG - sum, cap), 1));
#pragma unroll
    for (int k = SLOTS - 1; k >= 0; k--) {
        t.latest[k] = lesser(x, t.closes[k]);
        x = t.latest[k] - grows_by(t, k);
    }
}

// Where the stop costs least and all stay in time, with the legs to it and on; 0 if nowhere.
DEVICE int cheapest(const Model &m, const Tour &t, Stop stop, int standing, Word luck, int blink, int *in, int *on) {
    Int best = every(BIG), where = every(0), into = every(0);
    const int *row = m.to + stop.node * m.nodes;
    Int legs[SLOTS];
#pragma unroll
    for (int k = 0; k < SLOTS; k++) legs[k] = fetch(row, t.node[k]);
#if SYMMETRIC
    Int before = from_below(legs[SLOTS - 1], 1);
#else
    const int *column = m.from + stop.node * m.nodes;
    Int arriving[SLOTS];
#pragma unroll
    for (int k = 0; k < SLOTS; k++) arriving[k] = fetch(column, t.node[k]);
    Int before = from_below(arriving[SLOTS - 1], 1);
#endif
    Int start = from_below(t.start[SLOTS - 1], 1);
#pragma unroll
    for (int k = 0; k < SLOTS; k++) {
        if (k > 0 && k % 4 == 0) luck = mixed(luck + 0x9e3779b9u);
        Int at = lanes() * SLOTS + k;
#if BY_SET
        Int resource = start + stop.own, next = resource + t.own[k];
#else
        Int resource = plus_larger(start, before, stop.own), next = resource + legs[k];
#endif
        Int more = before + legs[k] - t.leg[k];
        Bool fits = (resource <= stop.closes) & (next <= t.latest[k]) & (at > 0) & (at < standing) & (more < best);
        fits = fits & (number((luck >> (8 * (k % 4))) & 255u) >= blink);
        best = choose(fits, more, best);
        where = choose(fits, at, where);
        into = choose(fits, before, into);
        start = t.start[k];
#if SYMMETRIC
        before = legs[k];
#else
        before = arriving[k];
#endif
    }
    int lowest = least(best);
    if (lowest == BIG) return 0;
    int lane = first_of(which(best == lowest)), found = of_lane(where, lane);
    *in = of_lane(into, lane);
    // What goes on from the stop is what is more, the leg that goes, and less what comes in.
    Int gone = every(0);
#pragma unroll
    for (int k = 0; k < SLOTS; k++) gone = choose(lanes() * SLOTS + k == found, t.leg[k], gone);
    *on = lowest - *in + of_lane(gone, lane);
    return found;
}

DEVICE void shift(Int *slots, int where, int first, int second) {
    Int below = from_below(slots[SLOTS - 1], 1);
#pragma unroll
    for (int k = SLOTS - 1; k >= 0; k--) {
        Int at = lanes() * SLOTS + k, moved = k > 0 ? slots[k - 1] : below;
        moved = choose(at == where + 1, second, moved);
        slots[k] = choose(at > where, moved, choose(at == where, first, slots[k]));
    }
}

DEVICE void shift(Int *slots, int where, int value) {
    Int below = from_below(slots[SLOTS - 1], 1);
#pragma unroll
    for (int k = SLOTS - 1; k >= 0; k--) {
        Int at = lanes() * SLOTS + k;
        slots[k] = choose(at > where, k > 0 ? slots[k - 1] : below, choose(at == where, value, slots[k]));
    }
}

// Whether the stop found a place.
DEVICE bool insert(const Model &m, Tour &t, Stop stop, int standing, Word luck, int blink) {
    int in, on, where = cheapest(m, t, stop, standing, luck, blink, &in, &on);
    if (where == 0) return false;
    shift(t.node, where, stop.node);
    shift(t.leg, where, in, on);
    shift(t.own, where, stop.own);
    shift(t.closes, where, stop.closes);
    forward(t);
    backward(t);
    return true;
}

DEVICE Int standing_at(Ruin r, Int at) {
    Int from = at + choose(at >= r.a, r.b - r.a, 0);
    return from + choose(from >= r.c, r.d - r.c, 0);
}

// What is left of the kept tour.
DEVICE void lay_out(const Model &m, const Kept &kept, Ruin r, Tour &t) {
    int standing = m.nodes - (r.b - r.a) - (r.d - r.c);
    Int before = standing_at(r, lanes() * SLOTS - 1);
#pragma unroll
    for (int k = 0; k < SLOTS; k++) {
        Int at = lanes() * SLOTS + k, from = standing_at(r, at);
        Bool live = at < standing;
        t.node[k] = read_if(live, kept.node, from, every(m.nodes - 1));
        t.leg[k] = read_if(live, kept.leg, from, every(0));
        Bool joint = live & (from != before + 1);
        Int last = read_if(joint, kept.node, before, every(0));
        t.leg[k] = read_if(joint, m.to, last * m.nodes + t.node[k], t.leg[k]);
        t.own[k] = read_if(live, m.limits->own, t.node[k], every(BY_SET ? 0 : -BIG));
        t.closes[k] = read_if(live, m.limits->closes, t.node[k], every(BIG));
        before = from;
    }
    forward(t);
    backward(t);
}

DEVICE Ruin ruined(const Model &m, const Kept &kept, Word luck) {
    int stops = m.nodes - 2, seed = 1 + below(of_lane(number(luck), 0), stops);
    int length = 1 + below(of_lane(number(luck), 1), m.longest), at = kept.place[seed];
    int a = at - below(of_lane(number(luck), 2), length);
    a = a < 1 ? 1 : a;
    int b = a + length > stops + 1 ? stops + 1 : a + length;
    if (of_lane(number(luck), 3) & 1) return {a, b, m.nodes, m.nodes};
    Int other = read(m.near, seed * 32 + lanes()), places = read(kept.place, other);
    unsigned free = which((other > 0) & ((places < a) | (places >= b)));
    if (free == 0) return {a, b, m.nodes, m.nodes};
    at = of_lane(places, first_of(free));
    length = 1 + below(of_lane(number(luck), 4), m.longest);
    int c = at - below(of_lane(number(luck), 5), length);
    c = c < 1 ? 1 : c;
    int d = c + length > stops + 1 ? stops + 1 : c + length;
    if (at >= b) {
        c = c < b ? b : c;
        return {a, b, c, d};
    }
    d = d > a ? a : d;
    return {c, d, a, b};
}

// Put the stops of the strings back one by one, by their limits or by chance; whether all found a place.
DEVICE bool recreate(const Model &m, const Kept &kept, Ruin r, Tour &t, unsigned key, bool by_chance) {
    int first = r.b - r.a, count = first + r.d - r.c;
    Bool out = lanes() < count;
    Int at = choose(lanes() < first, r.a + lanes(), r.c - first + lanes());
    Int node = read_if(out, kept.node, at, every(0));
    Int own = read(m.limits->own, node), closes = read(m.limits->closes, node);
    Int rank = by_chance ? number(draw(key, 1) >> 2) : closes;
    rank = choose(out, rank, BIG);
    bool fits = true;
    for (int done = 0; done < count && fits; done++) {
        int lane = first_of(which((rank == least(rank)) & out));
        Stop stop = {of_lane(node, lane), of_lane(own, lane), of_lane(closes, lane)};
        fits = insert(m, t, stop, m.nodes - count + done, draw(key, 2 + done), BLINK);
        out = out & (lanes() != lane);
        rank = choose(lanes() == lane, BIG, rank);
    }
    return fits;
}

DEVICE int cost_of(const Tour &t) {
    Int sum = t.leg[0];
#pragma unroll
    for (int k = 1; k < SLOTS; k++) sum = sum + t.leg[k];
    return total(sum);
}

// Legs that are shorter through a stop than past it may leave what stands late.
DEVICE bool in_time(const Tour &t) {
    Bool late = t.start[0] > t.closes[0];
#pragma unroll
    for (int k = 1; k < SLOTS; k++) late = late | (t.start[k] > t.closes[k]);
    return which(late) == 0;
}

DEVICE void keep(const Tour &t, Kept &kept, int nodes) {
#pragma unroll
    for (int k = 0; k < SLOTS; k++) {
        Int at = lanes() * SLOTS + k;
        Bool live = at < nodes;
        write_if(live, kept.node, at, t.node[k]);
        write_if(live, kept.leg, at, t.leg[k]);
        write_if(live, kept.place, t.node[k], at);
    }
    settle();
}

DEVICE void hand_over(const Tour &t, Node *to, int nodes) {
#pragma unroll
    for (int k = 0; k < SLOTS; k++) {
        Int at = lanes() * SLOTS + k;
        write_if(at < nodes, to, at, t.node[k]);
    }
}

DEVICE void copy_out(const Kept &kept, Node *to, int nodes) {
    for (int first = 0; first < nodes; first += 32) {
        Int at = lanes() + first;
        Bool live = at < nodes;
        write_if(live, to, at, read_if(live, kept.node, at, every(0)));
    }
}

DEVICE void take_up(const Model &m, Kept &kept, const Node *tour) {
    for (int first = 0; first < m.nodes; first += 32) {
        Int at = lanes() + first;
        Bool live = at < m.nodes;
        Int node = read_if(live, tour, at, every(0)), last = read_if(live & (at > 0), tour, at - 1, every(0));
        write_if(live, kept.node, at, node);
        write_if(live, kept.place, node, at);
        write_if(live, kept.leg, at, read_if(live & (at > 0), m.to, last * m.nodes + node, every(0)));
    }
    settle();
}

DEVICE void take_up(Limits &limits, const int *own, const int *closes, int nodes) {
    for (int first = 0; first < nodes; first += 32) {
        Int at = lanes() + first;
        Bool live = at < nodes;
        write_if(live, limits.own, at, read_if(live, own, at, every(0)));
        write_if(live, limits.closes, at, read_if(live, closes, at, every(0)));
    }
    settle();
}
