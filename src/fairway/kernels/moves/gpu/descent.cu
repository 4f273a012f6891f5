// Descent from a tour by the moves of the CPU: or-opt of one to three stops, and 2-opt, from nodes in a queue.

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
#if BY_SET
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
#if BY_SET
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
#if BY_SET
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
#if BY_SET
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
            limit = of_lane(BY_SET ? t.latest[k] - t.own[k] : t.latest[k], after);
        }
    }
    Int sum = every(0), wait = every(-BIG), late = every(BIG), next = from_above(t.leg[0], 1);
#pragma unroll
    for (int k = SLOTS - 1; k >= 0; k--) {
        Int spot = lanes() * SLOTS + k;
        Bool in = spot <= at;
#if BY_SET
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
#if BY_SET
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
        t.own[k] = read_if(live, m.limits->own, t.node[k], every(BY_SET ? 0 : -BIG));
        t.closes[k] = read_if(live, m.limits->closes, t.node[k], every(BIG));
    }
    forward(t);
    backward(t);
    Int least_of = every(best.worth), where = every(0), start = from_below(t.start[SLOTS - 1], 1);
#pragma unroll
    for (int k = 0; k < SLOTS; k++) {
        Int at = lanes() * SLOTS + k;
#if BY_SET
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
