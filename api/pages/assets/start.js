// The start page: the live game, and links to everything else.

import { noteAccess } from "./access_notice.js";
import { Board } from "./board.js";
import { applyTeamColors } from "./color.js";
import { el, elementsOf, findAll, refresh, refreshList, setText, showState } from "./dom.js";
import { Feed, reloadOnUpgrade } from "./feed.js";
import { followPicture } from "./live_picture.js";
import { callDetails, callHead, framesLink } from "./panel_calls.js";
import { downloadsCard } from "./start_downloads.js";
import { showDevices } from "./start_devices.js";
import { errorText } from "./send.js";
import { elsewhereRow, overlayCards } from "./start_overlays.js";
import { startTour } from "./tour.js";
import { START_TOUR } from "./tours.js";
import { AWAY_FIRST, capitalize, downAndDistance, formatCallText, humanize, formatSpot } from "./format.js";

const CALLS_SHOWN = 20;

/** What the page shows one at a time, by its address; the first without one. */
const PARTS = ["play", "stream", "set-up"];

const at = elementsOf("index");
const feed = new Feed(["game", "ball", "calls", "line_up", "scene", "health", "source"]);
const board = new Board();
at("map").append(board.element);
overlayCards().then((cards) => at("overlays").append(...cards), (error) => at("overlays").append(errorText(error)));

board.follow(feed);
feed.on("game", (game) => {
  if (game === undefined) return;
  refresh(at("score"), [game.home, game.away, game.possession], () => AWAY_FIRST.map((side) => scoreBox(game, side)));
  const over = game.phase === "over";
  setText(at("down"), over ? "Final" : `${capitalize(downAndDistance(game, true))} at ${formatSpot(game.spot_text, true)}`);
  setText(at("phase"), [capitalize(game.phase_text), `board ${game.board}`, game.clock.text, game.rulebook_title].filter(Boolean).join(" · "));
});
feed.on("calls", (update) => refreshList(at("calls"), (update?.calls ?? []).slice(-CALLS_SHOWN).reverse(), callItem));
feed.on("source", (source) => {
  setText(at("source"), source?.text ?? "");
  at("camera").hidden = source?.kind === "none"; // a game that is kept by hand has no picture
  at("tour-button").hidden = source === undefined || source.live; // a table in play needs no tour
});
feed.on("health", updateStatus);
feed.onLink((link) => {
  document.documentElement.dataset.link = link;
  updateStatus();
});
followPicture(at("live"), feed)();

/** @param {Service.GameView} game @param {Side} side */
function scoreBox(game, side) {
  const team = game[side];
  const box = el("div", { class: `team${game.possession === side ? " possession" : ""}` }, el("b", {}, team.name), el("span", { class: "points" }, String(team.points)));
  applyTeamColors(box, team);
  return box;
}

/** @param {Service.CallView} call @param {HTMLElement} item */
function callItem(call, item) {
  item.className = `call ${call.verdict} ${call.standing}`;
  return [callHead(call), el("details", {}, el("summary", {}, "Details"), callDetails(call), framesLink(call))];
}

function updateStatus() {
  const health = feed.value("health");
  /** @type {Partial<Record<Link, string>>} */
  const links = { connecting: "Connecting…", lost: "Reconnecting…", stale: "No connection" };
  const level = feed.link === "live" ? (health?.level ?? "") : "warning";
  const text = links[feed.link] ?? capitalize(formatCallText(health?.text || humanize(health?.level ?? "live")));
  showState(at("state"), level, text);
}

/** Show one part of the page; the others are hidden. @param {string} part */
function showPart(part) {
  for (const section of findAll(document, "[data-part]")) section.hidden = section.dataset.part !== part;
  for (const link of findAll(document, "#parts a")) link.toggleAttribute("aria-current", link.getAttribute("href") === `#${part}`);
}

const partInAddress = () => (PARTS.includes(location.hash.slice(1)) ? location.hash.slice(1) : PARTS[0]);
addEventListener("hashchange", () => {
  showPart(partInAddress());
  scrollTo(0, 0);
});
showPart(partInAddress());

at("tour-button").addEventListener("click", () => startTour(START_TOUR, (part = partInAddress()) => showPart(part)));

async function showAccess() {
  const session = await noteAccess(at("access"), feed, ["viewer", "producer", "operator", "referee", "admin"]);
  const isAdmin = session?.role === "admin";
  at("overlays").before(...(isAdmin ? [elsewhereRow()] : []), downloadsCard(isAdmin));
  if (!isAdmin) return;
  await showDevices();
}

async function showAbout() {
  const response = await fetch("about");
  if (!response.ok) return;
  const about = /** @type {Service.AboutRig} */ (await response.json());
  at("about").replaceChildren(`Downfield ${about.version}. This rig signs what it exports with the key `, el("code", {}, about.public_key));
  at("about").hidden = false;
}

showAccess().catch(() => {}); // pairing is left out
showAbout().catch(() => {}); // the line is left out
reloadOnUpgrade(feed);
feed.start();
