// The drawings of one frame as SVG, in pixels of the screen over the picture.

import { svg } from "./dom.js";
import { capitalize, formatPlayer } from "./format.js";
import { boxAround, placeLabels } from "./evidence_labels.js";

/** What can be drawn: its name for people, the key that switches it, and whether it is on at first. */
export const KINDS = {
  footprints: { label: "Outlines", key: "1", on: true },
  gap: { label: "Gap", key: "2", on: true },
  faces: { label: "Sides that meet", key: "3", on: false },
  spot: { label: "Spot", key: "4", on: true },
  lines: { label: "Lines", key: "5", on: true },
  trails: { label: "Trails", key: "6", on: false },
  names: { label: "Names", key: "7", on: true },
};

/** @type {Record<Service.DrawnLine["kind"], string>} */
const LINE_NAMES = { scrimmage: "Line of scrimmage", to_gain: "Line to gain", goal: "Goal line", call: "" };
const RING_PX = 16;
const TINY_PX = 300; // in a picture narrower than this a label would cover what it names, and colors have to do
const NARROW_PX = 600; // a picture narrower than this has no room for the lines' names; the legend below it has their colors

/** The way of a figure up to a frame. @typedef {{ part: Service.DrawnFigure["part"], places: Pixels[] }} Trail */

/** Where something is in either view, null where out of view: pixels of the camera's picture, or millimeters of the view from above. @typedef {{ px: ?Point, above: ?Point }} Pixels */

/** What is drawn on all frames of a call. @typedef {{ lines: Service.DrawnLine[], spot: ?Service.Place, trails: Trail[] }} Scene */

/**
 * The ways to the screen: of a place, null where out of view, and of a figure's or a line's points, none where out of view.
 *
 * @typedef {{ place: (drawn: Pixels) => ?Point, corners: (drawn: Outline) => Point[] }} ToScreen
 */

/** What labels are made from. @typedef {{ concerned: { id: string, part: string, points: Point[] }[], gap: ?Service.DrawnGap, gapEnds: Point[], spot: ?Point, scene: Scene, kinds: Set<string>, to: ToScreen, bounds: Size }} LabelSource */

/** @typedef {import("./evidence_labels.js").Label} Label */

/**
 * Draw a frame.
 *
 * @param {?Service.FrameDrawing} drawing null where nothing is kept of the frame
 * @param {Scene} scene
 * @param {Set<string>} kinds names of KINDS
 * @param {ToScreen} to
 * @param {Size} bounds of the screen
 * @param {Box[]} taken the boxes of what must not be covered are added to it
 * @returns {SVGElement[]}
 */
export function drawFrame(drawing, scene, kinds, to, bounds, taken) {
  const figures = (drawing?.figures ?? []).map((figure) => ({ ...figure, points: to.corners(figure) })).filter(({ points }) => points.length);
  const concerned = figures.filter(({ part }) => part !== "other");
  const ends = nonNull(drawing?.gap?.ends.map(to.place) ?? []);
  const gap = ends.length === 2 ? (drawing?.gap ?? null) : null;
  const gapEnds = gap === null ? [] : ends;
  const spot = scene.spot === null ? null : to.place(scene.spot);
  taken.push(...obstacles(concerned, gapEnds, spot));
  const drawn = [
    ...(kinds.has("lines") ? scene.lines.map((line) => path(to.corners(line), `line ${line.kind}`)) : []),
    ...(kinds.has("trails") ? scene.trails.map(({ part, places }) => path(nonNull(places.map(to.place)), `trail ${part}`)) : []),
    ...(kinds.has("footprints") ? figures.flatMap(outline) : []),
    ...(kinds.has("faces") && gap !== null ? nonNull(gap.faces).map((face) => path(face.map(to.place), "face")) : []),
    ...(kinds.has("gap") && gap !== null ? gapMark(gapEnds) : []),
    kinds.has("spot") && spot !== null ? cross(spot) : null,
    ...placeLabels(labels({ concerned, gap, gapEnds, spot, scene, kinds, to, bounds }), taken, bounds),
  ];
  return nonNull(drawn);
}

/** A list without what is null. @template T @param {readonly (T | null)[]} list @returns {T[]} */
export const nonNull = (list) => list.filter((one) => one !== null);

/** A line through points; null without any, or where one is out of view. @param {readonly (?Point)[]} points @param {string} name */
export function path(points, name) {
  const seen = nonNull(points);
  if (seen.length < 2 || seen.length < points.length) return null;
  return svg("polyline", { class: name, points: seen.map(([x, y]) => `${x.toFixed(1)},${y.toFixed(1)}`).join(" ") });
}

/** @param {readonly Point[]} points @returns {Point} */
export const middle = (points) => [mean(points.map(([x]) => x)), mean(points.map(([, y]) => y))];

/** @param {number[]} values */
const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;

/** @param {Service.DrawnFigure & { points: Point[] }} figure */
function outline({ part, posture, points, id }) {
  const [front, all] = [middle(points.slice(0, 2)), middle(points)];
  return [
    svg("polygon", { class: `footprint ${part} ${posture}`, "data-id": id, points: points.map((point) => point.map((at) => at.toFixed(1)).join(",")).join(" ") }),
    path([all, front], `footprint ${part}`),
  ];
}

/** @param {readonly Point[]} ends */
function gapMark([a, b]) {
  const [x, y] = middle([a, b]);
  const radius = Math.max(RING_PX, Math.hypot(a[0] - b[0], a[1] - b[1]));
  return [path([a, b], "gap"), svg("circle", { class: "gap", cx: x, cy: y, r: radius })];
}

/** @param {Point} at */
function cross([x, y]) {
  const arm = 9;
  return svg("path", { class: "spot", d: `M${x - arm},${y - arm}l${2 * arm},${2 * arm}M${x - arm},${y + arm}l${2 * arm},${-2 * arm}` });
}

/** @param {{ points: Point[] }[]} concerned @param {readonly Point[]} gapEnds @param {?Point} spot */
function obstacles(concerned, gapEnds, spot) {
  return [
    ...concerned.map(({ points }) => boxAround(points)),
    ...(gapEnds.length === 2 ? [boxAround([middle(gapEnds)], RING_PX)] : []),
    ...(spot === null ? [] : [boxAround([spot], 12)]),
  ];
}

/** @param {LabelSource} shown @returns {Label[]} */
function labels({ concerned, gap, gapEnds, spot, scene, kinds, to, bounds }) {
  const named = bounds.width >= TINY_PX;
  const center = middle(concerned.map(({ points }) => middle(points)));
  /** @type {Label[]} */
  const found = [];
  if (named && kinds.has("names")) {
    for (const { id, part, points } of concerned) {
      const at = middle(points);
      found.push({ text: formatPlayer(id), at, away: [at[0] - center[0], at[1] - center[1]], tone: part });
    }
  }
  if (kinds.has("gap") && gap !== null) {
    const at = middle(gapEnds);
    const along = concerned.length > 1 ? [middle(concerned[1].points), middle(concerned[0].points)] : [at, at];
    // Across the way from one figure to the other, where neither stands.
    found.push({ text: capitalize(gap.label), at, away: [along[0][1] - along[1][1], along[1][0] - along[0][0]], tone: "gap" });
  }
  if (named && kinds.has("spot") && spot !== null) found.push({ text: "Spot", at: spot, away: [0, 1], tone: "spot" });
  if (kinds.has("lines") && bounds.width >= NARROW_PX) {
    for (const line of scene.lines.filter(({ kind }) => LINE_NAMES[kind])) {
      const top = topInside(to.corners(line), bounds);
      if (top !== null) found.push({ text: LINE_NAMES[line.kind], at: top, away: [1, 0.2], tone: line.kind });
    }
  }
  return found;
}

/** The highest point of a line that is on the screen. @param {readonly Point[]} points @param {Size} bounds */
function topInside(points, { width, height }) {
  const visible = points.filter(([x, y]) => x > 0 && x < width && y > 0 && y < height);
  return visible.length ? visible.reduce((best, point) => (point[1] < best[1] ? point : best)) : null;
}
