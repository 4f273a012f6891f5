// From the coordinates of an instance to the screen.

const RADIANS = Math.PI / 180;

/** Web Mercator in units of the whole world, as tile servers cut it. */
export const mercator = ([lon, lat]) => {
  const bounded = Math.max(-85.05, Math.min(85.05, lat));
  return [lon / 360 + 0.5, 0.5 - Math.log(Math.tan(Math.PI / 4 + (bounded * RADIANS) / 2)) / (2 * Math.PI)];
};

/** How places lie on a flat sheet, y downwards: Mercator under tiles, else equirectangular or as they are. */
export function flat(problem, tiled) {
  if (problem.geographic && tiled) return problem.places.map(mercator);
  const middle = problem.places.reduce((sum, [, lat]) => sum + lat, 0) / problem.places.length;
  const narrow = problem.geographic ? Math.cos(middle * RADIANS) : 1;
  return problem.places.map(([x, y]) => [x * narrow, -y]);
}

/** Where the sheet lies on the screen: scale and offset. */
export class View {
  constructor(points, width, height, margin) {
    const [xs, ys] = [points.map(([x]) => x), points.map(([, y]) => y)];
    const [left, right, top, bottom] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
    const [across, down] = [Math.max(1, width - 2 * margin), Math.max(1, height - 2 * margin)];
    const fits = Math.min(across / (right - left), down / (bottom - top));
    this.scale = Number.isFinite(fits) ? fits : 1;
    this.x = width / 2 - (this.scale * (left + right)) / 2;
    this.y = height / 2 - (this.scale * (top + bottom)) / 2;
  }

  at([x, y]) {
    return [this.x + this.scale * x, this.y + this.scale * y];
  }

  move(dx, dy) {
    this.x += dx;
    this.y += dy;
  }

  /** Larger or smaller, while one point of the screen stays where it is. */
  zoom(factor, [x, y]) {
    this.x = x - (x - this.x) * factor;
    this.y = y - (y - this.y) * factor;
    this.scale *= factor;
  }
}
