// The stops and their rules as a table of texts; the service reads it, so that 08:30, 8.30 and 8:30 pm all do.

import { call } from "./api.js";
import { parse, render } from "./csv.js";
import { $, announce, h, icon } from "./dom.js";
import { edit, job } from "./planner.js";
import { Problem } from "./problem.js";
import { set, settings, speed } from "./settings.js";
import { store } from "./store.js";
import { carried, tableOf } from "./tables.js";

const BLANK = ["name", "lat", "lon", "open", "close", "service"];
const HINTS = {
  name: "Depot",
  lat: "59.91",
  lon: "10.75",
  x: "0",
  y: "0",
  open: "08:00",
  close: "17:00",
  service: "15",
};
const FURTHER = {
  windows: "several windows",
  late: "price of a minute late",
  latest: "last start if late",
  demand: "load",
  draft: "most load there",
  capacity: "of the vehicle",
  prize: "price of leaving out",
  priority: "0–100 or must",
  after: "only after",
  pickup: "delivery of",
  kind: "break, end …",
  address: "carried along",
};
const [NARROWEST, WIDEST] = [4, 28];
/** Letters that a column shows. */
const INNERMOST = /\[[^[\]{}]*\]/g;
/** Lists of plain values, which take a line each. */
const MOST_ROWS = 300;
/** Beyond which the table is a text. */

export class Table {
  #pane = $("#pane-stops");
  #columns = [];
  #rows = [];
  #widths = [];
  #matrix = null;
  #title = "stops";
  #of = undefined;
  /** The instance whose table this is; undefined while there is none. */

  /** A table to type into. */
  blank() {
    this.#set(
      BLANK,
      Array.from({ length: 5 }, () => BLANK.map(() => "")),
      null,
      "stops",
      null,
    );
    this.#draw();
  }

  /** The table of the present instance, unless it is there already. */
  async show() {
    const { instance } = store.present;
    if (!instance || instance === this.#of) return;
    this.#pane.replaceChildren(h("p", { class: "hint" }, "Reading …"));
    const [text, matrix] = await tableOf(instance);
    if (text === null) return this.#drawText(instance);
    const [columns, ...rows] = parse(text);
    const told = columns.map((name, column) => !(name in FURTHER) || rows.some((cells) => cells[column]?.trim()));
    const [kept, ...cells] = [columns, ...rows].map((row) => row.filter((_, column) => told[column]));
    this.#set(kept, cells, matrix, instance.name || "stops", instance);
    this.#draw();
  }

  #set(columns, rows, matrix, title, of) {
    [this.#columns, this.#rows, this.#matrix, this.#title, this.#of] = [
      [...columns],
      rows.map((row) => [...row]),
      matrix,
      title,
      of,
    ];
  }

  #draw() {
    if (this.#rows.length > MOST_ROWS) return this.#drawLong();
    this.#widths = this.#columns.map((_, column) => {
      const longest = Math.max(NARROWEST, ...this.#rows.map((cells) => (cells[column] ?? "").length));
      return Math.min(WIDEST, longest);
    });
    const grid = h(
      "table",
      { class: "cells" },
      h("thead", {}, this.#head()),
      h(
        "tbody",
        {},
        this.#rows.map((_, row) => this.#line(row)),
      ),
    );
    grid.addEventListener("keydown", (event) => this.#key(event));
    grid.addEventListener("paste", (event) => this.#paste(event));
    this.#pane.replaceChildren(
      this.#tools(),
      problemLine(),
      h("div", { class: "scroll", tabindex: -1 }, grid),
      this.#foot(),
    );
  }

  /** Whether nothing in the table says how fast one travels between latitudes and longitudes. */
  get #asksForSpeed() {
    return this.#columns.includes("lat") && !this.#matrix && !this.#columns.includes("speed");
  }

  #tools() {
    const degrees = this.#columns.includes("lat");
    const speedField =
      this.#asksForSpeed &&
      h(
        "label",
        { class: "inline" },
        "Speed ",
        h("input", {
          type: "number",
          min: 1,
          step: "any",
          value: settings.speed,
          placeholder: 40,
          class: "short",
          onchange: (event) => set("speed", event.target.value),
        }),
        " km/h",
      );
    const swap =
      !this.#matrix &&
      (degrees || this.#columns.includes("x")) &&
      h(
        "button",
        { type: "button", class: "quiet", onclick: () => this.#swapPlaces(degrees) },
        degrees ? "Use x and y instead" : "Use latitude and longitude instead",
      );
    const matrix =
      this.#matrix &&
      h("span", { class: "hint" }, "Travel times come from a matrix, so stops are neither added nor removed here.");
    return h(
      "div",
      { class: "table-tools" },
      speedField,
      swap,
      matrix,
      h(
        "button",
        { type: "button", class: "primary", id: "apply-table", onclick: () => this.#apply() },
        "Use these stops",
      ),
    );
  }

  #head() {
    const cells = this.#columns.map((name, column) =>
      h(
        "th",
        { scope: "col" },
        name,
        column > 0 &&
          h(
            "button",
            {
              type: "button",
              class: "quiet remove",
              "aria-label": `Remove the column ${name}`,
              title: "Remove the column",
              onclick: () => this.#removeColumn(column),
            },
            icon("drop"),
          ),
      ),
    );
    return h("tr", {}, h("th", { class: "corner" }, h("span", { class: "unseen" }, "Row")), cells);
  }

  #line(row) {
    const first = row === 0;
    const cells = this.#columns.map((name, column) =>
      h(
        "td",
        {},
        h("input", {
          style: `min-width: calc(${this.#widths[column]}ch + 1.5rem)`,
          value: this.#rows[row][column] ?? "",
          placeholder: first ? HINTS[name] : null,
          "aria-label": `${name}, row ${row + 1}`,
          "data-row": row,
          "data-column": column,
          spellcheck: "false",
          autocomplete: "off",
          oninput: (event) => (this.#rows[row][column] = event.target.value),
        }),
      ),
    );
    const remove =
      !first &&
      !this.#matrix &&
      h(
        "button",
        {
          type: "button",
          class: "quiet remove",
          "aria-label": `Remove row ${row + 1}`,
          title: "Remove the row",
          onclick: () => this.#removeRow(row),
        },
        icon("drop"),
      );
    return h(
      "tr",
      { "data-line": row },
      h("th", { scope: "row" }, h("span", {}, first ? "depot" : row), remove),
      cells,
    );
  }

  #foot() {
    const add = (event) => {
      const name = event.target.value;
      if (name) this.#addColumn(name);
    };
    const options = Object.entries(FURTHER)
      .filter(([name]) => !this.#columns.includes(name))
      .map(([name, what]) => h("option", { value: name }, `${name} – ${what}`));
    return h(
      "div",
      { class: "table-tools" },
      !this.#matrix && h("button", { type: "button", onclick: () => this.#addRow() }, "Add a stop"),
      h(
        "label",
        { class: "inline" },
        h("span", { class: "unseen" }, "Add a column"),
        h("select", { onchange: add }, h("option", { value: "" }, "Add a rule …"), options),
      ),
      h("span", { class: "hint" }, "Rows and cells can be pasted from a spreadsheet."),
    );
  }

  #drawLong() {
    const area = h("textarea", { class: "as-text", rows: 24, spellcheck: "false", "aria-label": "Stops as CSV" });
    area.value = render([this.#columns, ...this.#rows]);
    area.addEventListener("change", () => {
      const [columns, ...rows] = parse(area.value);
      [this.#columns, this.#rows] = [columns ?? BLANK, rows];
    });
    this.#pane.replaceChildren(this.#tools(), problemLine(), area);
  }

  /** What no table holds is shown as it is. */
  #drawText(instance) {
    this.#of = instance;
    const area = h("textarea", {
      class: "as-text",
      rows: 24,
      spellcheck: "false",
      "aria-label": "The instance as JSON",
    });
    area.value = JSON.stringify(instance, null, 1).replace(INNERMOST, (list) => list.replace(/\n\s*/g, " "));
    const use = () => this.#use({ file: { name: `${instance.name || "stops"}.json`, text: area.value } });
    const tools = h(
      "div",
      { class: "table-tools" },
      h("span", { class: "hint" }, "A table cannot hold all of this instance; here it is as JSON."),
      h("button", { type: "button", class: "primary", onclick: use }, "Use this"),
    );
    this.#pane.replaceChildren(tools, problemLine(), area);
  }

  #apply() {
    const lines = [];
    const filled = this.#rows.filter((row, at) => row.some((cell) => cell.trim()) && lines.push(at));
    if (filled.length < 2) return this.#say("Type the depot into the first row and at least one stop below it.");
    const used = this.#columns.map((_, column) => column === 0 || filled.some((row) => row[column]?.trim()));
    const kept = (row) => this.#columns.map((_, column) => row[column] ?? "").filter((_, column) => used[column]);
    const text = render([kept(this.#columns), ...filled.map(kept)]);
    const beside = this.#matrix ? { matrix: this.#matrix } : this.#asksForSpeed ? speed() : {};
    return this.#use({ file: { name: `${this.#title}.csv`, text }, ...beside }, lines);
  }

  /** Reads what was typed; a stop that was in the plan keeps its place, a new one goes where it lengthens least. */
  async #use(request, lines = []) {
    if (job) return;
    this.#say("");
    let read;
    try {
      read = await call("/convert", { ...request, to: "json" });
    } catch (error) {
      return this.#blame(error.message, lines);
    }
    this.#of = read.instance;
    const { instance, tour } = store.present;
    document.dispatchEvent(new CustomEvent("stops-read", { detail: read }));
    const kept = tour && carried(new Problem(instance), tour, new Problem(read.instance));
    if (kept) return edit({ instance: read.instance, tour: kept, locked: 0 }, "The stops have changed.");
    store.commit({ instance: read.instance, tour: null, plan: null, trouble: null, locked: 0 });
    announce("The stops have been read.");
  }

  #say(sentence) {
    $(".problem", this.#pane).textContent = sentence;
    for (const row of this.#pane.querySelectorAll("tr.wrong-line")) row.classList.remove("wrong-line");
  }

  /** Says what is wrong, and marks the row where the service names a line. */
  #blame(sentence, lines) {
    const [, line, rest] = /^[^:]*:(\d+): (.*)$/s.exec(sentence) ?? [];
    const row = lines[Number(line) - 2];
    if (row === undefined) return this.#say(sentence.replace(/^[^:]*:(\d+:)? /, ""));
    this.#say(`${row ? `Row ${row}` : "The depot"}: ${rest}`);
    $(`tr[data-line="${row}"]`, this.#pane)?.classList.add("wrong-line");
  }

  #addRow() {
    this.#rows.push(this.#columns.map(() => ""));
    this.#draw();
    $(`[data-row="${this.#rows.length - 1}"][data-column="0"]`, this.#pane).focus();
  }

  #removeRow(row) {
    this.#rows.splice(row, 1);
    this.#draw();
    $(`[data-row="${Math.min(row, this.#rows.length - 1)}"][data-column="0"]`, this.#pane)?.focus();
  }

  #addColumn(name) {
    this.#columns.push(name);
    for (const row of this.#rows) row.push("");
    this.#draw();
    $(`[data-row="1"][data-column="${this.#columns.length - 1}"]`, this.#pane)?.focus();
  }

  #removeColumn(column) {
    this.#columns.splice(column, 1);
    for (const row of this.#rows) row.splice(column, 1);
    this.#draw();
  }

  #swapPlaces(degrees) {
    const [from, to] = degrees
      ? [
          ["lon", "lat"],
          ["x", "y"],
        ]
      : [
          ["x", "y"],
          ["lon", "lat"],
        ];
    this.#columns = this.#columns.map((name) => to[from.indexOf(name)] ?? name);
    this.#draw();
  }

  #key(event) {
    const cell = event.target.closest("input");
    const step = { ArrowUp: -1, ArrowDown: 1, Enter: 1 }[event.key];
    if (!cell || !step) return;
    event.preventDefault();
    const row = Number(cell.dataset.row) + step;
    if (row === this.#rows.length && event.key === "Enter" && !this.#matrix) return this.#addRow();
    $(`[data-row="${row}"][data-column="${cell.dataset.column}"]`, this.#pane)?.focus();
  }

  /** A block of cells from a spreadsheet spreads from the cell it is pasted into. */
  #paste(event) {
    const text = event.clipboardData.getData("text/plain").replace(/\r?\n$/, "");
    event.stopPropagation();
    if (!/[\t\n]/.test(text)) return;
    event.preventDefault();
    const [top, left] = [Number(event.target.dataset.row), Number(event.target.dataset.column)];
    for (const [down, line] of text.split(/\r?\n/).entries()) {
      if (top + down >= this.#rows.length && !this.#matrix) this.#rows.push(this.#columns.map(() => ""));
      for (const [across, cell] of line.split("\t").entries()) {
        if (this.#rows[top + down] && left + across < this.#columns.length)
          this.#rows[top + down][left + across] = cell.trim();
      }
    }
    this.#draw();
  }
}

const problemLine = () => h("p", { class: "problem", role: "alert" });
