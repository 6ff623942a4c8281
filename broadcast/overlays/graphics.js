// The cards: a drive, a player, a line-up, both teams, a call under review, a message. One at a time.

import { applyTeamColors } from "./color.js";
import { el } from "./dom.js";
import { capitalize, formatCallText } from "./format.js";
import { logoImage } from "./logos.js";
import { overlay } from "./overlay.js";

const PLAYING = ["live", "in_air", "kick"];

overlay("graphics", (stage, options, feed) => {
  stage.style.setProperty("--lift", `${options.lift}px`);
  /** @type {?{ kind: string, element: HTMLElement }} */
  let shown = null;
  let timer = 0;

  feed.on("graphic", (card, { snapshot }) => {
    // One that was put up to stay is shown to a page that is opened later; one that passes is not.
    if (card === undefined || card.kind === "none") leave();
    else if (!snapshot || card.seconds === 0) show(card);
  });
  feed.on("game", (game) => {
    if (shown !== null && shown.kind !== "message" && PLAYING.includes(game?.phase ?? "")) leave(); // never over a play
  });

  /** @param {Service.GraphicView} card */
  function show(card) {
    leave();
    const game = feed.value("game");
    const element = cardElement(card, game, options.key);
    if (card.side !== null && game !== undefined) applyTeamColors(element, game[card.side]);
    shown = { kind: card.kind, element };
    stage.append(element);
    fit(element, stage.clientHeight - options.lift);
    element.animate([{ opacity: 0, translate: "0 calc(var(--away, 1) * 40px)" }, { opacity: 1, translate: "0 0" }], {
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

/**
 * Draw a card smaller that is taller than the part of the picture that every screen shows: nothing is cut off.
 *
 * @param {HTMLElement} element
 * @param {number} room_px
 */
function fit(element, room_px) {
  const scale = Number(getComputedStyle(element).getPropertyValue("--scale")) || 1;
  const share = room_px / (scale * element.offsetHeight);
  if (share < 1) element.style.setProperty("--scale", String(share * scale));
}

/** @param {Service.GraphicView} card @param {Service.GameView | undefined} game @param {string} key */
function cardElement(card, game, key) {
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
