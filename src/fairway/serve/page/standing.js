// How the plan stands: the verdict in a few words, its figures, the chart of a running job, and what can be done next.

import { $, h, icon, s } from "./dom.js";
import { job } from "./planner.js";
import { store } from "./store.js";
import { number } from "./times.js";
import { percent, proven, standing } from "./words.js";

const WIDE = 160;
const HIGH = 36;

export function drawStanding() {
  const { problem, shown, present } = store;
  const running = job !== null;
  const focused = $(".act").contains(document.activeElement);
  $("#plan").hidden = running;
  $("#plan").textContent = present.tour ? "Plan anew" : "Plan the tour";
  const optimal = present.plan?.status === "optimal" && !present.plan.edited;
  $("#plan").classList.toggle("primary", !present.plan);
  $("#improve").hidden = running || !present.tour || optimal;
  $("#check").hidden = running || present.tour !== null || !problem;
  $("#improve").classList.toggle("primary", !present.trouble);
  $("#stop").hidden = !running;
  $("#stop").disabled = job?.stopping ?? false;
  $("#undo").disabled = running || !store.canUndo;
  $("#redo").disabled = running || !store.canRedo;
  for (const id of ["open", "export", "how"]) $(`#${id}`).disabled = running;
  if (focused && document.activeElement.hidden) $(".act button:not([hidden], .chip)").focus();
  $("#where").hidden = running || !present.plan?.violations?.length;
  drawChip(shown.plan);
  $("#figures").replaceChildren(...(shown.plan || running ? figures(problem, shown) : []));
  drawChart();
}

function drawChip(plan) {
  const { tone, text } = job ? runningWords(plan) : standing(plan, store.present.trouble);
  const drawing = { good: "check", bad: "warning" }[tone];
  for (const chip of document.querySelectorAll(".chip")) {
    if (chip.textContent === text && chip.dataset.tone === tone) continue;
    chip.dataset.tone = tone;
    chip.replaceChildren(...(drawing ? [icon(drawing)] : []), text);
  }
}

function runningWords(plan) {
  if (job.stopping) return { tone: "busy", text: "Stopping" };
  const last = job.trace.at(-1);
  if (!last || !plan) return { tone: "busy", text: job.waiting ? "Waiting for a free worker" : "Planning, no tour yet" };
  const gap = proven(last.value, job.bound);
  return { tone: "busy", text: gap === null ? "Not proved yet" : `Proved: at most ${percent(gap)} above the best` };
}

function figures(problem, { plan, solved }) {
  const { times } = problem;
  if (!plan) return terms([["Time", elapsed()]]);
  const steps = plan.steps ?? [];
  const last = steps.at(-1);
  const stops = steps.filter((step) => step.kind === "stop");
  const halts = steps.filter((step) => step.kind === "stop" || step.kind === "break");
  const waiting = halts.reduce((sum, step) => sum + step.start - step.arrival, 0);
  const late = steps.reduce((sum, step) => sum + step.late, 0);
  const change = plan.edited && typeof solved === "number" && plan.cost !== null ? plan.cost - solved : 0;
  const distance = last?.distance;
  const found = [
    [
      problem.timed && times.clock ? "Driving" : "Cost",
      problem.timed && times.clock && last && !problem.instance.cost ? times.span(last.driven) : number(plan.cost),
      signed(problem, change),
    ],
    distance !== null &&
      distance !== undefined && ["Distance", `${number(distance)} ${problem.instance.source?.distance_unit ?? ""}`],
    problem.timed &&
      last && [
        "Leaves",
        times.moment(plan.departure),
        plan.latest_departure > plan.departure + 1e-6 && `or as late as ${times.moment(plan.latest_departure)}`,
      ],
    problem.timed && last && [problem.end === 0 ? "Back" : "Ends", times.moment(last.departure)],
    problem.timed && waiting > 1e-9 && ["Waiting", times.span(waiting)],
    late > 0 && ["Late", times.span(late)],
    job && ["Time", elapsed()],
    ["Stops", `${stops.length} of ${problem.stops.length}`],
  ];
  return terms(found.filter(Boolean));
}

const terms = (found) =>
  found.map(([label, value, note]) =>
    h("div", {}, h("dt", {}, label), h("dd", {}, value, note && h("small", {}, ` ${note}`))),
  );

function elapsed() {
  const seconds = job.waiting ? 0 : Math.round((performance.now() - job.began) / 1000);
  return `${Math.min(job.seconds, seconds)} s of ${job.seconds} s`;
}

function signed(problem, change) {
  const { times } = problem;
  const text =
    problem.timed && times.clock && !problem.instance.cost ? times.span(Math.abs(change)) : number(Math.abs(change));
  return Number.parseFloat(text) ? `${change > 0 ? "+" : "−"}${text}` : null; // not what is only rounding
}

/** The value over the seconds, with the bound below it once it says something. */
function drawChart() {
  const chart = $("#chart");
  const trace = job?.trace ?? [];
  chart.toggleAttribute("hidden", trace.length === 0);
  if (!trace.length) return;
  const now = Math.max(trace.at(-1).seconds, (performance.now() - job.began) / 1000);
  const bounded = proven(trace.at(-1).value, job.bound) !== null;
  const values = [...trace.map((each) => each.value), ...(bounded ? [job.bound] : [])];
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const x = (seconds) => (WIDE * seconds) / Math.max(job.seconds, now);
  const y = (value) => HIGH - 3 - ((HIGH - 6) * (value - low)) / (high - low || 1);
  const points = trace.flatMap(({ seconds, value }, at) => {
    const until = trace[at + 1]?.seconds ?? now;
    return [`${x(seconds)},${y(value)}`, `${x(until)},${y(value)}`];
  });
  chart.setAttribute("viewBox", `0 0 ${WIDE} ${HIGH}`);
  chart.setAttribute("preserveAspectRatio", "none");
  chart.replaceChildren(
    bounded ? s("line", { class: "bound", x1: 0, x2: WIDE, y1: y(job.bound), y2: y(job.bound) }) : "",
    s("polyline", { class: "value", points: points.join(" ") }),
  );
}

/** The stop that is looked at, in a card on the map. */
export function drawCard() {
  const card = $("#card");
  const { problem, looked, shown } = store;
  card.hidden = looked === null || !problem;
  if (card.hidden) return;
  const { times } = problem;
  const step = shown.plan?.steps?.find((each) => each.node === looked && each.kind !== "start");
  const windows = problem.windows[looked]
    .map((each) => times.window(each))
    .filter(Boolean)
    .join(", ");
  const lines = [
    windows && ["Window", windows],
    step && problem.timed && ["Arrives", times.moment(step.arrival, true)],
    step && step.start > step.arrival && ["Waits", times.span(step.start - step.arrival)],
    step &&
      problem.timed &&
      step.kind === "stop" && ["Served", `${times.moment(step.start, true)}–${times.moment(step.departure, true)}`],
    step &&
      problem.laden && [
        "Load",
        number(step.load) + (problem.room(looked) === null ? "" : ` of ${number(problem.room(looked))}`),
      ],
    ...problem.pairs.flatMap(([pickup, delivery]) => [
      pickup === looked && ["Picks up for", problem.names[delivery]],
      delivery === looked && ["Delivers from", problem.names[pickup]],
    ]),
    ...Object.entries(problem.columns).map(([name, texts]) => texts[looked] && [name, texts[looked]]),
  ];
  card.replaceChildren(
    h("b", {}, problem.names[looked]),
    h(
      "dl",
      {},
      lines.filter(Boolean).map(([label, value]) => [h("dt", {}, label), h("dd", {}, value)]),
    ),
  );
}
