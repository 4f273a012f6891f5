// What the page shows: the present plan, what was before it and what was undone, and the stop that is looked at.

import { Problem } from "./problem.js";

const MOST_KEPT = 200;

/**
 * A moment of work, never changed once it is made:
 * instance, tour (nodes, or null where nothing is planned), locked (how many of the first stops stay),
 * plan (the document with steps and violations, or null), trouble (what stands in the way of any tour, or null),
 * solved (the cost of the last plan that was searched for, to compare edits with).
 */
const EMPTY = Object.freeze({ instance: null, tour: null, locked: 0, plan: null, trouble: null, solved: null });

class Store {
  #past = [];
  #future = [];
  #listeners = [];
  present = EMPTY;
  live = null;
  looked = null;

  /** What is to be drawn: the newest improvement while a job runs, else the present. */
  get shown() {
    return this.live ? { ...this.present, ...this.live } : this.present;
  }

  get problem() {
    const { instance } = this.present;
    if (this.cached?.instance !== instance) this.cached = instance && new Problem(instance);
    return this.cached;
  }

  get canUndo() {
    return this.#past.length > 0;
  }

  get canRedo() {
    return this.#future.length > 0;
  }

  listen(listener) {
    this.#listeners.push(listener);
  }

  #tell(what) {
    for (const listener of this.#listeners) listener(what);
  }

  /** Begins with an instance; what was before cannot come back by accident, but can by undo. */
  open(instance) {
    this.commit({ ...EMPTY, instance });
  }

  /** The present with some changes becomes the new present; drawn at once unless more is about to be known. */
  commit(changes, { drawn = true } = {}) {
    if (this.present.instance) this.#past.push(this.present);
    if (this.#past.length > MOST_KEPT) this.#past.shift();
    this.#future = [];
    this.live = null;
    this.present = Object.freeze({ ...this.present, ...changes });
    if (drawn) this.#tell("plan");
    return this.present;
  }

  /** Adds what has become known of a moment, wherever in the history it is by now. */
  complete(moment, changes) {
    const completed = Object.freeze({ ...moment, ...changes });
    const swap = (each) => (each === moment ? completed : each);
    this.#past = this.#past.map(swap);
    this.#future = this.#future.map(swap);
    const isPresent = this.present === moment;
    this.present = swap(this.present);
    if (isPresent) this.#tell("plan");
    return completed;
  }

  redraw() {
    this.#tell("plan");
  }

  undo() {
    if (!this.canUndo) return;
    this.#future.push(this.present);
    this.present = this.#past.pop();
    this.#tell("plan");
  }

  redo() {
    if (!this.canRedo) return;
    this.#past.push(this.present);
    this.present = this.#future.pop();
    this.#tell("plan");
  }

  /** Shows an improvement without making it history. */
  preview(live) {
    this.live = live;
    this.#tell("plan");
  }

  /** The stop that the pointer or the focus is on, in the list, on the timeline and on the map alike. */
  look(node) {
    if (this.looked === node) return;
    this.looked = node;
    this.#tell("look");
  }
}

export const store = new Store();
