// Dragging a stop to another place in the order: up and down in the list, or along the clock on the timeline.

const NEAR = 48;
/** Pixels from the edge of the window at which it scrolls. */
const THRESHOLD = 5;

/**
 * Follows a pointer from a row to where it is let go.
 * @param event the pointerdown
 * @param row the row that is taken
 * @param places finds the place under a pointer: (event, sideways) => { place, above } or null
 * @param marker the element that shows where the stop would go
 * @param drop called at the end, with the place or with null where the stop stays where it is
 */
export function drag(event, row, places, marker, drop) {
  const began = { x: event.clientX, y: event.clientY };
  const onLane = event.target.closest(".lane") !== null;
  const target = event.currentTarget;
  let [found, taken, latest] = [null, false, event];

  const follow = (moved) => {
    latest = moved;
    const [dx, dy] = [moved.clientX - began.x, moved.clientY - began.y];
    if (!taken && Math.hypot(dx, dy) < THRESHOLD) return;
    if (!taken) {
      taken = true;
      row.classList.add("taken");
      scroll();
    }
    found = places(moved, onLane && Math.abs(dx) > Math.abs(dy));
    marker.hidden = found === null;
    if (found) marker.style.top = `${found.above}px`;
    row.style.transform = `translate(${onLane ? dx : 0}px, ${dy}px)`;
  };
  const scroll = () => {
    if (!taken) return;
    if (latest.clientY < NEAR) scrollBy(0, -8);
    if (latest.clientY > innerHeight - NEAR) scrollBy(0, 8);
    requestAnimationFrame(scroll);
  };
  const end = (kept) => {
    for (const [name, listener] of listeners) target.removeEventListener(name, listener);
    removeEventListener("keydown", escape, true);
    row.classList.remove("taken");
    row.style.transform = "";
    marker.hidden = true;
    const wasTaken = taken;
    taken = false;
    drop(kept && wasTaken && found ? found.place : null);
  };
  const escape = (pressed) => {
    if (pressed.key === "Escape") end(false);
  };
  target.setPointerCapture(event.pointerId);
  const listeners = [
    ["pointermove", follow],
    ["pointerup", () => end(true)],
    ["pointercancel", () => end(false)],
  ];
  for (const [name, listener] of listeners) target.addEventListener(name, listener);
  addEventListener("keydown", escape, true);
}
