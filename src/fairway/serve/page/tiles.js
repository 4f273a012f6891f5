// Map tiles of a server that the user has named; without one nothing is asked for.

import { s } from "./dom.js";

const SIZE = 256;
const MOST = 80;

/** The tiles behind a view of the Mercator sheet. */
export function tiles(template, view, width, height) {
  if (!/\{z\}.*\{x\}.*\{y\}|\{z\}.*\{y\}.*\{x\}/.test(template)) return [];
  const zoom = Math.max(0, Math.min(19, Math.round(Math.log2(view.scale / SIZE))));
  const many = 2 ** zoom;
  const size = view.scale / many;
  const within = (value) => Math.max(0, Math.min(many - 1, Math.floor(value)));
  const [left, right] = [within(-view.x / size), within((width - view.x) / size)];
  const [top, bottom] = [within(-view.y / size), within((height - view.y) / size)];
  const found = [];
  for (let column = left; column <= right; column++) {
    for (let row = top; row <= bottom && found.length < MOST; row++) {
      const href = template.replace("{z}", zoom).replace("{x}", column).replace("{y}", row);
      const [x, y] = [view.x + column * size, view.y + row * size];
      found.push(s("image", { class: "tile", href, x, y, width: size + 0.5, height: size + 0.5 }));
    }
  }
  return found;
}

/** Whose map it is. */
export function credit(template) {
  const host = /^https?:\/\/([^/]+)/.exec(template)?.[1] ?? "";
  return host.endsWith("openstreetmap.org") ? "© OpenStreetMap contributors" : `Tiles: ${host}`;
}
