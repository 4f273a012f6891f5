// Rounds of the search: ruin, recreate, descend, keep or go back; and first tours.

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
