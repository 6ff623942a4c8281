// Labels that never cover what matters: each stands free of figures and of other labels, with a line to what it names.

import { svg } from "./dom.js";

/** A label: `at` is the place that it names, and it goes `away` from there; null where any way is good. @typedef {{ text: string, at: Point, away: ?Point, tone: string }} Label */

const DIRECTIONS = 16;
const REACHES_PX = [34, 54, 80, 112, 150, 200];
const HEIGHT_PX = 22;
export const CHARACTER_PX = 8.2; // of the labels' font at 15 px
const PADDING_PX = 6;

/**
 * Place labels.
 *
 * @param {Label[]} labels each {text, at: [x, y], away: [x, y] or null, tone}: `at` is what it names, and it goes `away` from there
 * @param {Box[]} taken boxes that must stay visible; those of the labels are added
 * @param {Size} bounds of what labels must stay in
 * @returns SVG elements
 */
export function placeLabels(labels, taken, bounds) {
  return labels
    .filter(({ at }) => inside(at, bounds))
    .map((label) => {
      const box = freePlace(label, taken, bounds);
      taken.push(box);
      return draw(label, box);
    });
}

/** The box around points, a little wider. @param {readonly Point[]} points @param {number} [margin] @returns {Box} */
export function boxAround(points, margin = 4) {
  const [xs, ys] = [points.map(([x]) => x), points.map(([, y]) => y)];
  const [x, y] = [Math.min(...xs) - margin, Math.min(...ys) - margin];
  return { x, y, width: Math.max(...xs) + margin - x, height: Math.max(...ys) + margin - y };
}

/** @param {Point} at @param {Size} bounds */
const inside = ([x, y], { width, height }) => x >= 0 && y >= 0 && x <= width && y <= height;

/** @param {Label} label @param {Box[]} taken @param {Size} bounds */
function freePlace({ text, at: [x, y], away }, taken, bounds) {
  const width = text.length * CHARACTER_PX + 2 * PADDING_PX;
  const first = away && Math.hypot(...away) > 1e-6 ? Math.atan2(away[1], away[0]) : -Math.PI / 2;
  /** @type {Box} */
  let best = { x, y, width, height: HEIGHT_PX };
  let least = Infinity; // of what it covers, square pixels
  for (const reach of REACHES_PX) {
    for (let turn = 0; turn < DIRECTIONS; turn += 1) {
      // 0, +1, -1, +2, -2, ... sixteenths from the preferred direction
      const angle = first + (turn % 2 ? 1 : -1) * Math.ceil(turn / 2) * ((2 * Math.PI) / DIRECTIONS);
      const middle = [x + Math.cos(angle) * (reach + width / 2), y + Math.sin(angle) * reach];
      const box = clampInto({ x: middle[0] - width / 2, y: middle[1] - HEIGHT_PX / 2, width, height: HEIGHT_PX }, bounds);
      const cost = taken.reduce((sum, other) => sum + overlap(box, other), 0);
      if (cost === 0) return box;
      if (cost < least) [best, least] = [box, cost];
    }
  }
  return best;
}

/** @param {Box} box @param {Size} bounds @returns {Box} */
function clampInto(box, bounds) {
  /** @param {number} value @param {number} most */
  const clamp = (value, most) => Math.max(2, Math.min(value, most - 2));
  return { ...box, x: clamp(box.x, bounds.width - box.width), y: clamp(box.y, bounds.height - box.height) };
}

/** @param {Box} a @param {Box} b */
function overlap(a, b) {
  /** @param {number} low @param {number} length @param {number} other @param {number} otherLength */
  const side = (low, length, other, otherLength) => Math.min(low + length, other + otherLength) - Math.max(low, other);
  return Math.max(0, side(a.x, a.width, b.x, b.width)) * Math.max(0, side(a.y, a.height, b.y, b.height));
}

/** @param {Label} label @param {Box} box */
function draw({ text, at: [x, y], tone }, box) {
  const near = [Math.max(box.x, Math.min(x, box.x + box.width)), Math.max(box.y, Math.min(y, box.y + box.height))];
  return svg(
    "g",
    { class: `label on-${tone}` },
    svg("line", { class: "leader", x1: x, y1: y, x2: near[0], y2: near[1] }),
    svg("rect", { x: box.x, y: box.y, width: box.width, height: box.height, rx: 6 }),
    svg("text", { x: box.x + box.width / 2, y: box.y + box.height / 2 + 5, "text-anchor": "middle" }, text),
  );
}
