// The plan as a file, and on paper.

import { download } from "./api.js";
import { $, h } from "./dom.js";
import { allowing } from "./problem.js";
import { settings } from "./settings.js";
import { store } from "./store.js";
import { number } from "./times.js";
import { restName } from "./words.js";

export function setUpExports() {
  for (const button of document.querySelectorAll("[data-export]")) {
    button.addEventListener("click", () => save(button.dataset.export));
  }
  $("#exports").addEventListener("toggle", () => {
    $("#export-problem").textContent = "";
    for (const button of document.querySelectorAll("[data-export]")) {
      button.disabled = button.dataset.export !== "stops" && !store.present.plan?.steps;
    }
  });
  addEventListener("beforeprint", drawSheet);
}

async function save(format) {
  const line = $("#export-problem");
  line.textContent = "";
  if (format === "print") {
    $("#exports").hidePopover();
    return print();
  }
  try {
    const blob = format === "stops" ? new Blob([JSON.stringify(store.present.instance)]) : await asked(format);
    const link = h("a", {
      href: URL.createObjectURL(blob),
      download: `${fileName()}.${format === "stops" ? "json" : format}`,
    });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
    $("#exports").hidePopover();
  } catch (error) {
    line.textContent = error.message;
  }
}

function asked(to) {
  const { problem, present } = store;
  const instance = allowing(present.instance, problem.unserved(present.tour));
  const date = to === "ics" ? { date: problem.times.clock?.origin ?? new Date().toLocaleDateString("sv") } : {};
  return download("/convert", { instance, tour: present.tour, objective: settings.objective, to, ...date });
}

const fileName = () => store.problem.title.replace(/[^\p{L}\p{N} _.-]+/gu, "-").slice(0, 80) || "plan";

/** A schedule for the driver: a row per stop, with room for a tick. */
function drawSheet() {
  const { problem, present } = store;
  const sheet = $("#sheet");
  if (!present.plan?.steps) return sheet.replaceChildren();
  const { times } = problem;
  const extra = Object.keys(problem.columns);
  const head = problem.timed ? ["", "Stop", "Window", "Arrive", "Start", "Leave"] : ["", "Stop", "Load", "Limit"];
  let place = 0;
  const rows = present.plan.steps.map((step) => {
    const windows = step.node === null ? "" : problem.windows[step.node].map((each) => times.window(each)).join(", ");
    const amounts = problem.timed
      ? [windows, ...["arrival", "start", "departure"].map((key) => times.moment(step[key]))]
      : [number(step.load), number(step.kind === "stop" ? problem.room(step.node) : null)];
    const columns = extra.map((name) => (step.node === null ? "" : problem.columns[name][step.node]));
    const cells = [
      step.kind === "stop" ? String(++place) : "",
      step.kind === "break" ? restName(step) : step.name,
      ...amounts,
      ...columns,
    ];
    return h(
      "tr",
      { class: step.kind },
      cells.map((text) => h("td", {}, text)),
      h("td", {}, step.kind === "stop" ? "☐" : ""),
    );
  });
  const out = problem.unserved(present.tour).map((node) => problem.names[node]);
  sheet.replaceChildren(
    h("h1", {}, problem.title),
    h(
      "p",
      {},
      [
        $("#chip").textContent,
        ...[...$("#figures").children].map((figure) => [...figure.children].map((part) => part.textContent).join(" ")),
      ].join(" · "),
    ),
    h(
      "table",
      {},
      h(
        "thead",
        {},
        h(
          "tr",
          {},
          [...head, ...extra, "Done"].map((text) => h("th", {}, text)),
        ),
      ),
      h("tbody", {}, rows),
    ),
    out.length ? h("p", {}, `Left out: ${out.join(", ")}.`) : "",
  );
}
