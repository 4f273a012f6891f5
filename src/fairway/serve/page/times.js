// Times, spans and numbers as a dispatcher reads them.

const DAY = 86400;

/** A number short enough to glance at. */
export function number(value) {
  if (value === null || value === undefined || !Number.isFinite(value)) return "";
  const size = Math.abs(value);
  return value.toLocaleString("en", { maximumFractionDigits: size >= 1000 ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : 3 });
}

/** The times of an instance: of day where its file had a clock, else plain numbers in its own unit. */
export class Times {
  constructor(clock) {
    this.clock = clock ?? null;
  }

  /** A moment, to the minute unless the seconds are asked for. */
  moment(time, exact = false) {
    if (time === null || time === undefined || !Number.isFinite(time)) return "";
    if (!this.clock) return number(time);
    let seconds = Math.round(time * this.clock.unit);
    if (!exact) seconds = Math.round(seconds / 60) * 60;
    const [day, within] = [Math.floor(seconds / DAY), ((seconds % DAY) + DAY) % DAY];
    const two = (part) => String(Math.floor(part)).padStart(2, "0");
    const text = `${two(within / 3600)}:${two((within % 3600) / 60)}${within % 60 ? `:${two(within % 60)}` : ""}`;
    return day || this.clock.several_days ? `${this.#day(day)} ${text}` : text;
  }

  #day(day) {
    if (!this.clock.origin) return `day ${day + 1}`;
    const date = new Date(`${this.clock.origin}T00:00:00Z`);
    date.setUTCDate(date.getUTCDate() + day);
    return date.toLocaleDateString("en-GB", { weekday: "short", day: "numeric", timeZone: "UTC" });
  }

  /** A stretch of time: "54 min", "1 h 30 min", "20 s", or a number. */
  span(value) {
    if (!this.clock) return number(value);
    const seconds = Math.round(value * this.clock.unit);
    if (seconds < 60) return `${seconds} s`;
    const minutes = Math.round(seconds / 60);
    const hours = Math.floor(minutes / 60);
    if (!hours) return `${minutes} min`;
    return minutes % 60 ? `${hours} h ${minutes % 60} min` : `${hours} h`;
  }

  /** A window in words. */
  window([opens, closes]) {
    if (closes === null) return opens > 0 ? `from ${this.moment(opens)}` : "";
    return `${this.moment(opens)}–${this.moment(closes)}`;
  }

  /** Round moments for an axis between two times, about so many. */
  ticks(from, to, about) {
    const unit = this.clock ? 60 / this.clock.unit : 1;
    const steps = this.clock
      ? [1, 2, 5, 10, 15, 30, 60, 120, 180, 240, 360, 720, 1440, 2880, 10080]
      : [1, 2, 5]
          .flatMap((digit) => Array.from({ length: 22 }, (_, power) => digit * 10 ** (power - 6)))
          .sort((a, b) => a - b);
    const step = unit * (steps.find((each) => (to - from) / (each * unit) <= about) ?? steps.at(-1));
    const ticks = [];
    for (let at = Math.ceil(from / step) * step; at <= to + step / 1e6 && ticks.length < 100; at += step)
      ticks.push(at);
    return ticks;
  }
}
