// What a person has chosen: how long to plan, for what, how fast one travels; kept in this browser.

const KEY = "fairway-settings";
const DEFAULTS = { seconds: 5, objective: "cost", relax: "drop", speed: "", tiles: "", theme: "auto" };

let kept = { ...DEFAULTS };
try {
  const found = JSON.parse(localStorage.getItem(KEY) ?? "{}");
  for (const key of Object.keys(DEFAULTS)) if (typeof found[key] === typeof DEFAULTS[key]) kept[key] = found[key];
} catch {
  kept = { ...DEFAULTS };
}

export const settings = kept;

export function set(key, value) {
  settings[key] = value;
  try {
    localStorage.setItem(KEY, JSON.stringify(settings));
  } catch {
    // a browser that keeps nothing still plans
  }
}

/** The speed as a request has it, or nothing. */
export const speed = () => (Number(settings.speed) > 0 ? { speed: Number(settings.speed) } : {});

/** Light, dark, or as the system has it. */
export function applyTheme() {
  document.documentElement.dataset.theme = settings.theme;
}
