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

const LINE_NAMES = { scrimmage: "Line of scrimmage", to_gain: "Line to gain", goal: "Goal line", call: "" };
const RING_PX = 16;
const TINY_PX = 300; // and a label in one narrower than this would cover what it names: colors tell
const NARROW_PX = 600; // a picture narrower than this has no room to name the lines, whose colors are told below it

/**
 * Draw a frame.
 *
 * @param drawing the frame's, with `figures` and `gap`; null where nothing is kept of it
 * @param scene {lines, spot, trails}: of the call; a trail is {part, places}
 * @param kinds a set of names of KINDS
 * @param to {place, corners, line}: return the screen point of a place (null where out of view), and the screen points of
 *   a figure's corners and of a line (none where out of view)
 * @param bounds {width, height} of the screen
 * @param taken the boxes of what must not be covered are added to it
 */
export function drawFrame(drawing, scene, kinds, to, bounds, taken) {
  const figures = (drawing?.figures ?? []).map((figure) => ({ ...figure, points: to.corners(figure) })).filter(({ points }) => points.length);
  const concerned = figures.filter(({ part }) => part !== "other");
  const gapEnds = drawing?.gap?.ends.map(to.place) ?? [];
  const gap = gapEnds.length === 2 && gapEnds.every(Boolean) ? drawing.gap : null;
  const spot = scene.spot === null ? null : to.place(scene.spot);
  taken.push(...obstacles(concerned, gapEnds, spot));
  return [
    kinds.has("lines") && scene.lines.map((line) => path(to.line(line), `line ${line.kind}`)),
    kinds.has("trails") && scene.trails.map(({ part, places }) => path(places.map(to.place).filter(Boolean), `trail ${part}`)),
    kinds.has("footprints") && figures.map(outline),
    kinds.has("faces") && gap !== null && gap.faces.filter(Boolean).map((face) => path(face.map(to.place), "face")),
    kinds.has("gap") && gap !== null && gapMark(gapEnds),
    kinds.has("spot") && spot !== null && cross(spot),
    placeLabels(labels({ concerned, gap, gapEnds, spot, scene, kinds, to, bounds }), taken, bounds),
  ]
    .flat(3)
    .filter(Boolean);
}

/** A line through points; null without any. */
export function path(points, name) {
  if (points === null || points.length < 2 || points.includes(null)) return null;
  return svg("polyline", { class: name, points: points.map(([x, y]) => `${x.toFixed(1)},${y.toFixed(1)}`).join(" ") });
}

export const middle = (points) => [0, 1].map((axis) => points.reduce((sum, point) => sum + point[axis], 0) / points.length);

function outline({ part, posture, points, id }) {
  const [front, all] = [middle(points.slice(0, 2)), middle(points)];
  return [
    svg("polygon", { class: `footprint ${part} ${posture}`, "data-id": id, points: points.map((point) => point.map((at) => at.toFixed(1)).join(",")).join(" ") }),
    path([all, front], `footprint ${part}`),
  ];
}

function gapMark([a, b]) {
  const [x, y] = middle([a, b]);
  const radius = Math.max(RING_PX, Math.hypot(a[0] - b[0], a[1] - b[1]));
  return [path([a, b], "gap"), svg("circle", { class: "gap", cx: x, cy: y, r: radius })];
}

function cross([x, y]) {
  const arm = 9;
  return svg("path", { class: "spot", d: `M${x - arm},${y - arm}l${2 * arm},${2 * arm}M${x - arm},${y + arm}l${2 * arm},${-2 * arm}` });
}

function obstacles(concerned, gapEnds, spot) {
  return [
    ...concerned.map(({ points }) => boxAround(points)),
    ...(gapEnds.length === 2 && gapEnds.every(Boolean) ? [boxAround([middle(gapEnds)], RING_PX)] : []),
    ...(spot === null ? [] : [boxAround([spot], 12)]),
  ];
}

function labels({ concerned, gap, gapEnds, spot, scene, kinds, to, bounds }) {
  const named = bounds.width >= TINY_PX;
  const center = concerned.length ? middle(concerned.map(({ points }) => middle(points))) : null;
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
      const top = topInside(to.line(line), bounds);
      if (top !== null) found.push({ text: LINE_NAMES[line.kind], at: top, away: [1, 0.2], tone: line.kind });
    }
  }
  return found;
}

/** The highest point of a line that is on the screen. */
function topInside(points, { width, height }) {
  const visible = (points ?? []).filter(([x, y]) => x > 0 && x < width && y > 0 && y < height);
  return visible.length ? visible.reduce((best, point) => (point[1] < best[1] ? point : best)) : null;
}
