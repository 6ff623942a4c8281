// The viewer of a call: its frames one by one, as the service decodes them. A browser's video player does not show exact
// frames, so none is used.

import { el, refresh, setText } from "./dom.js";
import { KINDS, drawFrame, middle } from "./evidence_drawings.js";
import { CallSection } from "./evidence_call.js";
import { keyHelp, listenToKeys } from "./evidence_keys.js";
import { Loupe } from "./evidence_loupe.js";
import { Pictures } from "./evidence_pictures.js";
import { Player } from "./evidence_player.js";
import { Stage } from "./evidence_stage.js";
import { errorText, send } from "./send.js";
import { capitalize } from "./format.js";

const AHEAD = 2; // frames loaded ahead of a step
const AHEAD_PLAYING = 16;
const CLOSE_UP = 5; // zoom on the figures concerned
const COLORS = { first: "#ffdc3c", second: "#ff8078" }; // as in evidence.css

const at = (id) => document.getElementById(id);
const query = new URLSearchParams(location.search);
let game = query.get("game") ?? "current";
const call = query.get("call") ?? "";

let frames = [];
let decisive = 0;
let called_ns = 0;
let place = 0;
let direction = 1;
let drawings = { lines: [], spot: null, size_px: null, calibration: "" };
let drawnFrames = new Map();
const kinds = new Set(Object.keys(KINDS).filter((kind) => KINDS[kind].on));

const pictures = new Pictures((path) => path === pathOf(frames[place]) && show());
const stage = new Stage(at("picture"), at("frame"), at("drawing"), { onView: draw, claims: () => loupe?.on });
const loupe = new Loupe(at("picture"), at("loupe"), loupeSource);
const player = new Player(
  { frames: () => frames, place: () => place, decisive: () => decisive, isReady: (other) => pictures.get(pathOf(frames[other])) !== undefined, goTo },
  showPlaying,
);
const callSection = new CallSection({ call: at("call"), neighbors: at("neighbors"), notice: at("notice") }, loadList);

const base = () => `api/games/${encodeURIComponent(game)}/calls/${encodeURIComponent(call)}/frames`;
const pathOf = ({ frame }) => `${base()}/${frame}.jpg?plain`;

// --- loading -------------------------------------------------------------------------------------------------------

/** Load the list of frames and what is drawn on them; the frame that is shown stays if it is in the list. */
async function loadList() {
  const found = await send(base(), null, { method: "GET" });
  const current = frames[place]?.frame ?? found.decisive;
  ({ game, frames } = found);
  decisive = frames.findIndex((entry) => entry.frame === found.decisive);
  place = Math.max(0, frames.findIndex((entry) => entry.frame === current));
  at("timeline").max = frames.length - 1;
  history.replaceState(null, "", `?${new URLSearchParams({ game, call })}`);
  called_ns = found.call.t_ns;
  callSection.show(game, found.call);
  show();
  drawings = await send(`${base()}/drawings`, null, { method: "GET" });
  drawnFrames = new Map(drawings.frames.map((drawing) => [drawing.frame, drawing]));
  setText(at("calibration"), drawings.calibration);
  draw();
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
  const { frame, t_ns, measured, text } = frames[place];
  const since_ms = (t_ns - called_ns) / 1e6;
  const picture = pictures.get(pathOf(frames[place]));
  refresh(at("position"), [place, decisive, frames.length], () => [
    el("span", {}, `Frame ${frame}`),
    el("small", {}, `${since_ms < 0 ? "−" : "+"}${Math.abs(since_ms).toFixed(0)} ms${place === decisive ? ", decisive" : ""}`),
  ]);
  setText(at("measurement"), measured ? capitalize(text) : "No measurement is stored for this frame");
  at("previous").disabled = place === 0;
  at("decisive").disabled = place === decisive;
  at("timeline").value = place;
  at("picture").setAttribute("aria-busy", String(picture === undefined));
  at("picture").setAttribute("aria-label", `Frame ${frame}`);
  at("message").hidden = !picture?.problem;
  setText(at("message"), picture?.problem ?? "");
  if (picture?.url) stage.show(picture, frame);
  draw();
  wantPictures();
}

/** Draw on the frame whose picture is shown: while another is loading, its drawings must not lie on this one. */
function draw() {
  const shown = Number(at("frame").dataset.frame ?? -1);
  const fits = stage.size !== null && String(drawings.size_px) === String(stage.size);
  const drawing = drawnFrames.get(shown) ?? null;
  const { width, height } = stage.bounds;
  at("drawing").setAttribute("viewBox", `0 0 ${width} ${height}`);
  const all = ({ px }) => px.map((point) => stage.toScreen(point));
  const to = { place: ({ px }) => px && stage.toScreen(px), corners: all, line: all };
  const scene = { lines: drawings.lines, spot: drawings.spot, trails: kinds.has("trails") ? trails(shown) : [] };
  at("drawing").replaceChildren(...(fits && at("message").hidden ? drawFrame(drawing, scene, kinds, to, stage.bounds) : []));
  loupe?.draw();
}

/** The way of each figure concerned, up to a frame. */
function trails(until) {
  const ways = new Map();
  for (const { frame, figures } of drawnFrames.values()) {
    if (frame > until) break;
    for (const { id, part, px, mm } of figures.filter(({ part: one }) => one !== "other")) {
      if (!ways.has(id)) ways.set(id, { part, places: [] });
      ways.get(id).places.push({ px: px.length ? middle(px) : null, mm: middle(mm) });
    }
  }
  return [...ways.values()];
}

function loupeSource() {
  if (!stage.image || !at("message").hidden) return null;
  const figures = drawnFrames.get(Number(at("frame").dataset.frame))?.figures ?? [];
  const outlined = kinds.has("footprints") ? figures.filter(({ part, px }) => part !== "other" && px.length) : [];
  return {
    image: stage.image,
    toPicture: (point) => stage.toPicture(point),
    polygons: outlined.map(({ part, px }) => ({ points: px, color: COLORS[part] })),
  };
}

function showPlaying() {
  for (const button of document.querySelectorAll("[data-speed]")) button.setAttribute("aria-pressed", String(player.speed === Number(button.dataset.speed)));
  at("loop").setAttribute("aria-pressed", String(player.loop));
  wantPictures();
}

function showError(error) {
  at("message").hidden = false;
  setText(at("message"), errorText(error));
  draw();
}

// --- acting --------------------------------------------------------------------------------------------------------

function goTo(index) {
  if (frames.length === 0) return;
  direction = index < place ? -1 : 1;
  place = Math.min(Math.max(index, 0), frames.length - 1);
  pictures.retry(pathOf(frames[place]));
  show();
}

/** Go to a frame by hand, which ends playing. */
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

function toggleKind(kind) {
  const box = document.querySelector(`#kinds input[value="${kind}"]`);
  box.checked = !box.checked;
  box.dispatchEvent(new Event("change"));
}

let hidden = null; // the kinds that were on before all drawings were switched off

function toggleDrawings() {
  const on = hidden ?? [];
  hidden = hidden === null ? [...kinds] : null;
  kinds.clear();
  for (const kind of on) kinds.add(kind);
  for (const box of document.querySelectorAll("#kinds input")) box.checked = kinds.has(box.value);
  draw();
}

function toggleLoupe() {
  loupe.toggle();
  at("use-loupe").setAttribute("aria-pressed", String(loupe.on));
  at("loupe-power").hidden = !loupe.on;
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
  const drawing = drawnFrames.get(frames[place]?.frame);
  const outlines = drawing?.figures.filter(({ part }) => part !== "other").flatMap(({ px }) => px) ?? [];
  const points = [drawing?.gap?.ends.map(({ px }) => px) ?? [], outlines, [drawings.spot?.px]].map((found) => found.filter(Boolean));
  const best = points.find((found) => found.length);
  if (best !== undefined) stage.zoomTo(middle(best), CLOSE_UP);
}

const goToCall = (href) => href && location.assign(href);

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
for (const button of document.querySelectorAll("[data-speed]")) button.addEventListener("click", () => player.toggle(Number(button.dataset.speed)));
at("loop").addEventListener("click", () => player.setLoop(!player.loop));
at("close-up").addEventListener("click", closeUp);
at("use-loupe").addEventListener("click", toggleLoupe);
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
        onchange: ({ target }) => {
          hidden = null;
          kinds[target.checked ? "add" : "delete"](kind);
          draw();
        },
      }),
      label,
    ),
  ),
);
at("keys").append(...keyHelp(keys));
listenToKeys(keys);
loadList().then(() => callSection.showNeighbors(game, call), showError);
