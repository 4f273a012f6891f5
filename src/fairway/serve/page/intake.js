// Opening stops: a file dropped or chosen, a table pasted, an example.

import { call } from "./api.js";
import { $, h, s } from "./dom.js";
import { Problem } from "./problem.js";
import { View, flat } from "./projection.js";
import { set, settings, speed } from "./settings.js";
import { count } from "./words.js";

/** A file as a request has it: text where it is text, else base64. */
async function packed(file) {
  const bytes = new Uint8Array(await file.arrayBuffer());
  try {
    return { name: file.name, text: new TextDecoder("utf-8", { fatal: true }).decode(bytes) };
  } catch {
    const pieces = [];
    for (let at = 0; at < bytes.length; at += 0x8000)
      pieces.push(String.fromCharCode(...bytes.subarray(at, at + 0x8000)));
    return { name: file.name, base64: btoa(pieces.join("")) };
  }
}

/** The instance of a file; the speed goes with it only where the file asks for one, since it stays from file to file. */
async function converted(request) {
  try {
    return await call("/convert", request);
  } catch (error) {
    const known = speed();
    if (!known.speed || request.matrix || !asksForSpeed(error)) throw error;
    return call("/convert", { ...request, ...known });
  }
}

const asksForSpeed = (error) => /give .*\bspeed\b/.test(error.message);

/** The stops as dots. */
function thumbnail(problem) {
  if (!problem.places) return null;
  const places = flat(problem, false);
  const view = new View(places, 72, 48, 4);
  const dots = places.map((place, node) => {
    const [cx, cy] = view.at(place);
    return s("circle", { cx, cy, r: node ? 2 : 3.5, class: node ? null : "home" });
  });
  return s("svg", { class: "thumbnail", viewBox: "0 0 72 48", "aria-hidden": "true" }, dots);
}

export class Intake {
  #opened;
  #latest = null;
  /** What was tried last, so that it can be tried again once the speed is there. */

  /** @param opened called with the instance and the warnings of its file */
  constructor(opened) {
    this.#opened = opened;
    const input = $("#file-input");
    $("#choose").addEventListener("click", () => input.click());
    input.addEventListener("change", () => this.#files([...input.files]).finally(() => (input.value = "")));
    const field = $("#speed");
    field.value = settings.speed;
    field.addEventListener("change", () => {
      set("speed", field.value);
      if (this.#latest && field.value) this.#read(this.#latest);
    });
    $("#matrix-input").addEventListener("change", () => this.#latest && this.#read(this.#latest));
    this.#dropping();
    addEventListener("paste", (event) => this.#paste(event));
  }

  /** The examples of the service, each with a small map. */
  async examples() {
    const list = $("#examples");
    list.setAttribute("aria-busy", "true");
    const found = await call("/examples");
    list.replaceChildren(...found.map((example) => h("li", {}, this.#example(example))));
    list.removeAttribute("aria-busy");
  }

  #example({ name, title, instance }) {
    const problem = new Problem(instance);
    return h(
      "button",
      { type: "button", class: "example", "data-example": name, onclick: () => this.#opened(instance, []) },
      h("b", {}, title),
      thumbnail(problem),
      h("small", {}, count(problem.nodes - 1, "stop")),
    );
  }

  #dropping() {
    const veil = $("#veil");
    let depth = 0;
    const files = (event) => event.dataTransfer?.types.includes("Files");
    const show = (event, by) => {
      if (!files(event)) return;
      event.preventDefault();
      depth = Math.max(0, depth + by);
      veil.hidden = depth === 0;
    };
    addEventListener("dragenter", (event) => show(event, 1));
    addEventListener("dragleave", (event) => show(event, -1));
    addEventListener("dragover", (event) => files(event) && event.preventDefault());
    addEventListener("drop", (event) => {
      if (!files(event)) return;
      event.preventDefault();
      [depth, veil.hidden] = [0, true];
      this.#files([...event.dataTransfer.files]);
    });
  }

  async #files(files) {
    if (files.length) await this.#read({ file: await packed(files[0]) });
  }

  #paste(event) {
    if (event.target.closest?.("input, textarea, dialog")) return;
    const file = event.clipboardData.files[0];
    const text = event.clipboardData.getData("text/plain");
    if (file) this.#files([file]);
    else if (text.trim()) this.#read({ file: { name: "pasted", text } });
    else return;
    event.preventDefault();
  }

  async #read(request) {
    this.#latest = request;
    const line = $("#intake-problem");
    line.textContent = "";
    const matrix = $("#matrix-input").files[0];
    const beside = matrix ? { matrix: await packed(matrix) } : {};
    try {
      const { instance, warnings } = await converted({ ...request, ...beside, to: "json" });
      this.#latest = null;
      this.#opened(instance, warnings);
    } catch (error) {
      document.body.dataset.screen = "start";
      line.textContent = error.message;
      if (asksForSpeed(error)) $("#speed").focus();
    }
  }
}
