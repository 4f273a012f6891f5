// What an instance in our JSON format asks for, with every default filled in.

import { Times } from "./times.js";

const OF_VROOM = new Set(["start", "end", "anywhere", "job", "pickup", "delivery", ""]);
/** What VROOM calls its steps. */
const SECONDS = { unit: 1 };
/** The clock of VROOM's problems. */

export class Problem {
  /** @param instance an object as `fairway convert x.csv x.json` writes it */
  constructor(instance) {
    const given = instance;
    this.instance = instance;
    this.nodes = (given.travel ?? given.coordinates).length;
    const filled = (values, otherwise) => values ?? Array(this.nodes).fill(otherwise);
    this.title = given.name || "stops";
    this.names = given.names ?? Array.from({ length: this.nodes }, (_, node) => (node ? `stop ${node}` : "depot"));
    this.places = given.coordinates ?? null;
    this.geographic = given.source?.geographic === true;
    const { kind: _, ...columns } = given.source?.columns ?? {};
    const ofVroom = columns.type?.every((text) => OF_VROOM.has(text)) ?? false;
    const { description } = columns;
    this.columns = !ofVroom ? columns : description ? { description } : {};
    this.times = new Times(given.source?.clock ?? (ofVroom ? SECONDS : null));
    this.service = filled(given.service, 0);
    this.demand = filled(given.demand, 0);
    this.draft = filled(given.draft, null);
    this.capacity = given.capacity ?? null;
    this.prize = filled(given.prize, null);
    this.latePrice = filled(given.late, null);
    this.latest = filled(given.latest, null);
    this.breaks = given.breaks ?? [];
    this.end = given.end === undefined ? 0 : given.end === null ? null : this.#node(given.end);
    this.windows = this.#windows();
    this.pairs = (given.pairs ?? []).map((pair) => pair.map((key) => this.#node(key)));
    const timed = ["opens", "closes", "windows", "late", "service", "breaks"].some((key) => given[key] !== undefined);
    this.laden = given.demand !== undefined;
    this.timed = timed || !this.laden;
  }

  /** The stops to be ordered: all nodes but the depot and the end. */
  get stops() {
    return Array.from({ length: this.nodes }, (_, node) => node).filter((node) => node && node !== this.end);
  }

  /** Which of the stops a tour does not visit. */
  unserved(tour) {
    const visited = new Set(tour);
    return this.stops.filter((node) => !visited.has(node));
  }

  mustServe(node) {
    return this.prize[node] === null;
  }

  /** The most load at a stop, or null. */
  room(node) {
    const limits = [this.draft[node], this.capacity].filter((limit) => limit !== null);
    return limits.length ? Math.min(...limits) : null;
  }

  /** The further columns of the user's file at a stop, in a line. */
  notes(node) {
    return Object.values(this.columns)
      .map((texts) => texts[node])
      .filter((text) => text && text !== this.names[node])
      .join(" · ");
  }

  #node(key) {
    if (typeof key === "number") return key;
    const found = this.instance.names?.indexOf(key) ?? -1;
    return found >= 0 ? found : Number(key);
  }

  #windows() {
    const { opens, closes, windows } = this.instance;
    const found = Array.from({ length: this.nodes }, (_, node) => {
      const [open, close] = [opens?.[node] ?? 0, closes?.[node] ?? null];
      return open > 0 || close !== null ? [[open, close]] : [];
    });
    for (const [key, several] of Object.entries(windows ?? {})) found[this.#node(key)] = several;
    return found;
  }
}

/** The instance in which some stops may be left out for nothing, as after a dispatcher has dropped them. */
export function allowing(instance, dropped) {
  const problem = new Problem(instance);
  const freed = new Set(dropped.filter((node) => problem.mustServe(node)));
  if (!freed.size) return instance;
  return { ...instance, problem: "tour", prize: problem.prize.map((price, node) => (freed.has(node) ? 0 : price)) };
}

/** A repair of a window with its time of day rounded outwards to the minute, as a person would agree on it. */
export function toTheMinute(problem, repair) {
  const { clock } = problem.times;
  const outwards = { closes: Math.ceil, latest: Math.ceil, opens: Math.floor }[repair.field];
  if (!clock || !outwards) return repair;
  const minute = 60 / clock.unit;
  const to = outwards(repair.to / minute - 1e-9) * minute;
  const swap = (value) => (value === repair.to ? to : value);
  const { [repair.field]: column, windows } = repair.instance;
  const instance = { ...repair.instance };
  if (column) instance[repair.field] = column.map((value, node) => (node === repair.node ? swap(value) : value));
  if (windows)
    instance.windows = Object.fromEntries(
      Object.entries(windows).map(([key, spans]) => [key, spans.map((span) => span.map(swap))]),
    );
  return { ...repair, to, instance };
}

/** Where a stop lengthens a tour least, not before so many stops. */
export function cheapestPlace(problem, tour, node, first) {
  const { travel, cost, coordinates } = problem.instance;
  const matrix = cost ?? travel;
  const far = (a, b) => {
    if (a === null || b === null) return 0;
    if (matrix) return matrix[a][b] ?? Infinity;
    return Math.hypot(coordinates[a][0] - coordinates[b][0], coordinates[a][1] - coordinates[b][1]);
  };
  const around = [0, ...tour, problem.end];
  let [best, least] = [tour.length, Infinity];
  for (let place = first; place <= tour.length; place++) {
    const [a, b] = [around[place], around[place + 1]];
    const added = far(a, node) + far(node, b) - far(a, b);
    if (added < least) [best, least] = [place, added];
  }
  return best;
}
