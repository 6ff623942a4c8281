// The producer's page: everything that is on air, seen before it is. Narrow, it is a dock of OBS.

import { noteAccess } from "./access_notice.js";
import { el, elementsOf, refresh, refreshKeepingFocus, setText } from "./dom.js";
import { Feed, reloadOnUpgrade } from "./feed.js";
import { AWAY_FIRST, capitalize, downAndDistance, formatCallText } from "./format.js";
import { Air } from "./producer_air.js";
import { cardSection, queueSection } from "./producer_cards.js";
import { lookSection, presetSection, programSection } from "./producer_look.js";
import { peopleSection, sponsorSection } from "./producer_lists.js";
import { replaySection } from "./producer_replay.js";
import { ELEMENT_WORDS } from "./producer_words.js";
import { errorText } from "./send.js";

const AT_ONCE = "downfield.producer.at-once";
const NOTICE_MS = 9_000;

/** The picture behind the overlays is for orientation: a new one costs the rig a drawing. */
const PICTURE_MS = 2_000;

const at = elementsOf("producer");
const BUSY = ["aria-busy", "aria-disabled"]; // not `disabled`, which takes the focus from who works by keyboard

const feed = new Feed(["game", "ball", "calls", "line_up", "health", "on_air", "graphic", "sponsors", "replay"]);
const air = new Air(feed);

/** What all sections use; `act` shows that it is busy with it, and what went wrong. @typedef {{ feed: Feed, air: Air, act: (element: HTMLElement, work: () => Promise<unknown>) => Promise<void> }} Desk */

/** @type {Desk} */
const desk = {
  feed,
  air,
  async act(element, work) {
    if (element.getAttribute("aria-busy") === "true") return;
    for (const state of BUSY) element.setAttribute(state, "true");
    try {
      await work();
      at("notice").hidden = true;
    } catch (error) {
      showNotice(capitalize(formatCallText(errorText(error))));
    } finally {
      for (const state of BUSY) element.removeAttribute(state);
    }
  },
};

const switches = el("div", { class: "switches" });
const sections = [
  fold("On and off", [switches], true),
  fold("Replay", replaySection(desk), true),
  fold("Cards", cardSection(desk), true),
  fold("Queue", queueSection(desk), true),
  fold("Presets", presetSection(desk), true),
  fold("Look", lookSection(desk)),
  fold("The program", programSection(desk)),
  fold("Sponsors", sponsorSection(desk)),
  fold("Names and pictures", peopleSection(desk)),
];
at("sections").append(...sections);
air.follow(update);

/** @param {string} title @param {Node[]} content @param {boolean} [open] */
function fold(title, content, open = false) {
  return el("details", { class: "plate", open }, el("summary", {}, title), el("div", { class: "body" }, content));
}

/** Show what is chosen, and what is on air. */
function update() {
  const { now, wanted, pending } = air;
  refreshKeepingFocus(switches, [now.elements, wanted.elements], () =>
    Object.entries(ELEMENT_WORDS).map(([name, words]) => {
      const element = /** @type {import("./producer_air.js").Element} */ (name);
      const isOn = wanted.elements.includes(element);
      const button = el("button", { type: "button", class: "small", "aria-label": words, "aria-pressed": String(isOn), "data-element": name }, words, el("span", { class: "tally" }, now.elements.includes(element) ? "on air" : ""));
      button.addEventListener("click", () => desk.act(button, () => air.switch(element, !isOn)));
      return button;
    }),
  );
  setText(at("pending"), pending.length > 0 ? `Waits: ${pending.join(", ")}.` : "Nothing waits.");
  for (const button of [at("take"), at("discard")]) button.disabled = pending.length === 0;
  sendPreview();
}

let noticeTimer = 0;

/** @param {string} text */
function showNotice(text) {
  at("notice").replaceChildren(el("p", {}, text));
  at("notice").hidden = false;
  clearTimeout(noticeTimer);
  noticeTimer = setTimeout(() => (at("notice").hidden = true), NOTICE_MS);
}

// --- monitors ------------------------------------------------------------------------------------------------------

const previewFrame = el("iframe", { title: "Preview", tabindex: -1 });

/** @param {HTMLElement} box @param {HTMLIFrameElement} frame */
function openMonitor(box, frame) {
  const picture = el("img", { alt: "" });
  picture.addEventListener("error", () => (picture.hidden = true)); // there is no program, or nothing of it yet
  picture.addEventListener("load", () => (picture.hidden = false));
  const draw = () => {
    if (!document.hidden && box.offsetParent !== null) picture.src = `program.jpg?${Date.now()}`;
  };
  draw();
  setInterval(draw, PICTURE_MS);
  frame.src = "overlay/scene";
  box.append(picture, frame);
}

/** All frames in a frame, itself first. @param {?Window} frame @returns {Window[]} */
const framesIn = (frame) => (frame === null ? [] : [frame, ...Array.from({ length: frame.length }, (_, index) => framesIn(frame[index])).flat()]);

function sendPreview() {
  for (const frame of framesIn(previewFrame.contentWindow)) frame.postMessage({ preview: air.preview }, location.origin);
}

addEventListener("message", ({ origin, source, data }) => {
  if (origin !== location.origin || data?.preview !== "wanted") return;
  const isPreview = framesIn(previewFrame.contentWindow).some((frame) => frame === source);
  if (isPreview) /** @type {Window} */ (source).postMessage({ preview: air.preview }, origin);
});

function showMonitors() {
  document.documentElement.classList.toggle("at-once", air.atOnce);
  if (!air.atOnce && at("preview").childElementCount === 0) openMonitor(at("preview"), previewFrame);
}

// --- the page ------------------------------------------------------------------------------------------------------

feed.on("game", (game) => {
  if (game === undefined) return;
  const score = AWAY_FIRST.map((side) => `${game[side].short} ${game[side].points}`).join(", ");
  setText(at("game"), [score, game.phase === "over" ? "final" : downAndDistance(game, true), capitalize(game.phase_text)].filter(Boolean).join(" · "));
});
feed.onLink((link) => {
  document.documentElement.dataset.link = link;
  const words = { connecting: "Connecting…", lost: "Reconnecting…", stale: "No connection", live: "Live" };
  const level = link === "live" ? "ok" : link === "stale" ? "alarm" : "warning";
  refresh(at("state"), link, () => [el("span", { class: `dot ${level}` }), el("span", {}, words[link])]);
});

at("take").addEventListener("click", () => desk.act(at("take"), () => air.take()));
at("discard").addEventListener("click", () => air.discard());
at("at-once").checked = localStorage.getItem(AT_ONCE) === "yes";
air.atOnce = at("at-once").checked;
at("at-once").addEventListener("change", () => {
  air.atOnce = at("at-once").checked;
  localStorage.setItem(AT_ONCE, air.atOnce ? "yes" : "no");
  showMonitors();
});
addEventListener("keydown", (event) => {
  const isTyping = event.target instanceof Element && event.target.matches("input, select, textarea");
  if (isTyping || event.ctrlKey || event.metaKey || event.altKey || at("desk").disabled) return;
  if (event.key === "t" || event.key === "T") at("take").click();
  if (event.key === "Escape") at("discard").click();
});

noteAccess(at("access"), feed, ["producer", "operator", "referee", "admin"]).then((session) => {
  at("desk").disabled = !["producer", "operator", "referee", "admin"].includes(session?.role ?? "");
});
showMonitors();
openMonitor(at("air"), el("iframe", { title: "On air", tabindex: -1 }));
reloadOnUpgrade(feed);
update();
feed.start();
