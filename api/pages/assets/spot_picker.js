// A small field to tap: pointing at a spot is faster than entering numbers, and the numbers follow.

import { svg } from "./dom.js";

/** A finger is no finer than this. */
const STEP_YD = 0.5;

const LINES_EVERY_YD = 10;

/**
 * A picture of the field; a tap or a drag calls `picked(x_yd, y_yd)`.
 *
 * @param {{ length_yd: number, width_yd: number, end_zone_yd: number }} field } field
 * @param {(x_yd: number, y_yd: number) => void} picked
 * @returns {{element: SVGElement, show: (x_yd: number, y_yd: number) => void}} `show` moves the mark
 */
export function spotPicker({ length_yd, width_yd, end_zone_yd }, picked) {
  const mark = svg("g", { class: "mark" }, svg("path", { d: `M0 ${-width_yd}V${width_yd}` }), svg("circle", { r: 1.8 }));
  const lines = Array.from({ length: Math.floor(length_yd / LINES_EVERY_YD) + 1 }, (_, index) => LINES_EVERY_YD * index);
  const element = svg(
    "svg",
    { class: "spot-picker", viewBox: `${-end_zone_yd} 0 ${length_yd + 2 * end_zone_yd} ${width_yd}`, role: "img", "aria-label": "The field: tap the spot" },
    svg("rect", { class: "zone", x: -end_zone_yd, width: length_yd + 2 * end_zone_yd, height: width_yd }),
    svg("rect", { class: "turf", width: length_yd, height: width_yd }),
    lines.map((x) => svg("path", { class: "line", d: `M${x} 0V${width_yd}` })),
    lines.slice(1, -1).map((x) => svg("text", { x, y: width_yd - 3 }, String(Math.min(x, length_yd - x)))),
    mark,
  );
  /** @param {number} x_yd @param {number} y_yd */
  const show = (x_yd, y_yd) => {
    if (Number.isFinite(x_yd + y_yd)) mark.setAttribute("transform", `translate(${x_yd} ${width_yd - y_yd})`);
  };
  /** @param {PointerEvent} event */
  const pick = (event) => {
    const { x, y } = new DOMPoint(event.clientX, event.clientY).matrixTransform(element.getScreenCTM()?.inverse());
    const [along, across] = [within(x, -end_zone_yd, length_yd + end_zone_yd), within(width_yd - y, 0, width_yd)];
    show(along, across);
    picked(along, across);
  };
  element.addEventListener("pointerdown", (event) => {
    element.setPointerCapture(event.pointerId);
    pick(event);
  });
  element.addEventListener("pointermove", (event) => element.hasPointerCapture(event.pointerId) && pick(event));
  return { element, show };
}

/** @param {number} value @param {number} low @param {number} high */
const within = (value, low, high) => Math.min(high, Math.max(low, Math.round(value / STEP_YD) * STEP_YD));
