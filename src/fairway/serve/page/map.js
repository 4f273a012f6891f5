// The map: stops, the tour from pale to dark, what is wrong where; linked with the list by the stop that is looked at.

import { $, announce, paced, s } from "./dom.js";
import { View, flat } from "./projection.js";
import { settings } from "./settings.js";
import { store } from "./store.js";
import { credit, tiles } from "./tiles.js";

const MARGIN = 44;
const BUTTONS = 36;
/** Pixels at the right that the zoom buttons take. */
const MOST_NUMBERED = 60;
const MOST_LARGE = 300;
const STEP = 1.5;
/** Of one press of a zoom button. */

/** The stops that cannot be served together. */
const collidingNodes = () =>
  new Set((store.present.trouble?.conflicts ?? []).flatMap((conflict) => conflict.stops));

export class TourMap {
  #svg = $("#map");
  #pane = $("#map-pane");
  #view = null;
  #sheet = null;
  #points = [];

  constructor() {
    new ResizeObserver(() => this.fit()).observe(this.#pane);
    for (const button of this.#pane.querySelectorAll("[data-zoom]")) {
      button.addEventListener("click", () => this.#press(button.dataset.zoom));
    }
    this.#svg.addEventListener("wheel", (event) => this.#wheel(event), { passive: false });
    this.#svg.addEventListener("pointerdown", (event) => this.#drag(event));
    this.#svg.addEventListener("pointerleave", () => store.look(null));
    this.#svg.addEventListener("keydown", (event) => this.#key(event));
  }

  /** Shows all stops, as when another instance is opened. */
  fit() {
    this.#view = null;
    this.draw();
  }

  draw = paced(this.#svg, () => this.#draw());

  /** Marks the stop that is looked at, without drawing the rest again. */
  mark() {
    for (const marker of this.#svg.querySelectorAll(".looked")) marker.classList.remove("looked");
    if (store.looked === null) return;
    const found = this.#svg.querySelectorAll(`[data-node="${store.looked}"]`);
    for (const marker of found) {
      marker.classList.add("looked");
      if (marker.matches(".marker")) marker.parentNode.append(marker);
    }
  }

  #draw() {
    const { problem } = store;
    this.#pane.hidden = !problem?.places;
    if (!problem?.places || !this.#svg.clientWidth) return;
    const [width, height] = [this.#svg.clientWidth, this.#svg.clientHeight];
    const tiled = problem.geographic && settings.tiles !== "";
    if (this.#sheet?.problem !== problem || this.#sheet.tiled !== tiled) {
      this.#sheet = { problem, tiled, places: flat(problem, tiled) };
      this.#view = null;
    }
    this.#view ??= new View(this.#sheet.places, width - BUTTONS, height, Math.min(MARGIN, width / 6));
    this.#points = this.#sheet.places.map((place) => this.#view.at(place));
    $("#credit").hidden = !tiled;
    $("#credit").textContent = tiled ? credit(settings.tiles) : "";
    const { tour } = store.shown;
    this.#svg.replaceChildren(
      s("g", { class: "tiles" }, tiled ? tiles(settings.tiles, this.#view, width, height) : []),
      s("g", { class: "legs" }, tour ? this.#legs(problem, tour) : []),
      s("g", { class: "labels" }, this.#labels(problem, width, height)),
      s("g", { class: "markers" }, this.#markers(problem, tour)),
    );
    const what = tour ? "the tour" : "stops";
    this.#svg.setAttribute(
      "aria-label",
      `Map of ${what}: ${problem.nodes - 1} stops. Arrow keys go from stop to stop, plus and minus zoom.`,
    );
    this.mark();
  }

  #legs(problem, tour) {
    const nodes = [0, ...tour, ...(problem.end === null ? [] : [problem.end])];
    return nodes.slice(1).flatMap((node, at) => {
      const [[x1, y1], [x2, y2]] = [this.#points[nodes[at]], this.#points[node]];
      const line = s("line", { class: "leg", x1, y1, x2, y2, "data-node": node });
      line.style.setProperty("--along", `${Math.round((100 * at) / Math.max(1, nodes.length - 2))}%`);
      if (Math.hypot(x2 - x1, y2 - y1) < 34) return [line];
      const turn = (Math.atan2(y2 - y1, x2 - x1) * 180) / Math.PI;
      const where = `translate(${(x1 + x2) / 2} ${(y1 + y2) / 2}) rotate(${turn})`;
      const head = s("path", { class: "head", d: "M-4 -4L4 0L-4 4Z", transform: where, "data-node": node });
      head.style.setProperty("--along", line.style.getPropertyValue("--along"));
      return [line, head];
    });
  }

  #markers(problem, tour) {
    const places = new Map((tour ?? []).map((node, at) => [node, at + 1]));
    const broken = new Set((store.shown.plan?.violations ?? []).map((each) => each.node));
    const colliding = collidingNodes();
    const numbered = problem.nodes <= MOST_NUMBERED;
    const radius = numbered ? 11 : problem.nodes <= MOST_LARGE ? 6 : 3.5;
    const markers = this.#points.map(([x, y], node) => {
      const at = places.get(node);
      const kinds = ["marker", node === 0 && "depot", node === problem.end && node !== 0 && "end"];
      kinds.push(broken.has(node) && "broken", colliding.has(node) && "colliding");
      kinds.push(tour && at === undefined && node && node !== problem.end && "out", !tour && node && "unplanned");
      const shape =
        node === 0 || node === problem.end
          ? s("rect", { x: -9, y: -9, width: 18, height: 18, rx: 4 })
          : s("circle", { r: radius });
      const look = () => store.look(node);
      return s(
        "g",
        {
          class: kinds.filter(Boolean).join(" "),
          transform: `translate(${x} ${y})`,
          "data-node": node,
          onpointerenter: look,
          onclick: () => this.#show(node),
        },
        s("circle", { class: "halo", r: radius + 6 }),
        shape,
        numbered && at !== undefined && s("text", { y: 3.7, "text-anchor": "middle" }, at),
      );
    });
    return [...markers.slice(1), markers[0]]; // the depot above all others
  }

  /** Names beside their stops wherever they hide nothing. */
  #labels(problem, width, height) {
    const taken = this.#points.map(([x, y]) => [x - 12, y - 12, x + 12, y + 12]);
    const buttons = $(".zoom", this.#pane);
    taken.push([width - BUTTONS - 12, 0, width, buttons.offsetTop + buttons.offsetHeight + 4]);
    const free = (box) =>
      box[0] > 2 &&
      box[2] < width - 2 &&
      box[1] > 2 &&
      box[3] < height - 2 &&
      taken.every((other) => box[0] > other[2] || box[2] < other[0] || box[1] > other[3] || box[3] < other[1]);
    const colliding = collidingNodes();
    return this.#points.flatMap(([x, y], node) => {
      const beside = colliding.has(node) ? 22 : 16; // beyond the ring
      const name = problem.names[node];
      const text = name.length > 22 ? `${name.slice(0, 21)}…` : name;
      const wide = 7 * text.length + 4;
      const spots = [
        [x + beside, y + 4, "start"],
        [x - beside, y + 4, "end"],
        [x, y + 26, "middle"],
        [x, y - 17, "middle"],
      ];
      for (const [left, base, anchor] of spots) {
        const from = anchor === "start" ? left : anchor === "end" ? left - wide : left - wide / 2;
        const box = [from, base - 11, from + wide, base + 3];
        if (!free(box)) continue;
        taken.push(box);
        return [s("text", { x: left, y: base, "text-anchor": anchor, "data-node": node }, text)];
      }
      return [];
    });
  }

  #show(node) {
    store.look(node);
    $(`#rows [data-node="${node}"]`)?.scrollIntoView({ block: "nearest", behavior: "smooth" });
  }

  #press(how) {
    if (how === "fit") return this.fit();
    const middle = [this.#svg.clientWidth / 2, this.#svg.clientHeight / 2];
    this.#view?.zoom(how === "in" ? STEP : 1 / STEP, middle);
    this.draw();
  }

  #wheel(event) {
    event.preventDefault();
    this.#view?.zoom(Math.exp(-event.deltaY / 400), [event.offsetX, event.offsetY]);
    this.draw();
  }

  /** With a mouse the map is dragged; a finger scrolls the page, and the buttons zoom. */
  #drag(event) {
    if (event.pointerType === "touch" || event.button !== 0) return;
    const move = (moved) => {
      this.#svg.setPointerCapture(event.pointerId);
      this.#view?.move(moved.movementX, moved.movementY);
      this.draw();
    };
    const done = () => this.#svg.removeEventListener("pointermove", move);
    this.#svg.addEventListener("pointermove", move);
    for (const end of ["pointerup", "pointercancel"]) this.#svg.addEventListener(end, done, { once: true });
  }

  #key(event) {
    const { problem, shown } = store;
    const order = [0, ...(shown.tour ?? problem.stops)];
    const at = order.indexOf(store.looked);
    const to = {
      ArrowRight: at + 1,
      ArrowDown: at + 1,
      ArrowLeft: at - 1,
      ArrowUp: at - 1,
      Home: 0,
      End: order.length - 1,
    }[event.key];
    if (to !== undefined) {
      const node = order[Math.max(0, Math.min(order.length - 1, to))];
      this.#show(node);
      announce($(`#rows [data-node="${node}"]`)?.getAttribute("aria-label") ?? problem.names[node]);
    } else if (event.key === "+" || event.key === "=") this.#press("in");
    else if (event.key === "-") this.#press("out");
    else if (event.key === "0") this.fit();
    else return;
    event.preventDefault();
  }
}
