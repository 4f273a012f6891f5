// What a dispatcher does to a plan: move a stop, lock the beginning, leave a stop out, put it back.

import { announce } from "./dom.js";
import { edit, job } from "./planner.js";
import { cheapestPlace } from "./problem.js";
import { store } from "./store.js";
import { count } from "./words.js";

const orderNow = () => store.present.tour ?? store.problem.stops;
const name = (node) => store.problem.names[node];

/** Puts a stop at a place in the order, never among those that are locked. */
export function move(node, place) {
  const order = orderNow();
  const { locked } = store.present;
  const from = order.indexOf(node);
  const rest = order.filter((other) => other !== node);
  const to = Math.max(locked, Math.min(rest.length, place));
  if (job || from < locked || (from === to && store.present.tour)) return;
  const tour = [...rest.slice(0, to), node, ...rest.slice(to)];
  return edit({ tour }, `${name(node)} is now ${to + 1} of ${tour.length}.`);
}

export const moveBy = (node, places) => move(node, orderNow().indexOf(node) + places);

/** Judges the order as it stands, where nothing has been planned yet. */
export const check = () => edit({ tour: orderNow() }, "The order of the file.");

export function leaveOut(node) {
  const tour = orderNow().filter((other) => other !== node);
  const at = orderNow().indexOf(node);
  if (job || at < store.present.locked) return;
  return edit({ tour }, `${name(node)} is left out.`);
}

/** Puts a stop where it lengthens the tour least. */
export function putBack(node) {
  const { locked, tour } = store.present;
  const place = cheapestPlace(store.problem, tour, node, locked);
  return edit(
    { tour: [...tour.slice(0, place), node, ...tour.slice(place)] },
    `${name(node)} is back, at place ${place + 1}.`,
  );
}

/** Locks the beginning up to a stop, or, where that stop is the last locked one, up to the stop before it. */
export function toggleLock(node) {
  const { tour, locked } = store.present;
  if (job || !tour) return;
  const upTo = tour.indexOf(node) + 1;
  const next = upTo === locked ? upTo - 1 : upTo;
  store.commit({ locked: next });
  announce(next ? `The first ${count(next, "stop")} stay as they are.` : "Nothing is locked.");
}
