// The plan as a list: a row per step with its times, its timeline, what is wrong with it, and what can be done to it.

import { $, h, icon, paced, s } from "./dom.js";
import { drag } from "./drag.js";
import * as edits from "./edits.js";
import { job } from "./planner.js";
import { store } from "./store.js";
import { axis, bar, legend, scaleOf } from "./timeline.js";
import { number } from "./times.js";
import { restName, violation } from "./words.js";

export class Itinerary {
  #list = $("#rows");
  #axis = $("#axis");
  #marker = h("li", { class: "insertion", "aria-hidden": "true", hidden: true });
  #focused = null;
  /** The key of the row that the keyboard is on. */
  #scale = null;
  #wrong = 0;
  #held = false;
  /** Whether a stop is being dragged, whose row must stay. */

  constructor() {
    this.#list.addEventListener("keydown", (event) => this.#key(event));
    this.#list.addEventListener("pointerleave", () => store.look(null));
    this.#list.addEventListener("focusout", (event) => {
      if (!this.#list.contains(event.relatedTarget)) store.look(null);
    });
    new ResizeObserver(() => this.draw()).observe(this.#axis);
  }

  draw = paced(this.#list, () => store.problem && !this.#held && this.#draw());

  /** Goes to the next row in which something is wrong, round and round. */
  showWrong() {
    const rows = [...document.querySelectorAll("#pane-plan .broken")];
    if (!rows.length) return;
    const row = rows[this.#wrong++ % rows.length];
    row.scrollIntoView({ block: "center" });
    if (row.matches(".row")) this.#focus(row);
  }

  mark() {
    for (const row of this.#list.querySelectorAll(".looked")) row.classList.remove("looked");
    for (const row of this.#list.querySelectorAll(`[data-node="${store.looked}"]`)) row.classList.add("looked");
  }

  #draw() {
    const { problem, shown } = store;
    const hadFocus = this.#list.contains(document.activeElement);
    const action = hadFocus ? document.activeElement.dataset.action : undefined;
    const steps = shown.plan?.steps ?? null;
    this.#scale = scaleOf(problem, steps);
    const rows = steps ? this.#planned(problem, steps) : this.#unplanned(problem);
    const ticks = s("svg", { class: "ticks" });
    this.#axis.replaceChildren(h("span", { class: "axis-head" }, problem.timed ? "" : "load"), ticks);
    const { labels, lines } = axis(this.#scale, ticks.clientWidth);
    ticks.replaceChildren(...labels);
    $("#behind").replaceChildren(lines);
    this.#list.replaceChildren(...rows, this.#marker);
    this.#list.classList.toggle("running", job !== null);
    if (!rows.some((row) => row.dataset.key === this.#focused)) this.#focused = rows[0]?.dataset.key ?? null;
    this.#rove(rows, hadFocus, action);
    this.#leftOut(problem, shown);
    const marks = legend(problem, steps).map(([kind, text]) => h("li", {}, h("i", { class: `mark ${kind}` }), text));
    $("#legend").replaceChildren(...marks);
    this.mark();
  }

  #planned(problem, steps) {
    let [before, place] = [null, 0];
    return steps.map((step, at) => {
      const row = this.#row(problem, step, before, step.kind === "stop" ? ++place : null, at);
      before = step.departure;
      return row;
    });
  }

  #unplanned(problem) {
    const order = store.shown.tour ?? problem.stops;
    const ends = (kind, node) => ({ kind, node, name: problem.names[node], blank: true });
    const steps = [ends("start", 0), ...order.map((node) => ends("stop", node))];
    if (problem.end !== null) steps.push(ends("end", problem.end));
    return steps.map((step, at) => this.#row(problem, step, null, step.kind === "stop" ? at : null, at));
  }

  #row(problem, step, before, place, at) {
    const { node } = step;
    const wrong = this.#wrongs(problem, step);
    const movable = step.kind === "stop";
    const locked = movable && place <= store.shown.locked;
    const colliding = (store.present.trouble?.conflicts ?? []).some((conflict) => conflict.stops.includes(node));
    const kinds = [
      "row",
      step.kind,
      locked && "locked",
      wrong.length && "broken",
      movable && colliding && "colliding",
      step.blank && "blank",
    ];
    const name = step.kind === "break" ? restName(step) : step.name;
    const times = step.blank ? windowsOf(problem, node) : timesOf(problem, step);
    const row = h(
      "li",
      {
        class: kinds.filter(Boolean).join(" "),
        tabindex: -1,
        "data-node": node,
        "data-key": step.kind === "stop" ? `stop ${node}` : `${step.kind} ${at}`,
        "data-place": place,
        "aria-label": [place, name, spoken(problem, step), locked && "locked", ...wrong].filter(Boolean).join(", "),
        onpointerenter: (event) => this.#enter(event.currentTarget, node),
        onfocusin: (event) => this.#focus(event.currentTarget),
      },
      h(
        "span",
        { class: "grip", title: movable && !locked ? "Drag to move" : null },
        movable && (locked ? icon("lock") : icon("grip")),
      ),
      h("span", { class: "badge" }, place ?? ""),
      h("span", { class: "who" }, h("span", { class: "name" }, name), notesOf(problem, step)),
      h("span", { class: "when" }, times),
      bar(problem, this.#scale, node, step.blank ? null : step, before),
      wrong.map((sentence) => h("span", { class: "wrong" }, icon("warning"), sentence)),
    );
    if (movable && !locked) this.#draggable(row, node);
    return row;
  }

  #wrongs(problem, step) {
    if (step.kind === "break") return [];
    const here = (store.shown.plan?.violations ?? []).filter((each) => this.#isAt(problem, each, step));
    return here.map((each) => violation(problem, each, step));
  }

  #isAt(problem, broken, step) {
    if (broken.kind === "late return") return step.kind === "end";
    if (broken.node === 0) return step.kind === "start";
    return broken.node === step.node;
  }

  #enter(row, node) {
    this.#offer(row);
    store.look(node);
  }

  /** Gives a row its buttons once it is looked at: a thousand rows do without. */
  #offer(row) {
    if (!row.classList.contains("stop") || $(".actions", row)) return;
    const { node, place } = row.dataset;
    const actions = this.#actions(Number(node), Number(place), row.classList.contains("locked"));
    $(".lane", row).after(actions);
  }

  #actions(node, place, locked) {
    const name = store.problem.names[node];
    const last = place === store.shown.locked;
    const button = (action, label, drawing, act, off) =>
      h(
        "button",
        {
          type: "button",
          class: "quiet square",
          tabindex: -1,
          "data-action": action,
          "aria-label": label,
          title: label,
          disabled: off,
          onclick: act,
        },
        drawing,
      );
    const lockLabel = last ? `Unlock ${name}` : `Lock the beginning up to ${name}`;
    return h(
      "span",
      { class: "actions" },
      button(
        "up",
        `Move ${name} earlier`,
        "↑",
        () => edits.moveBy(node, -1),
        locked || place - 1 <= store.shown.locked,
      ),
      button("down", `Move ${name} later`, "↓", () => edits.moveBy(node, 1), locked),
      button("lock", lockLabel, icon(last ? "unlock" : "lock"), () => edits.toggleLock(node), !store.present.tour),
      button("drop", `Leave ${name} out`, icon("drop"), () => edits.leaveOut(node), locked || !store.present.tour),
    );
  }

  /** The stops that the tour leaves out, each with what that costs and a way back. */
  #leftOut(problem, shown) {
    const section = $("#left-out");
    const out = shown.tour ? problem.unserved(shown.tour) : [];
    section.hidden = !out.length;
    if (!out.length) return;
    const items = out.map((node) => {
      const must = problem.mustServe(node);
      const price = problem.prize[node];
      const label = must ? "must be served" : price ? `may be left out for ${number(price)}` : "may be left out";
      const back = h(
        "button",
        {
          type: "button",
          "data-action": "back",
          "aria-label": `Put back ${problem.names[node]}`,
          onclick: () => edits.putBack(node),
          disabled: job !== null,
        },
        "Put back",
      );
      return h(
        "li",
        {
          class: must ? "out broken" : "out",
          "data-node": node,
          onpointerenter: () => store.look(node),
          onfocusin: () => store.look(node),
        },
        h("span", { class: "name" }, problem.names[node]),
        h("span", { class: must ? "wrong" : "hint" }, must && icon("warning"), label),
        back,
      );
    });
    section.replaceChildren(h("h2", {}, "Left out"), h("ul", {}, items));
  }

  #draggable(row, node) {
    row.addEventListener("pointerdown", (event) => {
      const held = event.target.closest(".grip") !== null || event.pointerType !== "touch";
      if (job || !held || event.button !== 0 || event.target.closest("button")) return;
      const places = (moved, sideways) => (sideways ? this.#placeAt(node, moved) : this.#placeUnder(node, moved));
      this.#held = true;
      drag(event, row, places, this.#marker, (place) => {
        this.#held = false;
        if (place === null) this.draw();
        else edits.move(node, place);
      });
    });
  }

  #others(node) {
    return [...this.#list.querySelectorAll(".row.stop")].filter((row) => Number(row.dataset.node) !== node);
  }

  #above(others, place) {
    const row = others[place] ?? others.at(-1);
    if (!row) return 0;
    return place < others.length ? row.offsetTop : row.offsetTop + row.offsetHeight;
  }

  /** The place between the rows under the pointer. */
  #placeUnder(node, event) {
    const others = this.#others(node);
    const middle = (row) => row.getBoundingClientRect().top + row.offsetHeight / 2;
    let place = others.findIndex((row) => event.clientY < middle(row));
    if (place < 0) place = others.length;
    place = Math.max(place, store.present.locked);
    return { place, above: this.#above(others, place) };
  }

  /** The place before the first stop that starts after the moment under the pointer. */
  #placeAt(node, event) {
    const steps = store.shown.plan?.steps;
    const lane = $(".lane", this.#list)?.getBoundingClientRect();
    if (!steps || !lane || !store.problem.timed) return this.#placeUnder(node, event);
    const time = this.#scale.value((event.clientX - lane.left) / lane.width);
    const starts = steps.filter((step) => step.kind === "stop" && step.node !== node).map((step) => step.start);
    let place = starts.findIndex((start) => start > time);
    if (place < 0) place = starts.length;
    place = Math.max(place, store.present.locked);
    return { place, above: this.#above(this.#others(node), place) };
  }

  #focus(row) {
    const before = $('[tabindex="0"]', this.#list);
    if (before && before !== row && before.matches(".row")) this.#reachable(before, false);
    this.#focused = row.dataset.key;
    this.#reachable(row, true);
    store.look(row.dataset.node === undefined ? null : Number(row.dataset.node));
  }

  /** Exactly one row, with its buttons, can be reached by Tab. */
  #reachable(row, whether) {
    if (whether) this.#offer(row);
    row.tabIndex = whether ? 0 : -1;
    for (const button of row.querySelectorAll("button")) button.tabIndex = whether ? 0 : -1;
  }

  #rove(rows, focus, action) {
    const row = rows.find((each) => each.dataset.key === this.#focused);
    if (!row) return;
    this.#reachable(row, true);
    if (!focus) return;
    row.focus({ preventScroll: true }); // first, since its buttons are seen only then
    if (action) $(`[data-action="${action}"]:not(:disabled)`, row)?.focus({ preventScroll: true });
    row.scrollIntoView({ block: "nearest" });
  }

  #key(event) {
    const row = event.target.closest(".row");
    if (!row) return;
    const node = row.classList.contains("stop") ? Number(row.dataset.node) : null;
    const step = { ArrowUp: -1, ArrowDown: 1 }[event.key];
    const onRow = event.target === row;
    if (step && event.altKey && node !== null) edits.moveBy(node, step);
    else if (step && onRow) this.#step(row, step);
    else if ((event.key === "Home" || event.key === "End") && onRow) this.#edge(event.key === "End");
    else if (event.key.toLowerCase() === "l" && onRow && node !== null && !event.ctrlKey && !event.metaKey)
      edits.toggleLock(node);
    else if ((event.key === "Delete" || event.key === "Backspace") && onRow && node !== null) this.#drop(row, node);
    else return;
    event.preventDefault();
  }

  #drop(row, node) {
    const next = row.nextElementSibling?.matches(".row") ? row.nextElementSibling : row.previousElementSibling;
    if (store.present.tour) this.#focused = next.dataset.key;
    edits.leaveOut(node);
  }

  #step(row, step) {
    const rows = [...this.#list.querySelectorAll(".row")];
    rows[Math.max(0, Math.min(rows.length - 1, rows.indexOf(row) + step))].focus();
  }

  #edge(last) {
    const rows = [...this.#list.querySelectorAll(".row")];
    rows.at(last ? -1 : 0).focus();
  }
}

/** The windows of a stop, where there is no plan yet. */
function windowsOf(problem, node) {
  return h(
    "span",
    { class: "window-text" },
    problem.windows[node].map((each) => problem.times.window(each)).join(", "),
  );
}

function timesOf(problem, step) {
  const { times } = problem;
  if (!problem.timed) {
    const limit = step.kind === "stop" ? problem.room(step.node) : null;
    return [h("b", {}, number(step.load)), limit !== null && h("span", { class: "until" }, ` of ${number(limit)}`)];
  }
  const start = step.kind === "start" ? step.departure : step.start;
  const wait = (step.kind === "stop" || step.kind === "break") && step.start - step.arrival;
  return [
    h("b", {}, times.moment(start)),
    step.departure > start && h("span", { class: "until" }, `–${times.moment(step.departure)}`),
    wait > 1e-9 && h("small", { class: "waits" }, icon("wait"), times.span(wait)),
    step.late > 0 && h("small", { class: "lates" }, `${times.span(step.late)} late`),
  ];
}

function notesOf(problem, step) {
  if (step.kind === "start") return h("small", {}, step.blank ? "start" : "leaves");
  if (step.kind === "end") return h("small", {}, step.blank ? "end" : step.node ? "ends" : "is back");
  if (step.kind === "break") return null;
  const load =
    problem.timed &&
    problem.laden &&
    !step.blank &&
    `load ${number(step.load)}${problem.room(step.node) === null ? "" : ` of ${number(problem.room(step.node))}`}`;
  const text = [load, problem.notes(step.node)].filter(Boolean).join(" · ");
  return text ? h("small", { title: text }, text) : null;
}

/** A step in words, for a screen reader. */
function spoken(problem, step) {
  const { times } = problem;
  const windows = step.node === null ? "" : problem.windows[step.node].map((each) => times.window(each)).join(" and ");
  if (step.blank) return windows && `window ${windows}`;
  if (!problem.timed) return `load ${number(step.load)}`;
  if (step.kind === "start") return `leaves at ${times.moment(step.departure)}`;
  if (step.kind === "end") return `arrives at ${times.moment(step.arrival)}`;
  const wait = step.start > step.arrival ? `, waits ${times.span(step.start - step.arrival)}` : "";
  const window = step.kind === "stop" && windows ? `, window ${windows}` : "";
  const [arrives, starts, leaves] = [step.arrival, step.start, step.departure].map((time) => times.moment(time));
  return `arrives ${arrives}${wait}, starts ${starts}, leaves ${leaves}${window}`;
}
