// Elements made from data: every text becomes a text node, so that no name can be markup.

const SVG = "http://www.w3.org/2000/svg";

/** An HTML element; attributes that are null or false are left out, `onclick` and the like are listeners. */
export function h(tag, attributes, ...children) {
  return furnished(document.createElement(tag), attributes, children);
}

/** An SVG element. */
export function s(tag, attributes, ...children) {
  return furnished(document.createElementNS(SVG, tag), attributes, children);
}

function furnished(element, attributes, children) {
  for (const [key, value] of Object.entries(attributes ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else element.setAttribute(key, value === true ? "" : value);
  }
  element.append(...children.flat(2).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

export const $ = (selector, within = document) => within.querySelector(selector);

/** Tells a screen reader what has just happened. */
export function announce(sentence) {
  const region = $("#announcer");
  region.textContent = "";
  requestAnimationFrame(() => region.append(sentence));
}

const SLOW = 50;
/** Milliseconds. */

/** Draws into an element in the next frame, however often it is asked to; slow drawings leave time to the rest. */
export function paced(element, draw) {
  let free = 0;
  const now = () => {
    const began = performance.now();
    element.removeAttribute("aria-busy");
    draw();
    const taken = performance.now() - began;
    free = began + (taken > SLOW ? 5 * taken : 0);
  };
  return () => {
    if (element.hasAttribute("aria-busy")) return;
    element.setAttribute("aria-busy", "true");
    setTimeout(() => requestAnimationFrame(now), Math.max(0, free - performance.now()));
  };
}

const ICONS = {
  lock: "M5 7V5a3 3 0 0 1 6 0v2M3.5 7h9v6.5h-9z",
  unlock: "M5 7V5a3 3 0 0 1 5.8-1M3.5 7h9v6.5h-9z",
  drop: "M4 4l8 8M12 4l-8 8",
  back: "M8 3v10M3 8h10",
  grip: "M6 4h.01M10 4h.01M6 8h.01M10 8h.01M6 12h.01M10 12h.01",
  undo: "M6 3L3 6l3 3M3 6h6a4 4 0 0 1 0 8H6",
  redo: "M10 3l3 3-3 3M13 6H7a4 4 0 0 0 0 8h3",
  warning: "M8 2.5L14.5 13.5h-13zM8 6.5v3.2M8 11.6h.01",
  check: "M3 8.5l3.2 3L13 4.5",
  wait: "M4 2.5h8M4 13.5h8M5 2.5v2l3 3.5-3 3.5v2M11 2.5v2L8 8l3 3.5v2",
};

/** A small drawing that stands beside words or under an accessible name. */
export function icon(name) {
  return s(
    "svg",
    { class: `icon icon-${name}`, viewBox: "0 0 16 16", "aria-hidden": "true" },
    s("path", { d: ICONS[name] }),
  );
}
