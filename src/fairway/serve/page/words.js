// Sentences: of the judge and of `explain`, with names instead of numbers and times of day where the file has them.

import { number } from "./times.js";

/** A sentence of the service as a dispatcher would say it. */
export function plain(problem, sentence) {
  const { times } = problem;
  let text = named(problem, sentence);
  if (times.clock) {
    const at = (value) => times.moment(Number(value), true);
    const N = "(\\d+(?:\\.\\d+)?)(?![\\d:])"; // a time of day stays one
    text = text
      .replace(new RegExp(`\\bbetween ${N} and ${N}`, "g"), (_, a, b) => `between ${at(a)} and ${at(b)}`)
      .replace(new RegExp(`\\bfrom ${N} to ${N}`, "g"), (_, a, b) => `from ${at(a)} to ${at(b)}`)
      .replace(
        new RegExp(
          `\\b(closed?s? at|opens? at|opened at|starts? at|leaves at|depot at|start at|reached before|until) ${N}`,
          "g",
        ),
        (_, words, value) => `${words} ${at(value)}`,
      )
      .replace(
        new RegExp(`\\b${N} after (its|it|the last)`, "g"),
        (_, value, whose) => `${times.span(Number(value))} after ${whose}`,
      )
      .replace(new RegExp(`\\bbreak of ${N}`, "g"), (_, value) => `break of ${times.span(Number(value))}`)
      .replace(new RegExp(`\\b(${N}) late$`), (_, value) => `${times.span(Number(value))} late`);
  }
  return text;
}

/** The same as a sentence of its own. */
export function sentence(problem, said) {
  const text = plain(problem, said);
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}

/** "stop 2 (Quay)" and "2 (Quay)" become "Quay". */
function named(problem, sentence) {
  let [text, rest] = ["", sentence];
  for (let found; (found = /(?:\b(?:stop|port) )?\b(\d+) \(/.exec(rest));) {
    const after = rest.slice(found.index + found[0].length);
    const name = problem.names[Number(found[1])];
    const known = name !== undefined && after.startsWith(`${name})`);
    text += rest.slice(0, found.index) + (known ? name : found[0]);
    rest = known ? after.slice(name.length + 1) : after;
  }
  return text + rest;
}

/** What is wrong at a stop, said in its own row, where its name need not be repeated. */
export function violation(problem, broken, step) {
  const { times } = problem;
  switch (broken.kind) {
    case "late":
    case "late return": {
      const what = broken.kind === "late" ? "Starts" : "Back";
      const [start, closes] = [step.start, step.start - broken.amount].map((time) => times.moment(time, true));
      return `${what} at ${start}, ${times.span(broken.amount)} after it closes at ${closes}`;
    }
    case "missing":
      return "Must be served, and is left out";
    default:
      return sentence(problem, broken.why);
  }
}

/** A repair as the label of a button. */
export function repair(problem, found) {
  const { times } = problem;
  const who = found.node ? problem.names[found.node] : "the depot";
  const [from, to] = [times.moment(found.from, true), times.moment(found.to, true)];
  switch (found.field) {
    case "closes":
      return `Let ${who} close at ${to} instead of ${from}`;
    case "opens":
      return `Let ${who} open at ${to} instead of ${from}`;
    case "latest":
      return `Let ${who} be served until ${to} instead of ${from}`;
    case "draft":
      return `Allow ${number(found.to)} on board at ${who} instead of ${number(found.from)}`;
    case "capacity":
      return `Raise the capacity to ${number(found.to)} from ${number(found.from)}`;
    default:
      return sentence(problem, `plan as if ${found.words}`);
  }
}

/** How good a plan is known to be, and whether that is good, open or bad news. */
export function standing(plan, trouble = null) {
  if (trouble)
    return {
      tone: "bad",
      text: trouble.status === "infeasible" ? "No tour keeps every rule" : "No tour found in the time",
    };
  if (!plan) return { tone: "open", text: "Not planned yet" };
  const broken = plan.violations?.length ?? 0;
  if (broken) return { tone: "bad", text: broken === 1 ? "Breaks 1 rule" : `Breaks ${broken} rules` };
  if (plan.edited) return { tone: "good", text: "Keeps every rule" };
  if (plan.status === "optimal")
    return { tone: "good", text: `Proved: none is better${plan.fixed ? " that begins so" : ""}` };
  const gap = proven(plan.value, plan.lower_bound);
  return gap === null
    ? { tone: "open", text: "Not proved yet" }
    : { tone: "good", text: `Proved: at most ${percent(gap)} above the best` };
}

/** The proven gap once it is below a tenth, else null. */
export function proven(value, bound) {
  if (!(bound > 0) || value === null) return null;
  const gap = Math.max(0, value / bound - 1);
  return gap < 0.1 ? gap : null;
}

/** A share, rounded up so that nothing is promised that is not proved. */
export function percent(share) {
  const hundredths = Math.ceil(share * 10000 - 1e-9);
  return `${(hundredths / 100).toFixed(hundredths >= 1000 ? 1 : 2)} %`;
}

/** What a break is called. */
export const restName = (step) => step.name.charAt(0).toUpperCase() + step.name.slice(1);

/** "1 stop", "20 stops". */
export const count = (many, what) => `${many} ${what}${many === 1 ? "" : "s"}`;
