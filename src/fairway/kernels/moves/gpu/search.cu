// Local search for many instances side by side: one warp ruins and recreates one tour, round after round.
//
// All amounts are whole numbers, so that sums in any order agree. V nodes, the depot as 0 and as V - 1. A warp holds the
// tour under construction in registers, SLOTS consecutive positions per lane: the node there, the leg to it, its limits,
// the resource on arrival (start) and the highest with which all that follows is in time (latest), as on the CPU.
// Both follow from composed functions x -> max(x + a, b) and x -> min(x - a, b), by a scan over the lanes.
//
// Compiled for SLOTS per lane, WARPS per block, BLOCKS per multiprocessor, LADEN (the resource grows by what a node holds,
// or else by the leg) and SYMMETRIC legs.

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
#if LADEN
    return t.own[k];
#else
    return t.leg[k];
#endif
}

DEVICE void forward(Tour &t) {
    Int sum = grows_by(t, 0);
#if LADEN
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
#if LADEN
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
        t.own[k] = read_if(live, m.limits->own, t.node[k], every(LADEN ? 0 : -BIG));
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

// A stretch of the tour gone through in one direction: what it adds to the resource, the lowest it is left with, and the
// highest it may be entered with.
struct Block {
    int head, tail, length, adds, waits, latest;
};

// One stretch and then another.
template <class N> DEVICE void join(N &adds, N &waits, N &latest, N more, N wait, N late) {
    late = choose(waits > late, -BIG, lesser(latest, late - adds));
    waits = larger(waits + more, wait);
    adds = adds + more;
    latest = late;
}

DEVICE Block crossed(const Model &m, const Kept &kept, int a, int b, bool turned) {
    int adds = 0, waits = -BIG, latest = BIG, length = 0, last = 0;
    for (int number_of = 0; number_of < b - a; number_of++) {
        int at = turned ? b - 1 - number_of : a + number_of, node = kept.node[at], leg = 0;
        if (number_of > 0) leg = SYMMETRIC ? kept.leg[turned ? at + 1 : at] : m.to[last * m.nodes + node];
        int own = m.limits->own[node], closes = m.limits->closes[node];
        length += leg;
#if LADEN
        join(adds, waits, latest, own, -BIG, closes - own);
#else
        join(adds, waits, latest, leg, own, closes - leg);
#endif
        last = node;
    }
    return {kept.node[turned ? b - 1 : a], kept.node[turned ? a : b - 1], length, adds, waits, latest};
}

// The kept tour with the block [a, b) moved to a position of what stands without it.
DEVICE void moved(const Model &m, Kept &kept, Ruin r, int where, bool turned) {
    Int node[SLOTS], leg[SLOTS];
    int count = r.b - r.a;
#pragma unroll
    for (int k = 0; k < SLOTS; k++) {
        Int from[2];
        for (int back = 1; back >= 0; back--) {
            Int at = lanes() * SLOTS + k - back, inside = at - where;
            Int block = choose(every(turned), r.b - 1 - inside, r.a + inside);
            from[back] = choose(inside < 0, standing_at(r, at), choose(inside < count, block, standing_at(r, at - count)));
        }
        Int at = lanes() * SLOTS + k;
        Bool live = at < m.nodes, after = live & (at > 0);
        node[k] = read_if(live, kept.node, from[0], every(0));
        Bool same = from[0] == from[1] + 1, back = (from[1] == from[0] + 1) & every(SYMMETRIC);
        Int last = read_if(after, kept.node, from[1], every(0));
        leg[k] = read_if(after & same, kept.leg, from[0], every(0));
        leg[k] = read_if(after & back, kept.leg, from[1], leg[k]);
        leg[k] = read_if(after & (same == 0) & (back == 0), m.to, last * m.nodes + node[k], leg[k]);
    }
    settle();
#pragma unroll
    for (int k = 0; k < SLOTS; k++) {
        Int at = lanes() * SLOTS + k;
        Bool live = at < m.nodes;
        write_if(live, kept.node, at, node[k]);
        write_if(live, kept.leg, at, leg[k]);
        write_if(live, kept.place, node[k], at);
    }
    settle();
}

// Put the nodes into the queue that have other neighbours than in the kept tour; whether there are any.
DEVICE bool wait_for_changed(const Model &m, const Kept &kept, const Tour &t, unsigned char *waiting) {
    Int before = from_below(t.node[SLOTS - 1], 1), after = from_above(t.node[0], 1);
    unsigned some = 0;
#pragma unroll
    for (int k = 0; k < SLOTS; k++) {
        Int at = lanes() * SLOTS + k, next = k + 1 < SLOTS ? t.node[k + 1 < SLOTS ? k + 1 : k] : after;
        Bool live = at < m.nodes;
        Int place = read_if(live, kept.place, t.node[k], every(0));
        Bool arrives = live & (at > 0), leaves = live & (at < m.nodes - 1);
        arrives = arrives & (read_if(arrives & (place > 0), kept.node, place - 1, every(-1)) != before);
        leaves = leaves & (read_if(leaves & (place < m.nodes - 1), kept.node, place + 1, every(-1)) != next);
        write_if(live, waiting, t.node[k], choose(arrives | leaves, 1, 0));
        some |= which(arrives | leaves);
        before = t.node[k];
    }
    settle();
    return some != 0;
}

// The node that waits with the lowest number, taken out of the queue; -1 if none does.
DEVICE int next_of(unsigned char *waiting, int nodes) {
    for (int first = 0; first < nodes; first += 32) {
        Int at = lanes() + first;
        unsigned found = which(read_if(at < nodes, waiting, at, every(0)) != 0);
        if (found != 0) {
            int node = first + first_of(found);
            settle();
            write_if(lanes() == 0, waiting, every(node), every(0));
            settle();
            return node;
        }
    }
    return -1;
}

struct Move {  // the block [a, b) goes to a position of what stands without it
    int worth, a, b, where;  // negative where it is turned round
};

// Whether some block that begins or ends at a position would cost less backwards, whatever its limits.
DEVICE bool worth_turning(const Model &m, const Kept &kept, int at, int worth) {
    int left = kept.node[at - 1], here = kept.node[at], right = kept.node[at + 1], in = kept.leg[at], on = kept.leg[at + 1];
    Bool some = every(0) != 0;
#pragma unroll
    for (int k = 0; k < SLOTS; k++) {
        Int spot = lanes() * SLOTS + k;
        Bool after = (spot > at) & (spot < m.nodes - 1), before = (spot > 0) & (spot < at), live = after | before;
        Int node = read_if(live, kept.node, spot, every(0)), beside = choose(after, spot + 1, spot - 1);
        Int next = read_if(live, kept.node, beside, every(0)), gone = read_if(live, kept.leg, choose(after, beside, spot), every(0));
        Int one = fetch(m.to, choose(after, left, here) * m.nodes + choose(after, node, next));
        Int other = fetch(m.to, choose(after, here, right) * m.nodes + choose(after, next, node));
        some = some | (live & (one + other - gone - choose(after, in, on) < worth));
    }
    return which(some) != 0;
}

// Blocks that begin at a position travelled backwards, all of them at once.
DEVICE void turn_after(const Model &m, const Tour &t, int at, Move &best) {
    int left = 0, here = 0, start = 0, leg = 0;
    Int adds[SLOTS], waits[SLOTS], latest[SLOTS];
#pragma unroll
    for (int k = 0; k < SLOTS; k++) {
        int lane = at / SLOTS, before = (at - 1) / SLOTS;
        if (at % SLOTS == k) here = of_lane(t.node[k], lane), leg = of_lane(t.leg[k], lane);
        if ((at - 1) % SLOTS == k) left = of_lane(t.node[k], before), start = of_lane(t.start[k], before);
    }
    Int sum = every(0), wait = every(-BIG), late = every(BIG);
#pragma unroll
    for (int k = 0; k < SLOTS; k++) {
        Int spot = lanes() * SLOTS + k;
        Bool in = spot >= at, more = spot > at;
        Int by = choose(more, t.leg[k], 0);
#if LADEN
        Int first_adds = choose(in, t.own[k], 0), first_waits = every(-BIG), first_late = choose(in, t.closes[k] - t.own[k], BIG);
#else
        Int first_adds = by, first_waits = choose(in, t.own[k] + by, -BIG), first_late = choose(in, t.closes[k], BIG);
#endif
        join(first_adds, first_waits, first_late, sum, wait, late);
        adds[k] = sum = first_adds;
        waits[k] = wait = first_waits;
        latest[k] = late = first_late;
    }
#pragma unroll
    for (int by = 1; by < 32; by *= 2) {
        Bool has = lanes() >= by;
        Int low = choose(has, from_below(sum, by), 0), low_wait = choose(has, from_below(wait, by), -BIG);
        join(sum, wait, late, low, low_wait, choose(has, from_below(late, by), BIG));
    }
    Bool any = lanes() > 0;
    sum = choose(any, from_below(sum, 1), 0);
    wait = choose(any, from_below(wait, 1), -BIG);
    late = choose(any, from_below(late, 1), BIG);
    const int *from_left = m.to + left * m.nodes, *from_here = m.to + here * m.nodes;
    Int after = from_above(t.node[0], 1), leg_after = from_above(t.leg[0], 1);
    Int latest_after = from_above(t.latest[0], 1);
#if LADEN
    Int own_after = from_above(t.own[0], 1);
#endif
    Int least_of = every(best.worth), where = every(0);
#pragma unroll
    for (int k = 0; k < SLOTS; k++) {
        Int spot = lanes() * SLOTS + k;
        Int next = k + 1 < SLOTS ? t.node[k + 1 < SLOTS ? k + 1 : k] : after;
        Int gone = k + 1 < SLOTS ? t.leg[k + 1 < SLOTS ? k + 1 : k] : leg_after;
        Int limit = k + 1 < SLOTS ? t.latest[k + 1 < SLOTS ? k + 1 : k] : latest_after;
        Int a = adds[k], w = waits[k], l = latest[k];
        join(a, w, l, sum, wait, late);
        Int in = fetch(from_left, t.node[k]), on = fetch(from_here, next), worth = in + on - gone - leg;
#if LADEN
        Int own = k + 1 < SLOTS ? t.own[k + 1 < SLOTS ? k + 1 : k] : own_after;
        Bool fits = (start <= l) & (start + a + own <= limit);
#else
        Int enter = in + start;
        Bool fits = (enter <= l) & (larger(enter + a, w) + on <= limit);
#endif
        fits = fits & (spot > at) & (spot < m.nodes - 1) & (worth < least_of);
        least_of = choose(fits, worth, least_of);
        where = choose(fits, spot, where);
    }
    int lowest = least(least_of);
    if (lowest < best.worth) {
        int end = of_lane(where, first_of(which(least_of == lowest)));
        best = {lowest, at, end + 1, -at};
    }
}

// Blocks that end at a position travelled backwards.
DEVICE void turn_before(const Model &m, const Tour &t, int at, Move &best) {
    int right = 0, here = 0, limit = 0, leg = 0;
    Int adds[SLOTS], waits[SLOTS], latest[SLOTS];
#pragma unroll
    for (int k = 0; k < SLOTS; k++) {
        int lane = at / SLOTS, after = (at + 1) / SLOTS;
        if (at % SLOTS == k) here = of_lane(t.node[k], lane);
        if ((at + 1) % SLOTS == k) {
            right = of_lane(t.node[k], after);
            leg = of_lane(t.leg[k], after);
            limit = of_lane(LADEN ? t.latest[k] - t.own[k] : t.latest[k], after);
        }
    }
    Int sum = every(0), wait = every(-BIG), late = every(BIG), next = from_above(t.leg[0], 1);
#pragma unroll
    for (int k = SLOTS - 1; k >= 0; k--) {
        Int spot = lanes() * SLOTS + k;
        Bool in = spot <= at;
#if LADEN
        join(sum, wait, late, choose(in, t.own[k], 0), every(-BIG), choose(in, t.closes[k] - t.own[k], BIG));
#else
        Int by = choose(spot < at, next, 0);
        join(sum, wait, late, by, choose(in, t.own[k], -BIG), choose(in, t.closes[k] - by, BIG));
        next = t.leg[k];
#endif
        adds[k] = sum;
        waits[k] = wait;
        latest[k] = late;
    }
#pragma unroll
    for (int by = 1; by < 32; by *= 2) {
        Bool has = lanes() < 32 - by;
        Int high = choose(has, from_above(sum, by), 0), high_wait = choose(has, from_above(wait, by), -BIG);
        Int high_late = choose(has, from_above(late, by), BIG);
        join(high, high_wait, high_late, sum, wait, late);
        sum = high;
        wait = high_wait;
        late = high_late;
    }
    Bool any = lanes() < 31;
    sum = choose(any, from_above(sum, 1), 0);
    wait = choose(any, from_above(wait, 1), -BIG);
    late = choose(any, from_above(late, 1), BIG);
    const int *from_here = m.to + here * m.nodes, *from_right = m.to + right * m.nodes;
    Int last = from_below(t.node[SLOTS - 1], 1), start = from_below(t.start[SLOTS - 1], 1);
    Int least_of = every(best.worth), where = every(0);
#pragma unroll
    for (int k = 0; k < SLOTS; k++) {
        Int spot = lanes() * SLOTS + k, a = sum, w = wait, l = late;
        join(a, w, l, adds[k], waits[k], latest[k]);
        Int in = fetch(from_here, last), on = fetch(from_right, t.node[k]), worth = in + on - t.leg[k] - leg;
#if LADEN
        Bool fits = (start <= l) & (start + a <= limit);
#else
        Int enter = in + start;
        Bool fits = (enter <= l) & (larger(enter + a, w) + on <= limit);
#endif
        fits = fits & (spot > 0) & (spot < at) & (worth < least_of);
        least_of = choose(fits, worth, least_of);
        where = choose(fits, spot, where);
        last = t.node[k];
        start = t.start[k];
    }
    int lowest = least(least_of);
    if (lowest < best.worth) {
        int begin = of_lane(where, first_of(which(least_of == lowest)));
        best = {lowest, begin, at + 1, -begin};
    }
}

// The best place for a block, turned round or not. What costs too much everywhere ends it, before limits are looked at.
// The positions of the block itself stand for the node before it, as if one stayed there.
DEVICE void move_block(const Model &m, const Kept &kept, int a, int b, Move &best) {
    Tour t;
    int left = kept.node[a - 1], right = kept.node[b], joined = m.to[left * m.nodes + right];
    int head_node = kept.node[a], tail_node = kept.node[b - 1], base = joined - kept.leg[a] - kept.leg[b];
    const int *head = m.to + head_node * m.nodes, *tail = m.to + tail_node * m.nodes;
    const int *into_head = SYMMETRIC ? head : m.from + head_node * m.nodes;
    const int *into_tail = SYMMETRIC ? tail : m.from + tail_node * m.nodes;
    Int on_head[SLOTS], on_tail[SLOTS];
#pragma unroll
    for (int k = 0; k < SLOTS; k++) {
        Int at = lanes() * SLOTS + k;
        Bool inside = (at >= a) & (at < b), live = at < m.nodes;
        t.node[k] = choose(inside, left, read_if(live, kept.node, at, every(m.nodes - 1)));
        t.leg[k] = choose(at == b, joined, choose(inside, 0, read_if(live, kept.leg, at, every(0))));
        on_head[k] = fetch(head, t.node[k]);
        on_tail[k] = fetch(tail, t.node[k]);
    }
    Block one, other;
    int turning = 0;
#if !SYMMETRIC
    one = crossed(m, kept, a, b, false);
    other = crossed(m, kept, a, b, true);
    turning = other.length - one.length;
#endif
    Int last_head = from_below(SYMMETRIC ? on_head[SLOTS - 1] : fetch(into_head, t.node[SLOTS - 1]), 1);
    Int last_tail = from_below(SYMMETRIC ? on_tail[SLOTS - 1] : fetch(into_tail, t.node[SLOTS - 1]), 1);
    Int before_head[SLOTS], before_tail[SLOTS], plain[SLOTS], turned[SLOTS];
    Bool some = every(0) != 0;
#pragma unroll
    for (int k = 0; k < SLOTS; k++) {
        Int at = lanes() * SLOTS + k;
        Bool open = (at > 0) & (at < m.nodes) & ((at < a) | (at >= b));
        before_head[k] = last_head;
        before_tail[k] = last_tail;
        plain[k] = choose(open & (at != b), last_head + on_tail[k] - t.leg[k] + base, BIG);
        turned[k] = choose(open, last_tail + on_head[k] - t.leg[k] + base + turning, BIG);
        some = some | (plain[k] < best.worth) | (turned[k] < best.worth);
        last_head = SYMMETRIC ? on_head[k] : fetch(into_head, t.node[k]);
        last_tail = SYMMETRIC ? on_tail[k] : fetch(into_tail, t.node[k]);
    }
    if (which(some) == 0) return;
#if SYMMETRIC
    one = crossed(m, kept, a, b, false);
    other = crossed(m, kept, a, b, true);
#endif
#pragma unroll
    for (int k = 0; k < SLOTS; k++) {
        Int at = lanes() * SLOTS + k;
        Bool live = (at < m.nodes) & ((at < a) | (at >= b));
        t.own[k] = read_if(live, m.limits->own, t.node[k], every(LADEN ? 0 : -BIG));
        t.closes[k] = read_if(live, m.limits->closes, t.node[k], every(BIG));
    }
    forward(t);
    backward(t);
    Int least_of = every(best.worth), where = every(0), start = from_below(t.start[SLOTS - 1], 1);
#pragma unroll
    for (int k = 0; k < SLOTS; k++) {
        Int at = lanes() * SLOTS + k;
#if LADEN
        Int spare = t.latest[k] - t.own[k];
        Bool fits = (start <= one.latest) & (start + one.adds <= spare);
        Bool fits_turned = (start <= other.latest) & (start + other.adds <= spare);
#else
        Int enter = start + before_head[k], enter_turned = start + before_tail[k];
        Bool fits = (enter <= one.latest) & (larger(enter + one.adds, one.waits) + on_tail[k] <= t.latest[k]);
        Bool fits_turned = (enter_turned <= other.latest) &
                           (larger(enter_turned + other.adds, other.waits) + on_head[k] <= t.latest[k]);
#endif
        fits = fits & (plain[k] < least_of);
        least_of = choose(fits, plain[k], least_of);
        where = choose(fits, at, where);
        fits_turned = fits_turned & (turned[k] < least_of);
        least_of = choose(fits_turned, turned[k], least_of);
        where = choose(fits_turned, 0 - at, where);
        start = t.start[k];
    }
    int lowest = least(least_of);
    if (lowest >= best.worth || !in_time(t)) return;
    int found = of_lane(where, first_of(which(least_of == lowest))), count = b - a;
    int standing = found > 0 ? (found >= b ? found - count : found) : (-found >= b ? found + count : found);
    best = {lowest, a, b, standing};
}

DEVICE void wait_at(const Kept &kept, unsigned char *waiting, int at, int nodes) {
    Int spot = every(at) - lanes();
    write_if((lanes() < 2) & (spot >= 0) & (spot < nodes), waiting, read_if((lanes() < 2) & (spot >= 0) & (spot < nodes), kept.node, spot, every(0)), every(1));
}

// Improve the tour until no node waits; what it costs then.
DEVICE int descend(const Model &m, Kept &kept, unsigned char *waiting, int cost) {
    int stops = m.nodes - 2;
    for (int node = next_of(waiting, m.nodes); node >= 0; node = next_of(waiting, m.nodes)) {
        int at = kept.place[node];
        if (at < 1 || at > stops) continue;
        Move best = {0, 0, 0, 0};
        for (int b = at + 1; b <= at + 3 && b <= stops + 1; b++) {
            move_block(m, kept, at, b, best);
        }
#if SYMMETRIC
        if (worth_turning(m, kept, at, best.worth)) {
            Tour t;
            lay_out(m, kept, {m.nodes, m.nodes, m.nodes, m.nodes}, t);
            turn_after(m, t, at, best);
            turn_before(m, t, at, best);
        }
#endif
        if (best.worth == 0) continue;
        int where = best.where < 0 ? -best.where : best.where, count = best.b - best.a;
        wait_at(kept, waiting, best.a, m.nodes);
        wait_at(kept, waiting, best.b, m.nodes);
        wait_at(kept, waiting, where < best.a ? where : where + count, m.nodes);
        settle();
        moved(m, kept, {best.a, best.b, m.nodes, m.nodes}, where, best.where < 0);
        write_if(lanes() == 0, waiting, every(node), every(1));
        settle();
        cost += best.worth;
    }
    return cost;
}

// Rounds from the kept tour of a walker; costs are of the kept tour, of the best, and of the first, in whose legs
// temperatures are measured.
DEVICE void walk(const Model &m, Room &room, Node *tour, Node *best, int *costs, unsigned seed, const int *span, const float *heat) {
    int now = costs[0], lowest = costs[1], side = 0;
    float leg = (float)costs[2] / (float)(m.nodes - 1);
    for (int number_of = span[0]; number_of < span[1]; number_of++) {
        Kept &kept = room.tours[side], &tried = room.tours[1 - side];
        unsigned key = mixed(mixed(seed) + (unsigned)number_of);
        Word luck = draw(key, 0);
        float gone = (float)(number_of - span[0]) / (float)(span[1] - span[0]);
        float degrees = leg * (heat[0] + (heat[1] - heat[0]) * gone);
        int allowed = now + (int)(degrees * exponential((unsigned)of_lane(number(luck), 6)));
        bool by_chance = ((unsigned)of_lane(number(luck), 7) >> 24) < 77;
        Tour t;
        Ruin r = ruined(m, kept, luck);
        lay_out(m, kept, r, t);
        if (!recreate(m, kept, r, t, key, by_chance) || !in_time(t)) continue;
        if (!wait_for_changed(m, kept, t, room.waiting)) continue;
        keep(t, tried, m.nodes);
        int cost = cost_of(t);
        cost = descend(m, tried, room.waiting, cost);
        if (cost > allowed) continue;
        side = 1 - side;
        now = cost;
        if (cost < lowest) {
            lowest = cost;
            copy_out(tried, best, m.nodes);
        }
    }
    copy_out(room.tours[side], tour, m.nodes);
    write_if(lanes() == 0, costs, lanes(), now);
    write_if(lanes() == 1, costs, lanes(), lowest);
}

// A first tour: all stops in the order given, each where it costs least; the cost is -1 where one has no place.
DEVICE void build(const Model &m, Kept &kept, const Node *order, Node *tour, int *costs, unsigned seed, int blink) {
    Tour t;
    write_if(lanes() < 2, kept.node, lanes(), choose(lanes() == 0, 0, m.nodes - 1));
    write_if(lanes() < 2, kept.leg, lanes(), choose(lanes() == 0, 0, m.to[m.nodes - 1]));
    settle();
    Ruin all = {2, m.nodes, m.nodes, m.nodes};
    lay_out(m, kept, all, t);
    bool fits = true;
    for (int done = 0; done < m.nodes - 2 && fits; done++) {
        int node = order[done];
        Stop stop = {node, m.limits->own[node], m.limits->closes[node]};
        fits = insert(m, t, stop, 2 + done, draw(mixed(mixed(seed) + (unsigned)done), 2), blink);
    }
    hand_over(t, tour, m.nodes);
    int cost = fits && in_time(t) ? cost_of(t) : -1;
    write_if(lanes() < 3, costs, lanes(), every(cost));
}

// Sizes: walkers, walkers per instance, nodes, longest string, seed, the number of the first walker; then what a call
// needs of its own.
struct Given {
    const int *to, *from, *own, *closes;
    const Node *near;
    const int *sizes;
};

DEVICE Model model_of(const Given &g, Room &room, int walker) {
    int nodes = g.sizes[2];
    long instance = walker / g.sizes[1], matrix = instance * nodes * nodes;
    take_up(room.limits, g.own + instance * nodes, g.closes + instance * nodes, nodes);
    return {g.to + matrix, g.from + matrix, g.near + instance * nodes * 32, &room.limits, nodes, g.sizes[3]};
}

DEVICE unsigned seed_of(const int *sizes, int walker) { return mixed((unsigned)sizes[4]) ^ (unsigned)(sizes[5] + walker); }

DEVICE void improve_one(int walker, Room &room, const Given &g, Node *tours, Node *best, int *costs, const float *heat) {
    long row = (long)walker * g.sizes[2];
    if (costs[3 * walker] < 0) return;
    Model m = model_of(g, room, walker);
    take_up(m, room.tours[0], tours + row);
    walk(m, room, tours + row, best + row, costs + 3 * walker, seed_of(g.sizes, walker), g.sizes + 6, heat);
}

DEVICE void build_one(int walker, Room &room, const Given &g, const Node *orders, Node *tours, int *costs) {
    long instance = walker / g.sizes[1], nodes = g.sizes[2];
    Model m = model_of(g, room, walker);
    build(m, room.tours[0], orders + instance * (nodes - 2), tours + walker * nodes, costs + 3 * walker, seed_of(g.sizes, walker), g.sizes[6]);
}

#define GIVEN const int *to, const int *from, const int *own, const int *closes, const Node *near
#ifdef __CUDACC__
#define KERNEL extern "C" __global__ void __launch_bounds__(32 * WARPS, BLOCKS)
#define ALONE \
    __shared__ Room rooms[WARPS]; \
    Room &room = rooms[threadIdx.x / 32]; \
    int walker = blockIdx.x * WARPS + threadIdx.x / 32; \
    if (walker < sizes[0])
#else
#define KERNEL extern "C" void
#define ALONE \
    static Room room; \
    for (int walker = 0; walker < sizes[0]; walker++)
#endif
KERNEL improve(GIVEN, Node *tours, Node *best, int *costs, const int *sizes, const float *heat) {
    ALONE improve_one(walker, room, {to, from, own, closes, near, sizes}, tours, best, costs, heat);
}
KERNEL construct(GIVEN, Node *tours, int *costs, const int *sizes) {
    ALONE build_one(walker, room, {to, from, own, closes, near, sizes}, near, tours, costs);
}
