// The plan at hand outlives a reload of its tab; it is kept in this browser and nowhere else.

import { store } from "./store.js";

const KEY = "fairway-plan";
const LARGEST = 2_000_000;
/** Characters. */

export function keep() {
  const { instance, tour, locked } = store.present;
  if (!instance) return;
  const text = JSON.stringify({ instance, tour, locked });
  try {
    if (text.length <= LARGEST) sessionStorage.setItem(KEY, text);
    else sessionStorage.removeItem(KEY);
  } catch {
    // a browser that keeps nothing still plans
  }
}

/** What was kept, or null. */
export function kept() {
  try {
    return JSON.parse(sessionStorage.getItem(KEY));
  } catch {
    return null;
  }
}
