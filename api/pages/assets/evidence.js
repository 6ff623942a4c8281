// The frames of a call, one by one, as the service decoded them: a player's own idea of time is not to be trusted here.

import { closer } from "/assets/closer.js";
import { el, refresh, say } from "/assets/dom.js";
import { callHead, callWhy } from "/assets/panel_calls.js";
import { Refusal, send } from "/assets/send.js";
import { capital } from "/assets/words.js";

const KEPT = 80; // pictures, about 400 kB each
const AHEAD = 2; // loaded before they are asked for, the way one steps

const at = (id) => document.getElementById(id);
const asked = new URLSearchParams(location.search);
let game = asked.get("game") ?? "current";
const call = asked.get("call") ?? "";

let frames = [];
let decisive = 0;
let called_ns = 0;
let place = 0;
let way = 1;
let loading = false;
const pictures = new Map(); // addresses of pictures by path; what could not be had is there with its reason

const base = () => `/api/games/${encodeURIComponent(game)}/calls/${encodeURIComponent(call)}/frames`;
const path = (frame) => `${base()}/${frame}.jpg${at("drawn").checked ? "" : "?plain"}`;

/** Read the list; the frame that is looked at stays, where it is among them. */
async function list() {
  const found = await send(base(), null, { method: "GET" });
  const looked = frames[place]?.frame ?? found.decisive;
  ({ game, frames } = found);
  decisive = frames.findIndex((one) => one.frame === found.decisive);
  place = Math.max(0, frames.findIndex((one) => one.frame === looked));
  at("along").max = frames.length - 1;
  history.replaceState(null, "", `?${new URLSearchParams({ game, call })}`);
  const made = found.call;
  called_ns = made.t_ns;
  refresh(at("call"), made, () => el("div", { class: `call ${made.verdict} ${made.standing}` }, callHead(made), callWhy(made)));
}

function show() {
  const { frame, t_ns, measured, text } = frames[place];
  const since_ms = (t_ns - called_ns) / 1e6;
  const found = pictures.get(path(frame));
  refresh(at("place"), [place, decisive, frames.length], () => [
    el("span", {}, `Frame ${frame}`),
    el("small", {}, `${since_ms < 0 ? "−" : "+"}${Math.abs(since_ms).toFixed(0)} ms${place === decisive ? ", decisive" : ""}`),
  ]);
  say(at("seen"), measured ? capital(text) : "What was seen on this frame is not kept");
  at("previous").disabled = place === 0;
  at("decisive").disabled = place === decisive;
  at("along").value = place;
  at("picture").setAttribute("aria-busy", String(found === undefined));
  at("picture").setAttribute("aria-label", `Frame ${frame}`);
  at("told").hidden = !found?.problem;
  say(at("told"), found?.problem ?? "");
  if (found?.url) {
    at("frame").src = found.url;
    at("frame").dataset.frame = frame;
  }
  load();
}

/** The frame that is looked at first, then those that come next. */
function wanted() {
  const near = Array.from({ length: AHEAD + 1 }, (_, step) => frames[place + way * step]);
  return near.find((one) => one !== undefined && !pictures.has(path(one.frame)));
}

/** Load what is wanted, one at a time. */
async function load() {
  if (loading) return;
  loading = true;
  for (let one = wanted(); one !== undefined; one = wanted()) {
    const from = path(one.frame);
    pictures.set(from, await picture(from));
    if (from === path(frames[place].frame)) show();
    while (pictures.size > KEPT) forget(pictures.keys().next().value);
  }
  loading = false;
}

function forget(from) {
  URL.revokeObjectURL(pictures.get(from).url);
  pictures.delete(from);
}

/** A picture's address; or what is wrong. Who asks too fast waits as long as the service says. */
async function picture(from) {
  for (;;) {
    const answer = await fetch(from, { credentials: "same-origin" }).catch(() => null);
    if (answer?.ok) return { url: URL.createObjectURL(await answer.blob()) };
    if (answer?.status === 429 || answer?.status === 503) {
      await new Promise((resolve) => setTimeout(resolve, 1000 * Number(answer.headers.get("retry-after") ?? 1)));
      continue;
    }
    const problem = answer === null ? { detail: "the rig does not answer" } : await answer.json().catch(() => ({}));
    return { problem: capital(problem.detail ?? "this frame can't be had") };
  }
}

function go(to) {
  if (frames.length === 0) return;
  way = to < place ? -1 : 1;
  place = Math.min(Math.max(to, 0), frames.length - 1);
  const from = path(frames[place].frame);
  if (pictures.get(from)?.problem) pictures.delete(from); // it may be on the disk by now
  show();
}

/** The next frame; at the end more may have come since. */
async function next() {
  try {
    if (place === frames.length - 1) await list();
    go(place + 1);
  } catch (error) {
    tell(error);
  }
}

function tell(error) {
  at("told").hidden = false;
  say(at("told"), error instanceof Refusal ? capital(error.message) : "The rig does not answer: try again.");
}

at("previous").addEventListener("click", () => go(place - 1));
at("next").addEventListener("click", next);
at("decisive").addEventListener("click", () => go(decisive));
at("along").addEventListener("input", () => go(Number(at("along").value)));
at("drawn").addEventListener("change", show);
addEventListener("keydown", (event) => {
  const does = { ArrowLeft: () => go(place - 1), ArrowRight: next, Home: () => go(decisive) }[event.key];
  if (does === undefined || event.target === at("along")) return;
  event.preventDefault();
  does();
});

closer(at("picture"), at("frame"));
list().then(show, tell);
