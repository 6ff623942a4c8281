// A drawing of a measurement: its value and uncertainty against the rule's limit.

import { svg } from "./dom.js";

const WIDTH = 320;
const HEIGHT = 58;
const BASELINE = 40;
const CURVE_HEIGHT = 33;
const STEPS = 60;

/** The curve reaches this many standard deviations to each side; 3 hold 99.7% of it. */
const REACH = 3;

/** Curves are drawn at this many points and at both sides of every step of a limit. */
const CLOSE = 1e-6;

/**
 * A margin as a bell curve over an axis with the limit at 0; null if nothing was measured with an error.
 *
 * Takes a call, or one of the things measured that a call rests on. The colored share of the bell is the probability:
 * what is to the right of the limit, or, where the limit is not one number, as much of every margin as agree there. The
 * number beside it is the bell's middle: the service sends no margin that disagrees with the probability.
 *
 * @param {Measured | ShownCall} measured
 */
export function gauge(measured) {
  if (measured.margin === null || !measured.sigma || measured.unit === "count") return null;
  const { margin, sigma } = measured;
  const graded = "limit" in measured ? measured.limit : [];
  const low = Math.min(0, margin - REACH * sigma) - 0.4 * sigma;
  const high = Math.max(0, margin + REACH * sigma) + 0.4 * sigma;
  /** @param {number} value */
  const x = (value) => (WIDTH * (value - low)) / (high - low);
  /** @param {number} value */
  const height = (value) => Math.exp(-(((value - margin) / sigma) ** 2) / 2);
  const accepted = acceptance(graded.length > 0 ? graded : [[0, 0], [0, 1]]);
  const steps = graded.length > 0 ? graded.map(([at]) => at) : [0];
  const at = [...Array.from({ length: STEPS + 1 }, (_, i) => low + ((high - low) * i) / STEPS), ...steps.flatMap((step) => [step - CLOSE, step + CLOSE])]
    .filter((value) => value >= low && value <= high)
    .sort((a, b) => a - b);
  /** @param {(margin: number) => number} share */
  const area = (share) => `M${x(low)},${BASELINE}L${at.map((value) => `${x(value)},${BASELINE - CURVE_HEIGHT * height(value) * share(value)}`).join("L")}L${x(high)},${BASELINE}Z`;
  return svg(
    "svg",
    {
      class: "gauge",
      viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
      role: "img",
      "aria-label": gaugeText(measured),
      "data-share": shareAccepted(accepted, margin, sigma).toFixed(4),
    },
    svg("path", { class: "against", d: area(() => 1) }),
    svg("path", { class: "for", d: area(accepted) }),
    svg("line", { class: "axis", x1: 0, x2: WIDTH, y1: BASELINE, y2: BASELINE }),
    svg("line", { class: "mean", x1: x(margin), x2: x(margin), y1: BASELINE - CURVE_HEIGHT, y2: BASELINE + 5 }),
    svg("line", { class: graded.length > 0 ? "limit graded" : "limit", x1: x(0), x2: x(0), y1: 2, y2: BASELINE + 5 }),
    svg("text", { x: x(0), y: HEIGHT - 2, "text-anchor": x(0) < 30 ? "start" : x(0) > WIDTH - 30 ? "end" : "middle" }, "limit"),
  );
}

/**
 * How many agree, at a margin, that a limit is met: straight lines between points, constant beyond them.
 *
 * @param {Point[]} points
 * @returns {(margin: number) => number}
 */
function acceptance(points) {
  return (value) => {
    const next = points.findIndex(([at]) => at > value);
    if (next === 0) return points[0][1];
    if (next < 0) return points[points.length - 1][1];
    const [[from, a], [to, b]] = [points[next - 1], points[next]];
    return a + ((b - a) * (value - from)) / (to - from);
  };
}

/** The share of the bell that is colored. @param {(margin: number) => number} accepted @param {number} margin @param {number} sigma */
function shareAccepted(accepted, margin, sigma) {
  const step = 0.01;
  let sum = 0;
  for (let z = -8; z < 8; z += step) sum += step * Math.exp(-((z + step / 2) ** 2) / 2) * accepted(margin + (z + step / 2) * sigma);
  return Math.min(1, sum / Math.sqrt(2 * Math.PI));
}

/** The same in words: "+0.31 ± 0.12 mm, the limit is 0". @param {{ measured: string }} measured */
export const gaugeText = (measured) => `${measured.measured}, the limit is 0`;
