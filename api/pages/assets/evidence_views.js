// The two views of a frame: as the camera sees it, and from straight above, to scale.

import { el, svg } from "./dom.js";
import { middle } from "./evidence_drawings.js";
import { CHARACTER_PX } from "./evidence_labels.js";

const CLOSE_MM = 260; // width of the part around the decisive figures: eight bases
const ABOVE_PX = 1600; // width of the picture from above
const MARGIN_MM = 15; // shown around the field
/** @typedef {import("./evidence_stage.js").Stage} Stage */

const SCALE_BARS_MM = [1, 2, 5, 10, 20, 50, 100, 200];

/** The camera's picture. Its coordinates are pixels. @type {View} */
export const cameraView = {
  name: "camera",
  unit: "px",
  path: (frame) => `${frame}.jpg?plain`,
  fits: (drawings, size) => size !== null && String(drawings.size_px) === String(size),
  place: ({ px }) => px,
  corners: ({ px }) => px,
  pixel: (point) => point,
  coordinates: (pixel) => pixel,
  marks: () => [],
};

/**
 * A part of the board from straight above. Its coordinates are millimeters on a plane.
 *
 * @param {Box} region in mm
 * @param {Plane} plane
 * @returns {View}
 */
export function aboveView(region, plane) {
  const scale = ABOVE_PX / region.width;
  const query = new URLSearchParams({
    x_mm: region.x.toFixed(2),
    y_mm: region.y.toFixed(2),
    width_mm: region.width.toFixed(2),
    height_mm: region.height.toFixed(2),
    px_per_mm: scale.toFixed(4),
    plane,
  });
  const exact = Number(scale.toFixed(4));
  const top = Number(region.y.toFixed(2)) + Number(region.height.toFixed(2));
  return {
    name: "above",
    unit: "mm",
    path: (frame) => `${frame}/above.jpg?${query}`,
    fits: (drawings, size) => size !== null && drawings.plane === plane,
    place: ({ above }) => above,
    corners: ({ above }) => above,
    pixel: ([x, y]) => [(x - Number(region.x.toFixed(2))) * exact - 0.5, (top - y) * exact - 0.5],
    coordinates: ([px, py]) => [(px + 0.5) / exact + Number(region.x.toFixed(2)), top - (py + 0.5) / exact],
    marks: (stage, drawings, taken) => scaleBar(stage, exact, plane, drawings, taken),
  };
}

/**
 * The part of the board around the decisive figures, or the whole field.
 *
 * @param {Drawings} drawings
 * @param {Service.DrawnField} field
 * @param {Service.FrameDrawing | undefined} decisive
 * @param {boolean} close
 * @param {Size} bounds
 * @returns {Box}
 */
export function regionOf(drawings, { length_mm, width_mm, end_zone_mm }, decisive, close, { width, height }) {
  if (!close) {
    return { x: -end_zone_mm - MARGIN_MM, y: -MARGIN_MM, width: length_mm + 2 * (end_zone_mm + MARGIN_MM), height: width_mm + 2 * MARGIN_MM };
  }
  const figures = decisive?.figures.filter(({ part }) => part !== "other") ?? [];
  /** @type {Point[][]} the first of these that is known */
  const places = [decisive?.gap?.ends.map(({ mm }) => mm) ?? [], figures.flatMap(({ mm }) => mm), drawings.spot ? [drawings.spot.mm] : []];
  const [x, y] = middle(places.find((found) => found.length) ?? [[length_mm / 2, width_mm / 2]]);
  const tall = CLOSE_MM * Math.min(1.2, Math.max(0.4, height / width));
  return { x: x - CLOSE_MM / 2, y: y - tall / 2, width: CLOSE_MM, height: tall };
}

/**
 * A bar of a round length, with the scale of the picture in words; labels keep off the box that is added to `taken`.
 *
 * @param {Stage} stage
 * @param {number} px_per_mm
 * @param {Plane} plane
 * @param {Drawings} drawings
 * @param {Box[]} taken
 */
function scaleBar(stage, px_per_mm, plane, { base_height_mm }, taken) {
  const screen_per_mm = Math.abs(stage.toScreen([px_per_mm, 0])[0] - stage.toScreen([0, 0])[0]);
  const length = SCALE_BARS_MM.find((mm) => mm * screen_per_mm > 60) ?? SCALE_BARS_MM[SCALE_BARS_MM.length - 1];
  const { height } = stage.bounds;
  const text = `${length} mm · ${px_per_mm.toFixed(1)} px/mm · ${plane === "base" ? `base tops, ${base_height_mm.toFixed(1)} mm up` : "paint"}`;
  const [x, y] = [14, height - 16];
  taken.push({ x, y: y - 26, width: text.length * CHARACTER_PX, height: 34 });
  return [
    svg("path", { class: "scale", d: `M${x},${y - 6}v6h${(length * screen_per_mm).toFixed(1)}v-6` }),
    svg("g", { class: "label" }, svg("text", { x, y: y - 12 }, text)),
  ];
}

/** The choice of the plane that is measured on. @param {(plane: Plane) => void} onChange */
export function planeChoice(onChange) {
  /** @param {Plane} value @param {string} label @param {boolean} checked */
  const option = (value, label, checked) => el("label", { class: "chip" }, el("input", { type: "radio", name: "plane", value, checked, onchange: () => onChange(value) }), label);
  return [option("base", "Base tops", true), option("paint", "Paint", false)];
}
