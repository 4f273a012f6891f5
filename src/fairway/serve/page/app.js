// The page: its parts, and what each tells the others.

import { onTokenNeeded } from "./api.js";
import { $, h, icon } from "./dom.js";
import { check } from "./edits.js";
import { setUpExports } from "./exports.js";
import { Intake } from "./intake.js";
import { Itinerary } from "./itinerary.js";
import { TourMap } from "./map.js";
import { keep, kept } from "./keep.js";
import { edit, job, plan, stop, watchJob } from "./planner.js";
import { applyTheme, set, settings } from "./settings.js";
import { drawCard, drawStanding } from "./standing.js";
import { store } from "./store.js";
import { Table } from "./table.js";
import { drawWhy } from "./why.js";
import { count } from "./words.js";

const map = new TourMap();
const itinerary = new Itinerary();
const table = new Table();
const intake = new Intake(opened);

function opened(instance, warnings) {
  store.open(instance);
  warn(warnings);
  showTab("plan");
  screen("work");
  map.fit();
  $("#plan").focus();
}

function screen(name) {
  document.body.dataset.screen = name;
  $("#again").hidden = name !== "start" || !store.present.instance;
  scrollTo(0, 0);
}

function warn(sentences) {
  const place = $("#warnings");
  place.hidden = !sentences.length;
  const away = () => warn([]);
  place.replaceChildren(
    h(
      "ul",
      {},
      sentences.map((sentence) => h("li", {}, sentence.charAt(0).toUpperCase() + sentence.slice(1))),
    ),
    h("button", { type: "button", class: "quiet square", "aria-label": "Dismiss", onclick: away }, icon("drop")),
  );
}

function draw(what) {
  if (what === "look") {
    map.mark();
    itinerary.mark();
    return drawCard();
  }
  const { problem } = store;
  if (!store.live) keep();
  document.body.classList.toggle("nothing", !problem);
  document.body.classList.toggle("placeless", !problem?.places);
  $("#file").hidden = !problem;
  $("#tab-plan").disabled = !problem;
  if (problem) {
    $("#file-name").textContent = problem.title;
    $("#file-size").textContent = count(problem.nodes - 1, "stop");
    document.title = `${problem.title} · Fairway`;
  }
  $("#work-problem").textContent = "";
  drawStanding();
  drawWhy();
  drawCard();
  map.draw();
  itinerary.draw();
  if (!$("#pane-stops").hidden) table.show();
}

function showTab(name) {
  for (const tab of document.querySelectorAll("[role=tab]")) {
    const chosen = tab.id === `tab-${name}`;
    tab.setAttribute("aria-selected", chosen);
    tab.tabIndex = chosen ? 0 : -1;
    $(`#${tab.getAttribute("aria-controls")}`).hidden = !chosen;
  }
  if (name === "stops") table.show();
  else itinerary.draw();
}

function setUpTabs() {
  const tabs = [...document.querySelectorAll("[role=tab]")];
  for (const [at, tab] of tabs.entries()) {
    tab.addEventListener("click", () => showTab(tab.id.slice(4)));
    tab.addEventListener("keydown", (event) => {
      if (event.key !== "ArrowRight" && event.key !== "ArrowLeft") return;
      const other = tabs[(at + 1) % tabs.length];
      if (other.disabled) return;
      showTab(other.id.slice(4));
      other.focus();
    });
  }
}

function setUpOptions() {
  const form = $("#options");
  for (const field of form.elements) {
    if (!(field.name in settings)) continue;
    field.value = settings[field.name];
    field.addEventListener("change", () => {
      set(field.name, field.name === "seconds" ? Number(field.value) : field.value);
      applyTheme();
      map.draw();
    });
  }
  form.addEventListener("submit", (event) => event.preventDefault());
}

function setUpButtons() {
  $("#undo").append(icon("undo"));
  $("#redo").append(icon("redo"));
  $("#undo").addEventListener("click", () => store.undo());
  $("#redo").addEventListener("click", () => store.redo());
  $("#plan").addEventListener("click", () => plan());
  $("#improve").addEventListener("click", () => plan({ improve: true }));
  $("#stop").addEventListener("click", () => stop());
  $("#check").addEventListener("click", () => check());
  for (const id of ["where", "below"]) $(`#${id}`).addEventListener("click", () => itinerary.showWrong());
  $("#open").addEventListener("click", () => screen("start"));
  $("#token-cancel").addEventListener("click", () => $("#token").close());
  $("#back-to-plan").addEventListener("click", () => screen("work"));
  $("#blank").addEventListener("click", () => {
    table.blank();
    screen("work");
    showTab("stops");
    $("#pane-stops .cells input").focus();
  });
  addEventListener("keydown", (event) => {
    if (!(event.ctrlKey || event.metaKey) || event.target.closest("input, textarea") || job) return;
    const key = event.key.toLowerCase();
    if (key === "z" && event.shiftKey) store.redo();
    else if (key === "z") store.undo();
    else if (key === "y") store.redo();
    else return;
    event.preventDefault();
  });
}

/** Asks for the token in a dialog; null where the person gives none. */
function askForToken(wrong) {
  const dialog = $("#token");
  $("#token-problem").textContent = wrong ? "That token was not accepted." : "";
  dialog.returnValue = "";
  dialog.showModal();
  return new Promise((resolve) => {
    const given = () => resolve(dialog.returnValue === "given" ? $("input", dialog).value.trim() : null);
    dialog.addEventListener("close", given, { once: true });
  });
}

/** Whatever goes wrong is said where the person looks. */
function said(error) {
  const place = document.body.dataset.screen === "work" ? $("#work-problem") : $("#intake-problem");
  place.textContent = error?.message ?? String(error);
}

/** Goes on with the plan that was at hand when the page was left. */
function resume() {
  const before = kept();
  if (!before) return;
  opened(before.instance, []);
  if (before.tour) edit({ tour: before.tour, locked: before.locked }, "The plan as it was.");
}

applyTheme();
onTokenNeeded(askForToken);
addEventListener("unhandledrejection", (event) => said(event.reason));
document.addEventListener("stops-read", (event) => {
  warn(event.detail.warnings);
  showTab("plan");
});
store.listen(draw);
watchJob(() => {
  drawStanding();
  drawWhy();
  itinerary.draw();
});
setInterval(() => job && drawStanding(), 250);
setUpTabs();
setUpOptions();
setUpButtons();
setUpExports();
drawStanding();
intake.examples();
resume();
