// A drawing of a measurement: its value and uncertainty against the rule's limit.

import { svg } from "./dom.js";

const WIDTH = 320;
const HEIGHT = 58;
const BASELINE = 40;
const CURVE_HEIGHT = 33;
const STEPS = 60;

/** The curve reaches this many standard deviations to each side; 3 hold 99.7% of it. */
const REACH = 3;

/**
 * A call's margin as a bell curve over an axis with the limit at 0; null if nothing was measured with an error.
 *
 * The share of the curve to the right of the limit is the call's probability, and the number beside it is the curve's
 * middle: the service sends no margin that disagrees with the probability.
 */
export function gauge(call) {
  if (call.margin === null || !call.sigma || call.unit === "count") return null;
  const { margin, sigma } = call;
  const low = Math.min(0, margin - REACH * sigma) - 0.4 * sigma;
  const high = Math.max(0, margin + REACH * sigma) + 0.4 * sigma;
  const x = (value) => (WIDTH * (value - low)) / (high - low);
  const bell = (from, to) => {
    const values = Array.from({ length: STEPS + 1 }, (_, i) => from + ((to - from) * i) / STEPS);
    const points = values.map((value) => `${x(value)},${BASELINE - CURVE_HEIGHT * Math.exp(-(((value - margin) / sigma) ** 2) / 2)}`);
    return `M${x(from)},${BASELINE}L${points.join("L")}L${x(to)},${BASELINE}Z`;
  };
  const zero = Math.max(low, Math.min(high, 0));
  return svg(
    "svg",
    {
      class: "gauge",
      viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
      role: "img",
      "aria-label": gaugeText(call),
      "data-share": shareAbove(margin / sigma).toFixed(4),
    },
    zero > low && svg("path", { class: "against", d: bell(low, zero) }),
    zero < high && svg("path", { class: "for", d: bell(zero, high) }),
    svg("line", { class: "axis", x1: 0, x2: WIDTH, y1: BASELINE, y2: BASELINE }),
    svg("line", { class: "mean", x1: x(margin), x2: x(margin), y1: BASELINE - CURVE_HEIGHT, y2: BASELINE + 5 }),
    svg("line", { class: "limit", x1: x(0), x2: x(0), y1: 2, y2: BASELINE + 5 }),
    svg("text", { x: x(0), y: HEIGHT - 2, "text-anchor": x(0) < 30 ? "start" : x(0) > WIDTH - 30 ? "end" : "middle" }, "limit"),
  );
}

/** The share of a normal distribution above the limit, by the curve that is drawn. */
function shareAbove(sigmas) {
  const step = 0.01;
  let above = 0;
  for (let z = -sigmas; z < 8; z += step) above += step * Math.exp(-((z + step / 2) ** 2) / 2);
  return Math.min(1, above / Math.sqrt(2 * Math.PI));
}

/** The same in words: "+0.31 ± 0.12 mm, the limit is 0". */
export const gaugeText = (call) => `${call.measured}, the limit is 0`;
