// The timeline: one row per step on a common axis, drawn in percentages so that nothing is redrawn when it is resized.

import { s } from "./dom.js";
import { number } from "./times.js";

const REACH = 0.2;
/** Part of the day beyond which windows run out of the axis. */
const BEYOND = 1.02;
/** Where whatever goes on beyond the axis is drawn to, so that no end of it is seen. */
const LETTER = 6.6;
/** Pixels that a letter of the axis takes, about. */
const OVERHANG = 6;
/** Pixels that a label may stick out at either end. */
const HEIGHT = 34;
const MIDDLE = HEIGHT / 2;

/** The common axis of all rows: times, or loads where times say nothing. */
export function scaleOf(problem, steps) {
  return problem.timed ? timeScale(problem, steps) : loadScale(problem, steps);
}

function timeScale(problem, steps) {
  const windows = problem.windows.flat();
  const ends = windows.map(([, closes]) => closes).filter((closes) => closes !== null);
  let from = steps
    ? Math.min(...steps.map((step) => step.arrival))
    : Math.min(...windows.map(([opens]) => opens), Infinity);
  let to = steps ? Math.max(...steps.map((step) => step.departure)) : Math.max(...ends, -Infinity);
  if (!Number.isFinite(from)) from = 0;
  if (!Number.isFinite(to) || to <= from) to = from + 1;
  const reach = REACH * (to - from);
  for (const [opens, closes] of windows) {
    if (opens >= from - reach) from = Math.min(from, opens);
    if (closes !== null && closes <= to + reach) to = Math.max(to, closes);
  }
  return linear(from, to, (about) => problem.times.ticks(from, to, about).map((at) => [at, problem.times.moment(at)]));
}

function loadScale(problem, steps) {
  const limits = problem.stops.map((node) => problem.room(node)).filter((limit) => limit !== null);
  const loads = steps ? steps.map((step) => step.load ?? 0) : [];
  const to = Math.max(...loads, ...limits, 1);
  const from = Math.min(...loads, 0);
  return linear(from, to, (about) => problem.times.ticks(from, to, about).map((at) => [at, number(at)]));
}

function linear(from, to, ticks) {
  const margin = 0.015 * (to - from);
  const [first, length] = [from - margin, to - from + 2 * margin];
  const share = (value) => Math.min(BEYOND, Math.max(1 - BEYOND, (value - first) / length));
  return {
    ticks,
    share,
    at: (value) => `${(100 * share(value)).toFixed(3)}%`,
    wide: (a, b) => `${(100 * Math.max(0, share(b) - share(a))).toFixed(3)}%`,
    /** The value under a place, given as a part of the width. */
    value: (part) => first + part * length,
    last: first + length,
  };
}

/** The labels above all rows, wherever there is room for them, and the lines behind them. */
export function axis(scale, width) {
  const ticks = scale.ticks(Math.max(2, Math.floor(width / 50)));
  let free = -Infinity;
  const labels = ticks.flatMap(([at, text]) => {
    const wide = LETTER * text.length;
    const half = wide / 2 - OVERHANG;
    const x = Math.max(half, Math.min(scale.share(at) * width, width - half));
    if (x - wide / 2 < free) return [];
    free = x + wide / 2 + LETTER;
    return [s("text", { x, y: 14, "text-anchor": "middle" }, text)];
  });
  const lines = ticks.map(([at]) => s("line", { x1: scale.at(at), x2: scale.at(at), y1: 0, y2: "100%" }));
  return { labels, lines: s("svg", { class: "grid" }, lines) };
}

/** A row of the timeline; `before` is when the step before it was left. */
export function bar(problem, scale, node, step, before) {
  const marks = problem.timed ? timeMarks(problem, scale, node, step, before) : loadMarks(problem, scale, node, step);
  return s("svg", { class: "lane", height: HEIGHT, "aria-hidden": "true" }, marks);
}

const box = (scale, kind, a, b, top, height) =>
  s("rect", {
    class: kind,
    x: scale.at(a),
    width: scale.wide(a, b),
    y: top,
    height,
    rx: 2,
    fill: kind === "late" ? "url(#hatch)" : null,
  });

const stroke = (scale, kind, a, b) =>
  s("line", { class: kind, x1: scale.at(a), x2: scale.at(b), y1: MIDDLE, y2: MIDDLE });

function timeMarks(problem, scale, node, step, before) {
  const marks = [];
  if (step?.kind === "break") {
    marks.push(
      stroke(scale, "travel", before, step.arrival),
      stroke(scale, "waiting", step.arrival, step.start),
      box(scale, "rest", step.start, step.departure, MIDDLE - 5, 10),
    );
    return marks;
  }
  for (const [opens, closes] of node === null ? [] : problem.windows[node]) {
    marks.push(box(scale, "window", opens, closes ?? scale.last, 4, HEIGHT - 8));
  }
  const closing = problem.windows[node]?.at(-1)?.[1] ?? null;
  if (closing !== null && problem.latePrice[node] !== null) {
    marks.push(box(scale, "soft", closing, problem.latest[node] ?? scale.last, 4, HEIGHT - 8));
  }
  if (!step) return marks;
  if (before !== null && step.kind !== "start") marks.push(stroke(scale, "travel", before, step.arrival));
  if (step.start > step.arrival) marks.push(stroke(scale, "waiting", step.arrival, step.start));
  if (step.late > 0) marks.push(box(scale, "late", step.start - step.late, step.start, 7, HEIGHT - 14));
  if (step.kind !== "start")
    marks.push(
      s("line", {
        class: "arrival",
        x1: scale.at(step.arrival),
        x2: scale.at(step.arrival),
        y1: MIDDLE - 5,
        y2: MIDDLE + 5,
      }),
    );
  if (step.departure > step.start) marks.push(box(scale, "service", step.start, step.departure, MIDDLE - 5, 10));
  else marks.push(s("circle", { class: "start", cx: scale.at(step.start), cy: MIDDLE, r: 4 }));
  return marks;
}

function loadMarks(problem, scale, node, step) {
  const marks = [];
  const limit = node === null || node === 0 ? null : problem.room(node);
  if (limit !== null) marks.push(box(scale, "window", 0, limit, 4, HEIGHT - 8));
  const load = step?.load ?? null;
  if (load !== null && step.kind === "stop") {
    marks.push(box(scale, "service", Math.min(0, load), Math.max(0, Math.min(load, limit ?? load)), MIDDLE - 5, 10));
    if (limit !== null && load > limit) marks.push(box(scale, "late", limit, load, 7, HEIGHT - 14));
  }
  if (limit !== null)
    marks.push(s("line", { class: "limit", x1: scale.at(limit), x2: scale.at(limit), y1: 3, y2: HEIGHT - 3 }));
  return marks;
}

/** What each kind of mark means, in the order of the legend, where it occurs. */
export function legend(problem, steps) {
  if (!problem.timed)
    return [
      ["service", "load"],
      ["window", "room"],
      ["limit", "limit"],
    ];
  const some = (test) => steps?.some(test) ?? false;
  return [
    ["window", "window"],
    some((step) => step.kind === "stop") && ["travel", "travel"],
    some((step) => step.start > step.arrival && step.kind === "stop") && ["waiting", "waiting"],
    some((step) => step.departure > step.start && step.kind === "stop") && ["service", "service"],
    some((step) => step.kind === "break") && ["rest", "break"],
    problem.latePrice.some((price) => price !== null) && ["soft", "late at a price"],
    some((step) => step.late > 0) && ["late", "late"],
  ].filter(Boolean);
}
