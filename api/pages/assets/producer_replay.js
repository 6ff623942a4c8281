// Replays: of the last call, or of any play of the game before; looked at first, then on air, slower, and frozen.

import { el, refreshList, setText } from "./dom.js";
import { capitalize, formatCallText } from "./format.js";
import { read, send } from "./send.js";

/** @typedef {import("./producer.js").Desk} Desk */

/** A call changes the plays; several that come together are asked for once. */
const SETTLED_MS = 400;

/** @type {[number, string][]} */
const SPEEDS = [[1, "Full speed"], [0.5, "Half speed"]];

/** @param {Desk} desk @returns {HTMLElement[]} */
export function replaySection({ feed, act }) {
  const last = el("button", { type: "button", class: "main" }, "Replay the last call");
  const off = el("button", { type: "button", class: "small stop" }, "Replay off");
  const freeze = el("button", { type: "button", class: "small" }, "Freeze");
  const speeds = SPEEDS.map(([speed, words]) => ({ speed, button: el("button", { type: "button", class: "small" }, words) }));
  const state = el("p", { class: "muted", role: "status" });
  const video = el("video", { controls: true, muted: true, playsinline: true, hidden: true, "aria-label": "The replay, for you alone" });
  const watched = el("p", { role: "status" });
  const plays = el("ol", { class: "list plays" });
  const none = el("p", { class: "muted" }, "No play has a call with a picture yet.");

  const now = () => feed.value("replay");
  last.addEventListener("click", () => act(last, () => send("api/replay", { call: null })));
  off.addEventListener("click", () => act(off, () => send("api/replay", null, { method: "DELETE" })));
  freeze.addEventListener("click", () => act(freeze, () => send("api/replay", { speed: now()?.speed ?? 1, frozen: !now()?.frozen }, { method: "PATCH" })));
  for (const { speed, button } of speeds) button.addEventListener("click", () => act(button, () => send("api/replay", { speed, frozen: false }, { method: "PATCH" })));
  feed.on("replay", (replay) => {
    const isOn = replay?.state === "making" || replay?.state === "ready";
    for (const button of [off, freeze, ...speeds.map((one) => one.button)]) button.disabled = !isOn;
    setText(freeze, isOn && replay.frozen ? "Go on" : "Freeze");
    for (const { speed, button } of speeds) button.setAttribute("aria-pressed", String(isOn && replay.speed === speed));
    /** @type {Record<string, string>} */
    const words = { none: "No replay is on.", making: "It is being made", ready: "Sent to the overlay", failed: "It can’t be shown" };
    const text = capitalize(formatCallText(replay?.text ?? ""));
    setText(state, replay === undefined || replay.state === "none" ? words.none : `${words[replay.state]}: ${text}`);
  });

  let timer = 0;
  let game = "";
  const load = async () => {
    /** @type {Service.Play[]} */
    const found = await read("api/games/current/plays?limit=1000").catch(() => []);
    const items = found.toReversed().flatMap((play) => {
      const call = play.calls.findLast(({ frame, standing }) => frame !== null && standing !== "struck");
      return call === undefined ? [] : [{ id: `${play.number}`, number: play.number, situation: play.situation, call: call.id, text: call.text, result: play.result }];
    });
    none.hidden = items.length > 0;
    refreshList(plays, items, playItem);
  };
  const loadSoon = () => {
    clearTimeout(timer);
    timer = setTimeout(load, SETTLED_MS);
  };
  feed.on("calls", (calls) => {
    if (calls?.game !== game) video.hidden = true;
    game = calls?.game ?? "";
    loadSoon();
  });

  /** @param {{ id: string, number: number, situation: string, call: string, text: string, result: string }} play */
  function playItem({ number, situation, call, text, result }) {
    const words = capitalize(formatCallText(result || text));
    const watch = el("button", { type: "button", class: "small", "aria-label": `Watch play ${number}` }, "Watch");
    const show = el("button", { type: "button", class: "small", "aria-label": `Play ${number} on air` }, "On air");
    watch.addEventListener("click", () => {
      setText(watched, `The replay of play ${number} is being made…`);
      video.hidden = false;
      video.onloadeddata = () => setText(watched, `Play ${number}: ${words}`);
      video.onerror = () => {
        video.hidden = true;
        setText(watched, `The replay of play ${number} can’t be made: no picture of it is kept.`);
      };
      video.src = `api/games/current/calls/${encodeURIComponent(call)}/replay.mp4`;
      video.play().catch(() => {}); // it has controls
    });
    show.addEventListener("click", () => act(show, () => send("api/replay", { call })));
    return [el("span", {}, el("b", {}, `${number}. ${situation}`), el("br"), words), el("span", { class: "row" }, watch, show)];
  }

  return [
    el("div", { class: "row" }, last, off),
    el("div", { class: "row" }, speeds.map(({ button }) => button), freeze),
    state,
    el("div", { class: "watch" }, video, watched),
    none,
    plays,
  ];
}
