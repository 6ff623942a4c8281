// The cards, one at a time: a drive, a player, a line-up, both teams, a call under review, a message, a lower third; and those
// over the whole picture: starting soon, halftime, final.

import { stepAside } from "./action.js";
import { applyTeamColors } from "./color.js";
import { el, setText } from "./dom.js";
import { capitalize, formatCallText, formatClock } from "./format.js";
import { logoImage } from "./logos.js";
import { overlay } from "./overlay.js";

const PLAYING = ["live", "in_air", "kick"];

/** These lie over everything, so nothing is to be seen under them. @type {string[]} */
const FULL = ["starting_soon", "halftime", "final"];

overlay("graphics", (stage, options, feed) => {
  stage.style.setProperty("--lift", `${options.lift}px`);
  /** @type {?{ kind: string, element: HTMLElement }} */
  let shown = null;
  let timer = 0;
  stepAside(() => (shown === null || FULL.includes(shown.kind) ? null : shown.element), feed);
  setInterval(() => count(stage, feed.now()), 200);

  if (options.show !== "chosen") {
    showAlways(options.show);
    return;
  }
  feed.on("graphic", (card, { snapshot }) => {
    // One that was put up to stay is shown to a page that is opened later; one that passes is not.
    if (card === undefined || card.kind === "none") leave();
    else if (!snapshot || card.seconds === 0) show(card);
  });
  feed.on("game", (game) => {
    if (shown !== null && shown.kind !== "message" && PLAYING.includes(game?.phase ?? "")) leave(); // never over a play
  });

  /** Show one kind of card and no other: as the producer has it on air, or else as it is made of the game. @param {string} kind */
  function showAlways(kind) {
    let asked = 0;
    const make = async () => {
      const [card, request] = [feed.value("graphic"), ++asked];
      if (card?.kind === kind) return show({ ...card, seconds: 0 });
      const response = await fetch(address(`api/graphic/${kind}`, options.key), { credentials: "same-origin" }).catch(() => null);
      if (request !== asked || response === null) return; // the next change asks again
      if (response.ok) show({ ...(await response.json()), seconds: 0 });
      else leave(); // such as the final score of a game that goes on
    };
    let before = "";
    /** @param {unknown} value of what the card is made of */
    const follow = (value) => {
      const now = JSON.stringify(value);
      if (now !== before) make();
      before = now;
    };
    const told = () => {
      const [game, card] = [feed.value("game"), feed.value("graphic")];
      if (game !== undefined) follow([game.game, game.phase === "over", game.home, game.away, card?.kind === kind && card.take]);
    };
    for (const topic of /** @type {const} */ (["game", "graphic"])) feed.on(topic, told);
    feed.onRestart(() => (before = ""));
  }

  /** @param {Service.GraphicView} card */
  function show(card) {
    leave();
    const game = feed.value("game");
    const element = cardElement(card, game, options.key);
    if (card.side !== null && game !== undefined) applyTeamColors(element, game[card.side]);
    shown = { kind: card.kind, element };
    stage.append(element);
    count(stage, feed.now());
    const fitted = () => {
      if (FULL.includes(card.kind)) fitAll(/** @type {HTMLElement} */ (element.firstElementChild), stage.clientHeight);
      else fit(element, stage.clientHeight - options.lift);
    };
    fitted();
    document.fonts.ready.then(fitted); // what comes later, letters and logos, may take more room
    for (const image of element.querySelectorAll("img")) image.addEventListener("load", fitted, { once: true });
    const from = FULL.includes(card.kind) ? "0 0" : "0 calc(var(--away, 1) * 40px)";
    element.animate([{ opacity: 0, translate: from }, { opacity: 1, translate: "0 0" }], {
      duration: 450,
      easing: "cubic-bezier(0.2, 0.7, 0.2, 1)",
    });
    clearTimeout(timer);
    if (card.seconds > 0) timer = setTimeout(leave, 1000 * card.seconds);
  }

  function leave() {
    clearTimeout(timer);
    if (shown === null) return;
    const { element } = shown;
    shown = null;
    element.animate([{ opacity: 1 }, { opacity: 0 }], { duration: 350, fill: "forwards" }).onfinish = () => element.remove();
  }
});

/** Draw all of a card over the whole picture smaller that is taller than it. @param {HTMLElement} content @param {number} room_px */
function fitAll(content, room_px) {
  content.style.zoom = "";
  if (content.offsetHeight > room_px) content.style.zoom = String(room_px / content.offsetHeight);
}

/**
 * Draw a card smaller that is taller than the part of the picture that every screen shows: nothing is cut off.
 *
 * @param {HTMLElement} element
 * @param {number} room_px
 */
function fit(element, room_px) {
  element.style.removeProperty("--scale");
  const scale = Number(getComputedStyle(element).getPropertyValue("--scale")) || 1;
  const share = room_px / (scale * element.offsetHeight);
  if (share < 1) element.style.setProperty("--scale", String(share * scale));
}

/** @param {Service.GraphicView} card @param {Service.GameView | undefined} game @param {string} key */
function cardElement(card, game, key) {
  if (FULL.includes(card.kind)) return fullCard(card);
  if (card.kind === "lower_third") return lowerThird(card);
  const logo = card.logo ?? (card.side === null ? null : (game?.[card.side].logo ?? null));
  const sided = card.rows.some((row) => row.values.length === 2);
  return el(
    "article",
    { class: `card scaled ${card.kind}${card.side === null ? "" : " with-team"}` },
    el("header", { class: logo && "with-logo" }, logo && logoImage(logo), el("h1", { dir: "auto" }, capitalize(card.title)), card.subtitle && el("p", { dir: "auto" }, capitalize(formatCallText(card.subtitle)))),
    card.picture && el("img", { src: address(card.picture, key), alt: "What the call is about" }),
    sided && game && el("div", { class: "row names" }, el("b", {}, game.away.short), el("span", {}, ""), el("b", {}, game.home.short)),
    card.rows.length > 0 && el("div", { class: "rows" }, card.rows.map(row)),
  );
}

/** Two lines about a person, with a picture where there is one. @param {Service.GraphicView} card */
function lowerThird({ title, subtitle, side, logo }) {
  return el(
    "article",
    { class: `card scaled lower_third${side === null ? "" : " with-team"}` },
    logo !== null && logoImage(logo),
    el("div", {}, el("h1", { dir: "auto", class: sizeOf(title) }, title), subtitle && el("p", { dir: "auto" }, capitalize(subtitle))),
  );
}

/** @param {Service.GraphicView} card */
function fullCard({ kind, title, subtitle, logo, teams, rows, until_ms }) {
  return el(
    "article",
    { class: `full ${kind}` },
    el(
      "div",
      {},
      el("header", {}, logo !== null && logoImage(logo), el("h1", { dir: "auto", class: sizeOf(title) }, title), subtitle && el("p", { dir: "auto" }, subtitle)),
      el("div", { class: "sides" }, teams.map((team) => sideOf(team, kind !== "starting_soon"))),
      until_ms !== null && el("time", { "data-until": until_ms }),
      rows.length > 0 && el("div", { class: "rows" }, rows.map(row)),
    ),
  );
}

/** @param {Service.TeamView} team @param {boolean} withPoints */
function sideOf(team, withPoints) {
  const element = el(
    "section",
    {},
    team.logo !== null && el("span", { class: "on-white" }, logoImage(team.logo)),
    el("h2", { dir: "auto", class: sizeOf(team.name) }, team.name),
    withPoints && el("b", {}, String(team.points)),
  );
  applyTeamColors(element, team);
  return element;
}

/** A class for long texts, which are written smaller. @param {string} text */
const sizeOf = (text) => ([...text].length > 34 ? "longest" : [...text].length > 16 ? "long" : "");

/** Say how long a countdown has to go. @param {HTMLElement} stage @param {number} now_ms */
function count(stage, now_ms) {
  const time = stage.querySelector("time");
  if (time === null) return;
  const left_s = Math.ceil((Number(time.dataset.until) - now_ms) / 1000);
  setText(time, left_s > 0 ? formatClock(left_s) : "Any moment now");
}

/** @param {Service.GraphicRow} row */
function row({ label, values }) {
  if (values.length === 2) return el("div", { class: "row both" }, el("b", {}, values[0]), el("span", {}, label), el("b", {}, values[1]));
  return el("div", { class: "row" }, el("span", {}, label), el("b", { dir: "auto" }, values[0]));
}

/** @param {string} path @param {string} key */
function address(path, key) {
  const url = new URL(path, document.baseURI);
  if (key) url.searchParams.set("key", key);
  return url.href;
}
