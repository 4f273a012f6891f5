// Planning: a job with its live improvements, the judge after every edit, and why there is no tour.

import { call, events, remove } from "./api.js";
import { announce } from "./dom.js";
import { Problem, allowing, toTheMinute } from "./problem.js";
import { settings } from "./settings.js";
import { store } from "./store.js";
import { standing } from "./words.js";

const PATIENCE = 120;
/** Milliseconds for which an edit waits for the judge before it is shown without times. */
const EXPLAINING = 5;
/** Seconds. */
const AGAIN = 500;
/** Milliseconds before a stream that was cut is asked for again. */
const AWAY = 30_000;
/** Milliseconds for which the service may be away while it works on a job. */

/** The job that runs, with its trace for the chart; null while none does. */
export let job = null;
const watchers = [];

export function watchJob(watcher) {
  watchers.push(watcher);
}

function progress() {
  for (const watcher of watchers) watcher(job);
}

/** Plans the instance: from nothing, or from the present order; a locked beginning stays either way. */
export async function plan({ improve = false } = {}) {
  if (job) return;
  const { locked } = store.present;
  let { instance, tour } = store.present;
  const dropped = improve ? store.problem.unserved(tour) : [];
  instance = allowing(instance, dropped);
  if (instance !== store.present.instance) store.commit({ instance });
  const { seconds, objective, relax } = settings;
  const request = { instance, seconds, objective, relax };
  if (improve) request.initial = tour;
  if (locked) request.fixed = tour.slice(0, locked);
  job = { id: null, seconds, began: performance.now(), trace: [], bound: null, waiting: false, stopping: false };
  progress();
  try {
    const accepted = await call("/jobs", request);
    job.id = accepted.id;
    if (job.stopping) await remove(`/jobs/${job.id}`);
    const ended = await follow(job);
    if (ended.status === "failed") throw new Error(ended.error || "The job failed, and the service does not say why.");
    await settle(ended, locked);
  } finally {
    job = null;
    if (store.live) store.preview(null);
    progress();
  }
}

/** Stops the job and keeps the best plan so far. */
export async function stop() {
  if (!job || job.stopping) return;
  const stopped = job;
  stopped.stopping = true;
  progress();
  try {
    if (stopped.id) await remove(`/jobs/${stopped.id}`);
  } catch (error) {
    stopped.stopping = false;
    throw error;
  }
}

/** The job at its end, after all its improvements have been shown; a service that was started again goes on with it. */
async function follow(running) {
  for (let since = null; ; ) {
    try {
      for await (const { type, data } of events(`/jobs/${running.id}/events`)) {
        since = null;
        if (type === "end") return data;
        hear(running, type, data);
      }
    } catch (error) {
      since ??= performance.now();
      if (error.status || performance.now() - since > AWAY) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, AGAIN));
  }
}

function hear(running, type, data) {
  if (type === "status") {
    running.waiting = data.status === "waiting";
    running.began = performance.now() - 1000 * data.seconds;
  }
  if (data.lower_bound > (running.bound ?? 0)) running.bound = data.lower_bound;
  if (type === "improvement") {
    const before = running.trace.filter((each) => each.seconds < data.seconds); // none where it was begun again
    running.trace = [...before, { seconds: data.seconds, value: data.value }];
    if (data.result?.steps) store.preview({ tour: data.result.tour, plan: data.result });
  }
  progress();
}

async function settle(ended, locked) {
  const found = ended.result;
  if (found?.steps) {
    const { plan } = store.commit({
      tour: found.tour,
      plan: { ...found, fixed: locked },
      trouble: null,
      solved: found.cost,
    });
    announce(`${standing(plan).text}.`);
    return;
  }
  if (!found) {
    announce("Stopped before there was a tour.");
    return;
  }
  const given = found.relaxed ?? found.attempt;
  const tour = given?.tour ?? store.present.tour;
  const judged = tour ? await judge(store.present.instance, tour) : null;
  const plan = judged && { ...judged, edited: false, status: found.status };
  const trouble = {
    status: found.status,
    why: found.reason,
    conflicts: found.conflicts ?? [],
    repairs: [],
    asking: true,
    givenUp: found.relaxed?.given_up ?? [],
  };
  const moment = store.commit({ tour, plan, trouble });
  announce(standing(plan, trouble).text);
  explain(moment, locked);
}

/** Asks why there is no tour, and what would help; the answer is added to the moment it was asked of. */
async function explain(moment, locked) {
  let trouble;
  try {
    const said = await call("/explain", { instance: moment.instance, seconds: EXPLAINING });
    if (said.status === "feasible" && locked) {
      trouble = {
        ...moment.trouble,
        asking: false,
        why: "there is a tour, but none that keeps the locked beginning",
        unlock: true,
      };
    } else {
      const repairs = said.repairs.map((each) => toTheMinute(new Problem(moment.instance), each));
      trouble = { ...moment.trouble, ...said, repairs, asking: false };
    }
  } catch (error) {
    trouble = { ...moment.trouble, asking: false, failed: error.message };
  }
  store.complete(moment, { trouble });
}

/** What the judge says of an order, with a violation of our own for every stop that must be served and is not. */
export async function judge(instance, tour) {
  const problem = new Problem(instance);
  const missing = problem.unserved(tour).filter((node) => problem.mustServe(node));
  const judged = await call("/verify", { instance: allowing(instance, missing), tour, objective: settings.objective });
  const left = missing.map((node) => ({ kind: "missing", node, name: problem.names[node], amount: 1, why: "" }));
  return { ...judged, edited: true, violations: [...(judged.violations ?? []), ...left] };
}

/** Another order by hand: judged at once, and drawn together with the verdict unless that takes long. */
export async function edit(changes, sentence) {
  if (job) return;
  const moment = store.commit({ ...changes, plan: null, trouble: null }, { drawn: false });
  const slow = setTimeout(() => store.redraw(), PATIENCE);
  let plan;
  try {
    plan = await judge(moment.instance, moment.tour);
  } catch (error) {
    store.redraw();
    throw error;
  } finally {
    clearTimeout(slow);
  }
  store.complete(moment, { plan });
  announce(`${sentence} ${standing(plan).text}.`);
}
