// An instance as a table, and a tour carried over into an edited one.

import { download } from "./api.js";
import { parse, render } from "./csv.js";
import { cheapestPlace } from "./problem.js";

/** The table of an instance with the matrix that belongs beside it; a null text where no table holds it. */
export async function tableOf(instance) {
  const asCsv = async (given) => (await download("/convert", { instance: given, to: "csv" })).text();
  try {
    return [await asCsv(instance), null];
  } catch {
    if (!instance.travel || instance.cost) return [null, null];
  }
  const { travel, coordinates, source, ...rest } = instance;
  const { speed: _, geographic, distance_unit: __, ...others } = source ?? {};
  const places = coordinates ?? travel.map((_, node) => [node, 0]);
  try {
    const text = await asCsv({ ...rest, coordinates: places, source: source && others });
    const [columns, ...rows] = parse(text);
    const named = columns.map((name) => (geographic ? ({ x: "lon", y: "lat" }[name] ?? name) : name));
    const kept = named.map((name) => coordinates || !["x", "y"].includes(name));
    const lines = [named, ...rows].map((row) => row.filter((_, column) => kept[column]));
    return [render(lines), { name: "travel.json", text: JSON.stringify(travel) }];
  } catch {
    return [null, null];
  }
}

/** A tour in the stops of another instance: those it has by the same name in the same order, then the new ones. */
export function carried(problem, tour, next) {
  const stops = new Set(next.stops);
  const found = tour.map((node) => next.names.indexOf(problem.names[node])).filter((node) => stops.has(node));
  if (found.length < tour.length / 2) return null;
  const known = new Set(problem.names);
  for (const node of next.stops) {
    if (!known.has(next.names[node])) found.splice(cheapestPlace(next, found, node, 0), 0, node);
  }
  return found;
}
