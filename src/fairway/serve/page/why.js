// Why there is no tour: the stops that collide, the sentence, and the smallest change that would help.

import { $, announce, h, icon } from "./dom.js";
import { plan } from "./planner.js";
import { store } from "./store.js";
import { count, plain, repair, sentence } from "./words.js";

const MOST_SHOWN = 4;
/** Conflicts, or changes, before the others are folded away. */

/** Draws what stands in the way, or hides where nothing does. */
export function drawWhy() {
  const { trouble } = store.present;
  const section = $("#why");
  section.hidden = !trouble || store.live !== null;
  if (section.hidden) return section.replaceChildren();
  const title = trouble.status === "infeasible" ? "No tour keeps every rule" : "No tour was found in the time";
  const parts = [
    h("h2", { id: "why-title" }, icon("warning"), title),
    h("div", { class: "reasons" }, reasons(trouble)),
    h("div", { class: "remedies" }, remedies(trouble)),
    trouble.givenUp.length > 0 && h("p", { class: "hint" }, givenUp(trouble)),
  ];
  section.replaceChildren(...parts.filter(Boolean));
}

function givenUp(trouble) {
  const words = trouble.givenUp.slice(0, MOST_SHOWN).map((each) => plain(store.problem, each));
  const more = trouble.givenUp.length - words.length;
  return `Shown meanwhile is the plan that gives up least: ${words.join(", ")}${more ? ` and ${more} more` : ""}.`;
}

function reasons(trouble) {
  const conflicts = trouble.conflicts.length ? trouble.conflicts : [{ stops: [], why: trouble.why }];
  const told = conflicts
    .filter((conflict) => conflict.why)
    .map((conflict) => [
      h("p", {}, `${sentence(store.problem, conflict.why)}.`),
      conflict.stops.length > 0 && h("p", { class: "collide" }, "Colliding: ", conflict.stops.map(stopChip)),
    ]);
  return folded(told, "more conflict");
}

/** The first few as they are, the others behind a line that says how many there are. */
function folded(parts, what) {
  const rest = parts.slice(MOST_SHOWN);
  if (!rest.length) return parts;
  return [...parts.slice(0, MOST_SHOWN), h("details", {}, h("summary", {}, count(rest.length, what)), rest)];
}

function stopChip(node) {
  const look = () => store.look(node);
  const go = () => {
    look();
    $(`#pane-plan [data-node="${node}"]`)?.scrollIntoView({ block: "center", behavior: "smooth" });
  };
  return h(
    "button",
    { type: "button", class: "stop-chip", onclick: go, onfocus: look, onpointerenter: look },
    store.problem.names[node],
  );
}

function remedies(trouble) {
  if (trouble.asking) return h("p", { class: "hint busy" }, "Looking for the smallest change that would help …");
  if (trouble.failed) return h("p", { class: "problem" }, trouble.failed);
  if (trouble.unlock) return button("Unlock the beginning and plan again", { locked: 0 }, "Unlocked.");
  if (!trouble.repairs?.length)
    return h(
      "p",
      { class: "hint" },
      "No change of a single number was found to help. Leave out one of these stops, or change several windows.",
    );
  const several = trouble.repairs.length > 1;
  return [
    h(
      "p",
      {},
      several ? "What would help; each conflict needs its own change:" : "The smallest change that would help:",
    ),
    h("div", { class: "buttons" }, folded(trouble.repairs.map(repairButton), "more change")),
  ];
}

function repairButton(found) {
  return button(repair(store.problem, found), { instance: found.instance }, "Applied.");
}

/** A button that changes the instance and plans again. */
function button(label, changes, said) {
  const apply = () => {
    store.commit({
      ...changes,
      plan: null,
      trouble: null,
      tour: changes.locked === 0 ? store.present.tour : null,
      locked: 0,
    });
    announce(said);
    return plan();
  };
  return h("button", { type: "button", class: "primary apply", onclick: apply }, label);
}
