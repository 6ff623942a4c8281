// The viewer of a call: its frames one by one, as the service decodes them. A browser's video player does not show exact
// frames, so none is used.

import { el, elementsOf, find, findAll, refresh, setText } from "./dom.js";
import { KINDS, drawFrame, nonNull, middle } from "./evidence_drawings.js";
import { CallSection } from "./evidence_call.js";
import { Comparison } from "./evidence_compare.js";
import { exportButtons } from "./evidence_exports.js";
import { keyHelp, listenToKeys } from "./evidence_keys.js";
import { Loupe } from "./evidence_loupe.js";
import { Pictures } from "./evidence_pictures.js";
import { Plots, seriesOf } from "./evidence_plots.js";
import { Player } from "./evidence_player.js";
import { Ruler } from "./evidence_ruler.js";
import { Stage } from "./evidence_stage.js";
import { aboveView, cameraView, planeChoice, regionOf } from "./evidence_views.js";
import { errorText, read, send } from "./send.js";
import { capitalize, nameSides } from "./format.js";

const AHEAD = 2; // frames loaded ahead of a step
const AHEAD_PLAYING = 16;
const CLIP_S = 3; // to each side of the call, of an exported clip
const SLOW_CLIP_S = 1;
const CLOSE_UP = 5; // zoom on the figures concerned
const COLORS = { first: "#ffdc3c", second: "#ff8078", other: "" }; // as in evidence.css

const at = elementsOf("evidence");
const query = new URLSearchParams(location.search);
let game = query.get("game") ?? "current";
const call = query.get("call") ?? "";

/** @typedef {import("./evidence_drawings.js").Trail} Trail */

/** @type {Service.EvidenceFrame[]} */
let frames = [];
let decisive = 0;
let called_ns = 0;
let isBetween = false; // whether the call is about an instant between the decisive frame and the one before it
let place = 0;
let direction = 1;
/** @type {Drawings} */
let drawings = { lines: [], spot: null, size_px: null, calibration: "", base_height_mm: 0, field: null, frames: [], plane: null };
let view = cameraView;
/** @type {?{ frame: number, view: View }} what the picture on the screen is; null before there is one */
let shown = null;
let failure = ""; // of what was last tried; a picture that arrives later does not end it
/** @type {Plane} that is measured on */
let plane = "base";
/** @type {Map<number, Service.FrameDrawing>} */
let drawnFrames = new Map();
const kinds = new Set(Object.entries(KINDS).filter(([, { on }]) => on).map(([kind]) => kind));

const pictures = new Pictures((path) => path === pathOf(frames[place]) && show());
const stage = new Stage(at("picture"), at("frame"), at("drawing"), { onView: draw, claims: () => loupe.on || ruler.mode !== null });
const loupe = new Loupe(at("picture"), at("loupe"), loupeSource);
const ruler = new Ruler(
  at("picture"),
  {
    view: () => shown?.view ?? null,
    toScreen: (point) => stage.toScreen((shown?.view ?? view).pixel(point)),
    toCoordinates: (point) => (shown?.view ?? view).coordinates(stage.toPicture(point)),
    measure,
  },
  () => {
    draw();
    setText(at("measured"), ruler.text);
  },
);
const player = new Player(
  { frames: () => frames, place: () => place, decisive: () => decisive, isReady: (other) => pictures.get(pathOf(frames[other])) !== undefined, goTo },
  showPlaying,
);
const plots = new Plots(at("plots"), (ms) => {
  const distances = frames.map(({ t_ns }) => Math.abs((t_ns - called_ns) / 1e6 - ms));
  step(distances.indexOf(Math.min(...distances)));
});
const comparison = new Comparison(at("comparison"), {
  load: (other) => pictures.fetch(`${base()}/${cameraView.path(frames[other].frame)}`),
  label: (other) => [`Frame ${frames[other].frame}, ${sinceCall(frames[other])}`, gapOf(other)].filter(Boolean).join(": "),
  between: betweenWords,
  decisive: () => decisive,
  count: () => frames.length,
  center: () => decisivePoint(cameraView) ?? middle([[0, 0], drawings.size_px ?? stage.size ?? [0, 0]]),
  draw: (other, size, toScreen, bounds) => drawingsOf(frames[other].frame, cameraView, size, toScreen, bounds, []),
});
const callSection = new CallSection({ call: at("call"), neighbors: at("neighbors"), notice: at("notice"), back: at("back") }, load, draw);

const callPath = () => `api/games/${encodeURIComponent(game)}/calls/${encodeURIComponent(call)}`;
const base = () => `${callPath()}/frames`;
/** @param {Service.EvidenceFrame} entry */
const pathOf = ({ frame }) => `${base()}/${view.path(frame)}`;

// --- loading -------------------------------------------------------------------------------------------------------

/** Load everything; where no frames are kept, the call alone, with the reason. */
async function load() {
  showWaiting("Loading…");
  try {
    await loadList();
  } catch (error) {
    if (frames.length > 0) throw error;
    showError(error);
    for (const tool of findAll(document, ".under, .side > :not(#neighbors, #call, #notice)")) tool.hidden = true;
    /** @type {Service.CallView[]} */
    const [details] = await read(`api/games/${encodeURIComponent(game)}/calls?${new URLSearchParams({ around: call, limit: "1" })}`).catch(() => []);
    if (details !== undefined) callSection.show(game, details);
    const { camera } = await read(`api/games/${encodeURIComponent(game)}`).catch(() => ({}));
    if (camera === false) setText(at("message"), "No camera was used in this game, so there are no pictures of its calls.");
  }
}

/** Load the list of frames and what is drawn on them; the frame that is shown stays if it is in the list. */
async function loadList() {
  /** @type {Service.EvidenceFrames} */
  const found = await read(base(), showWaiting);
  const current = frames[place]?.frame ?? found.decisive;
  ({ game, frames } = found);
  decisive = frames.findIndex((entry) => entry.frame === found.decisive);
  place = Math.max(0, frames.findIndex((entry) => entry.frame === current));
  at("timeline").max = String(frames.length - 1);
  history.replaceState(null, "", `?${new URLSearchParams({ game, call })}`);
  called_ns = found.call.t_ns;
  at("sheet").href = `ruling?${new URLSearchParams({ game, call })}`;
  isBetween = decisive > 0 && frames[decisive - 1].frame === found.last_before;
  failure = "";
  setText(at("missing"), found.missing);
  at("missing").hidden = !found.missing;
  callSection.show(game, found.call);
  show();
  await read(`api/games/${encodeURIComponent(game)}`).then(nameSides, () => {}); // figures have their jerseys' names otherwise
  await loadDrawings();
  if (isBetween && gapOf(decisive)) compare(true);
  loadSeal();
}

/** Tell whether the pictures are of the recording that the rig sealed; nothing waits for it. */
async function loadSeal() {
  const { state, text } = await read(`${base()}/seal`).catch(() => ({ state: "none", text: "" }));
  at("altered").hidden = state !== "altered";
  setText(at("altered"), state === "altered" ? text : "");
  setText(at("seal"), state === "altered" ? "" : text);
}

/** Load what is drawn, on the plane of the view from above where that is shown. */
async function loadDrawings() {
  const on = view.name === "above" ? plane : null;
  /** @type {Service.CallDrawings} */
  const found = await read(`${base()}/drawings${on ? `?plane=${on}` : ""}`, (text) => setText(at("calibration"), text));
  drawings = { ...found, plane: on };
  drawnFrames = new Map(drawings.frames.map((drawing) => [drawing.frame, drawing]));
  setText(at("calibration"), drawings.calibration);
  plots.show(seriesOf(frames, drawnFrames, called_ns));
  for (const button of findAll(document, "[data-view], #use-ruler, #use-angle", HTMLButtonElement)) button.disabled = drawings.field === null;
  draw();
}

/** Ask the service for a length or an angle between points of the view that is shown. @param {Point[]} points */
function measure(points) {
  const { frame, view: on } = shown ?? { frame: frames[place].frame, view };
  const query = new URLSearchParams({ unit: on.unit, plane });
  for (const [x, y] of points) {
    query.append("x", x.toFixed(4));
    query.append("y", y.toFixed(4));
  }
  return send(`${base()}/${frame}/measurement?${query}`, null, { method: "GET" });
}

/** What to load, in this order: the frame that is shown, then those that come next. */
function wantPictures() {
  const wanted = [place];
  if (player.playing) {
    for (let next = player.after(place); next !== null && next !== place && wanted.length < AHEAD_PLAYING; next = player.after(next)) wanted.push(next);
  } else {
    for (let step = 1; step <= AHEAD; step += 1) wanted.push(place + direction * step);
    wanted.push(place - direction);
  }
  pictures.want(wanted.filter((other) => frames[other] !== undefined).map((other) => pathOf(frames[other])));
}

// --- showing -------------------------------------------------------------------------------------------------------

function show() {
  const { frame, measured, text } = frames[place];
  const picture = pictures.get(pathOf(frames[place]));
  refresh(at("position"), [place, decisive, frames.length], () => [
    el("span", {}, `Frame ${frame}`),
    el("small", {}, `${sinceCall(frames[place])}${place === decisive ? ", decisive" : ""}`),
  ]);
  setText(at("measurement"), measured ? capitalize(text) : "No measurement is stored for this frame");
  at("previous").disabled = place === 0;
  at("decisive").disabled = place === decisive;
  at("timeline").value = String(place);
  plots.moveTo((frames[place].t_ns - called_ns) / 1e6);
  at("picture").setAttribute("aria-busy", String(picture === undefined));
  at("picture").setAttribute("aria-label", `Frame ${frame}`);
  const problem = picture?.problem ?? failure;
  at("message").hidden = !problem;
  setText(at("message"), problem);
  if (picture?.image !== undefined && (shown?.frame !== frame || shown.view !== view)) {
    const turned = shown !== null && shown.view !== view;
    shown = { frame, view };
    stage.show(picture, frame);
    if (turned) ruler.changeView(view.unit);
  }
  draw();
  wantPictures();
}

/** The gap of the figures concerned on a frame, in words; empty where none was measured. @param {number} other */
const gapOf = (other) => drawnFrames.get(frames[other].frame)?.gap?.label ?? "";

/** How the instant of the call was found between two frames, in words; null where it was not. */
function betweenWords() {
  if (!isBetween) return null;
  const [before, after] = [frames[decisive - 1], frames[decisive]];
  /** @param {number} ns */
  const ms = (ns) => `${Math.round(Math.abs(ns) / 1e6)} ms`;
  const seen = gapOf(decisive - 1) && gapOf(decisive) ? `: ${gapOf(decisive - 1)} in the first, ${gapOf(decisive)} in the second` : "";
  return (
    `The camera took no picture at the very instant. It lies between frame ${before.frame} and frame ${after.frame}${seen}. ` +
    `From how the gap closed it is worked out to ${ms(called_ns - before.t_ns)} after the first and ${ms(after.t_ns - called_ns)} before the second.`
  );
}

/** How long after the call a frame was captured, "+24 ms". @param {Service.EvidenceFrame} entry */
function sinceCall({ t_ns }) {
  const since_ms = Math.round((t_ns - called_ns) / 1e6);
  return `${since_ms < 0 ? "−" : since_ms > 0 ? "+" : ""}${Math.abs(since_ms)} ms`;
}

/** Draw on the frame whose picture is shown: while another is loading, its drawings must not lie on this one. */
function draw() {
  const { width, height } = stage.bounds;
  at("drawing").setAttribute("viewBox", `0 0 ${width} ${height}`);
  at("drawing").replaceChildren();
  if (shown !== null && at("message").hidden) {
    /** @type {Box[]} that labels must not cover: those of the view's own marks first */
    const taken = [];
    const marks = shown.view.marks(stage, drawings, taken);
    const drawn = drawingsOf(shown.frame, shown.view, stage.size, stage.toScreen.bind(stage), stage.bounds, taken);
    at("drawing").append(...drawn, ...marks, ...ruler.draw(stage.bounds, taken));
  }
  loupe.draw();
  comparison.redraw();
}

/**
 * What is drawn on a frame's picture of a size in a view; nothing where the drawings do not fit the picture.
 *
 * @param {number} frame
 * @param {View} on
 * @param {?Point} size
 * @param {(pixel: Point) => Point} toScreen
 * @param {Size} bounds
 * @param {Box[]} taken
 */
function drawingsOf(frame, on, size, toScreen, bounds, taken) {
  if (!on.fits(drawings, size)) return [];
  /** @type {import("./evidence_drawings.js").ToScreen} */
  const to = {
    place: (drawn) => {
      const point = on.place(drawn);
      return point && toScreen(on.pixel(point));
    },
    corners: (drawn) => on.corners(drawn).map((point) => toScreen(on.pixel(point))),
  };
  const scene = { lines: drawings.lines, spot: drawings.spot, trails: kinds.has("trails") ? trails(frame) : [] };
  return drawFrame(drawnFrames.get(frame) ?? null, scene, kinds, to, bounds, taken);
}

/** The way of each figure concerned, up to a frame. @param {number} until @returns {Trail[]} */
function trails(until) {
  /** @type {Map<string, Trail>} */
  const ways = new Map();
  for (const { frame, figures } of drawnFrames.values()) {
    if (frame > until) break;
    for (const { id, part, px, above } of figures.filter(({ part: one }) => one !== "other")) {
      const way = ways.get(id) ?? { part, places: [] };
      ways.set(id, way);
      way.places.push({ px: px.length ? middle(px) : null, above: above.length ? middle(above) : null });
    }
  }
  return [...ways.values()];
}

/** @returns {?import("./evidence_loupe.js").Source} */
function loupeSource() {
  if (stage.image === undefined || shown === null || !at("message").hidden) return null;
  const { frame, view: on } = shown;
  const figures = on.fits(drawings, stage.size) && kinds.has("footprints") ? (drawnFrames.get(frame)?.figures ?? []) : [];
  const outlined = figures.filter((figure) => figure.part !== "other" && on.corners(figure).length);
  return {
    image: stage.image,
    toPicture: (point) => stage.toPicture(point),
    polygons: outlined.map((figure) => ({ points: on.corners(figure).map(on.pixel), color: COLORS[figure.part] })),
  };
}

function showPlaying() {
  for (const button of findAll(document, "[data-speed]")) button.setAttribute("aria-pressed", String(player.speed === Number(button.dataset.speed)));
  at("loop").setAttribute("aria-pressed", String(player.loop));
  wantPictures();
}

/** Tell that the list of frames is still to come; once there is one, what is shown stays as it is. @param {string} text */
function showWaiting(text) {
  if (frames.length > 0) return;
  at("message").hidden = false;
  setText(at("message"), text);
}

/** @param {unknown} error */
function showError(error) {
  failure = errorText(error);
  at("message").hidden = false;
  setText(at("message"), failure);
  draw();
}

// --- acting --------------------------------------------------------------------------------------------------------

/** @param {number} index */
function goTo(index) {
  if (frames.length === 0) return;
  failure = "";
  direction = index < place ? -1 : 1;
  place = Math.min(Math.max(index, 0), frames.length - 1);
  pictures.retry(pathOf(frames[place]));
  show();
}

/** Go to a frame by hand, which ends playing. @param {number} index */
function step(index) {
  player.stop();
  goTo(index);
}

/** Go to the next frame; at the end, check for newer ones. */
async function next() {
  player.stop();
  try {
    if (place === frames.length - 1) await loadList();
    goTo(place + 1);
  } catch (error) {
    showError(error);
  }
}

/** @param {string} kind */
function toggleKind(kind) {
  const box = find(at("kinds"), `input[value="${kind}"]`, HTMLInputElement);
  box.checked = !box.checked;
  box.dispatchEvent(new Event("change"));
}

/** @type {?string[]} */
let hidden = null; // the kinds that were on before all drawings were switched off

function toggleDrawings() {
  const on = hidden ?? [];
  hidden = hidden === null ? [...kinds] : null;
  kinds.clear();
  for (const kind of on) kinds.add(kind);
  for (const box of findAll(at("kinds"), "input", HTMLInputElement)) box.checked = kinds.has(box.value);
  draw();
}

function toggleLoupe() {
  if (ruler.mode !== null) useRuler(ruler.mode);
  loupe.toggle();
  at("use-loupe").setAttribute("aria-pressed", String(loupe.on));
  at("loupe-power").hidden = !loupe.on;
}

/** @param {boolean} [shown] whether both are to be seen from now on; otherwise that changes */
function compare(shown = false) {
  if (shown) comparison.show();
  else comparison.toggle();
  at("compare").setAttribute("aria-pressed", String(!at("comparison").hidden));
}

function cycleLoupe() {
  loupe.cycle();
  setText(at("loupe-power"), `${loupe.magnification}×`);
}

/** Zoom to the figures concerned, or to the spot; back to the whole picture if it is zoomed. */
function closeUp() {
  if (at("picture").classList.contains("zoomed")) {
    stage.resetZoom();
    return;
  }
  if (shown === null) return;
  const point = decisivePoint(shown.view, shown.frame);
  if (point !== null) stage.zoomTo(shown.view.pixel(point), CLOSE_UP);
}

/**
 * Where to look on a frame: at the gap, at the figures concerned, or at the spot; null where none of them is known.
 *
 * @param {View} on
 * @param {number} [frame]
 * @returns {?Point}
 */
function decisivePoint(on, frame = frames[decisive].frame) {
  const drawing = drawnFrames.get(frame);
  const outlines = drawing?.figures.filter(({ part }) => part !== "other").flatMap((figure) => on.corners(figure)) ?? [];
  const places = [drawing?.gap?.ends.map(on.place) ?? [], outlines, [drawings.spot && on.place(drawings.spot)]];
  const best = places.map(nonNull).find((found) => found.length);
  return best === undefined ? null : middle(best);
}

/** Turn to the view from above, closer or wider, or back to the camera's. @param {string} name "camera", "close" or "whole" */
async function turnTo(name) {
  const close = name === "close";
  const { field } = drawings;
  view = name === "camera" || field === null ? cameraView : aboveView(regionOf(drawings, field, drawnFrames.get(frames[decisive].frame), close, stage.bounds), plane);
  for (const button of findAll(document, "[data-view]")) button.setAttribute("aria-pressed", String(button.dataset.view === name));
  at("above").dataset.shown = name;
  stage.resetZoom();
  show();
  await loadDrawings().catch(showError);
}

/** Measure on another plane. @param {Plane} other */
async function usePlane(other) {
  plane = other;
  if (view.name === "above") await turnTo(at("above").dataset.shown ?? "close");
  ruler.refresh();
}

/** @param {"ruler" | "angle"} mode */
function useRuler(mode) {
  if (drawings.field === null) return;
  if (loupe.on) toggleLoupe();
  ruler.use(mode);
  at("use-ruler").setAttribute("aria-pressed", String(ruler.mode === "ruler"));
  at("use-angle").setAttribute("aria-pressed", String(ruler.mode === "angle"));
}

/** @param {string | undefined} href */
const goToCall = (href) => href && location.assign(href);

/** @type {import("./evidence_keys.js").Keys} */
const keys = {
  ArrowLeft: { text: "step", act: () => step(place - 1) },
  ArrowRight: { text: "step", act: next },
  Home: { text: "decisive frame", act: () => step(decisive) },
  " ": { text: "half speed", act: () => player.toggle(player.playing ? player.speed : 0.5) },
  t: { text: "tenth speed", act: () => player.toggle(0.1) },
  o: { text: "loop", act: () => player.setLoop(!player.loop) },
  z: { text: "close-up", act: closeUp },
  l: { text: "loupe", act: toggleLoupe },
  m: { text: "its strength", act: cycleLoupe },
  r: { text: "ruler", act: () => useRuler("ruler") },
  a: { text: "angle", act: () => useRuler("angle") },
  v: { text: "from above", act: () => drawings.field && turnTo(view.name === "above" ? "camera" : "close") },
  b: { text: "before and after", act: () => compare() },
  d: { text: "drawings", act: toggleDrawings },
  ...Object.fromEntries(Object.entries(KINDS).map(([kind, { key }]) => [key, { text: "one kind of drawing", act: () => toggleKind(kind) }])),
  p: { text: "previous call", act: () => goToCall(callSection.before) },
  n: { text: "next call", act: () => goToCall(callSection.after) },
};

at("previous").addEventListener("click", () => step(place - 1));
at("next").addEventListener("click", next);
at("decisive").addEventListener("click", () => step(decisive));
at("timeline").addEventListener("input", () => step(Number(at("timeline").value)));
at("timeline").addEventListener("keydown", (event) => event.stopPropagation());
for (const button of findAll(document, "[data-speed]")) button.addEventListener("click", () => player.toggle(Number(button.dataset.speed)));
at("loop").addEventListener("click", () => player.setLoop(!player.loop));
at("close-up").addEventListener("click", closeUp);
for (const button of findAll(document, "[data-view]")) button.addEventListener("click", () => turnTo(button.dataset.view ?? "camera"));
at("use-ruler").addEventListener("click", () => useRuler("ruler"));
at("use-angle").addEventListener("click", () => useRuler("angle"));
at("plane").append(...planeChoice(usePlane));
at("use-loupe").addEventListener("click", toggleLoupe);
at("compare").addEventListener("click", () => compare());
at("loupe-power").addEventListener("click", cycleLoupe);
at("kinds").append(
  ...Object.entries(KINDS).map(([kind, { label, on }]) =>
    el(
      "label",
      { class: "chip" },
      el("input", {
        type: "checkbox",
        value: kind,
        checked: on,
        onchange: ({ currentTarget }) => {
          hidden = null;
          kinds[currentTarget.checked ? "add" : "delete"](kind);
          draw();
        },
      }),
      label,
    ),
  ),
);
at("exports").append(
  ...exportButtons(
    {
      clip: (form, speed) => {
        const query = new URLSearchParams({ speed: String(speed), seconds: String(speed < 1 ? SLOW_CLIP_S : CLIP_S), plain: String(kinds.size === 0) });
        for (const kind of kinds) query.append("draw", kind);
        return `${callPath()}/clip.${form}?${query}`;
      },
      stage,
      name: () => `downfield_${game}_${call.replace(/[^A-Za-z0-9-]+/g, "-")}_frame${shown?.frame}${shown?.view === cameraView ? "" : "_above"}.png`,
    },
    (text) => {
      at("export-state").hidden = text === "";
      setText(at("export-state"), text);
    },
  ),
);
at("keys").append(...keyHelp(keys));
load()
  .catch(showError)
  .then(() => {
    listenToKeys(frames.length > 0 ? keys : { p: keys.p, n: keys.n });
    callSection.showNeighbors(game, call);
  });
