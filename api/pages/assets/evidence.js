// The frames of a call, one by one, as the service decodes them: a browser's video player does not show exact frames.

import { makeZoomable } from "./zoom.js";
import { el, refresh, setText } from "./dom.js";
import { callDetails, callHead } from "./panel_calls.js";
import { errorText, send } from "./send.js";
import { capitalize } from "./format.js";

const MAX_PICTURES = 80; // in memory, about 400 kB each
const PRELOADED = 2; // frames in the direction of stepping

const at = (id) => document.getElementById(id);
const query = new URLSearchParams(location.search);
let game = query.get("game") ?? "current";
const call = query.get("call") ?? "";

let frames = [];
let decisive = 0;
let called_ns = 0;
let place = 0;
let direction = 1;
let loading = false;
const pictures = new Map(); // by path: the address of a loaded picture, or the reason why there is none

const base = () => `api/games/${encodeURIComponent(game)}/calls/${encodeURIComponent(call)}/frames`;
const path = (frame) => `${base()}/${frame}.jpg${at("show-measurement").checked ? "" : "?plain"}`;

/** Load the list of frames; the frame that is shown stays if it is in the list. */
async function loadList() {
  const found = await send(base(), null, { method: "GET" });
  const current = frames[place]?.frame ?? found.decisive;
  ({ game, frames } = found);
  decisive = frames.findIndex((entry) => entry.frame === found.decisive);
  place = Math.max(0, frames.findIndex((entry) => entry.frame === current));
  at("timeline").max = frames.length - 1;
  history.replaceState(null, "", `?${new URLSearchParams({ game, call })}`);
  const details = found.call;
  called_ns = details.t_ns;
  refresh(at("call"), details, () => el("div", { class: `call ${details.verdict} ${details.standing}` }, callHead(details), callDetails(details)));
}

function show() {
  const { frame, t_ns, measured, text } = frames[place];
  const since_ms = (t_ns - called_ns) / 1e6;
  const picture = pictures.get(path(frame));
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
  if (picture?.url) {
    at("frame").src = picture.url;
    at("frame").dataset.frame = frame;
  }
  load();
}

/** The next frame to load: the one that is shown, then those that come next. */
function nextToLoad() {
  const near = Array.from({ length: PRELOADED + 1 }, (_, step) => frames[place + direction * step]);
  return near.find((entry) => entry !== undefined && !pictures.has(path(entry.frame)));
}

/** Load frames, one at a time. */
async function load() {
  if (loading) return;
  loading = true;
  for (let entry = nextToLoad(); entry !== undefined; entry = nextToLoad()) {
    const from = path(entry.frame);
    pictures.set(from, await loadPicture(from));
    if (from === path(frames[place].frame)) show();
    while (pictures.size > MAX_PICTURES) forget(pictures.keys().next().value);
  }
  loading = false;
}

function forget(from) {
  URL.revokeObjectURL(pictures.get(from).url);
  pictures.delete(from);
}

/** Load a picture: its address, or why there is none. Retries as the service asks when it is busy. */
async function loadPicture(from) {
  for (;;) {
    const response = await fetch(from, { credentials: "same-origin" }).catch(() => null);
    if (response?.ok) return { url: URL.createObjectURL(await response.blob()) };
    if (response?.status === 429 || response?.status === 503) {
      await new Promise((resolve) => setTimeout(resolve, 1000 * Number(response.headers.get("retry-after") ?? 1)));
      continue;
    }
    const problem = response === null ? { detail: "The rig does not answer." } : await response.json().catch(() => ({}));
    return { problem: capitalize(problem.detail ?? "This frame is not available.") };
  }
}

function goTo(index) {
  if (frames.length === 0) return;
  direction = index < place ? -1 : 1;
  place = Math.min(Math.max(index, 0), frames.length - 1);
  const from = path(frames[place].frame);
  if (pictures.get(from)?.problem) pictures.delete(from); // it may be available by now
  show();
}

/** Go to the next frame; at the end, check for newer ones. */
async function next() {
  try {
    if (place === frames.length - 1) await loadList();
    goTo(place + 1);
  } catch (error) {
    showError(error);
  }
}

function showError(error) {
  at("message").hidden = false;
  setText(at("message"), errorText(error));
}

at("previous").addEventListener("click", () => goTo(place - 1));
at("next").addEventListener("click", next);
at("decisive").addEventListener("click", () => goTo(decisive));
at("timeline").addEventListener("input", () => goTo(Number(at("timeline").value)));
at("show-measurement").addEventListener("change", show);
addEventListener("keydown", (event) => {
  const action = { ArrowLeft: () => goTo(place - 1), ArrowRight: next, Home: () => goTo(decisive) }[event.key];
  if (action === undefined || event.target === at("timeline")) return;
  event.preventDefault();
  action();
});

makeZoomable(at("picture"), at("frame"));
loadList().then(show, showError);
