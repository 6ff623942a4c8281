// The start page: the game as it goes, and the way to everything else.

import { Board } from "/assets/board.js";
import { dress } from "/assets/color.js";
import { el, refresh, refreshList, say } from "/assets/dom.js";
import { Feed, reloadOnUpgrade } from "/assets/feed.js";
import { callHead, callWhy, framesLink } from "/assets/panel_calls.js";
import { Refusal, send } from "/assets/send.js";
import { overlayCards } from "/assets/start_overlays.js";
import { capital, downAndDistance, plain, spot } from "/assets/words.js";

const CALLS_SHOWN = 20;

const RETRY_MS = 3_000;

const at = (id) => document.getElementById(id);
const feed = new Feed(["game", "ball", "calls", "line_up", "scene", "health", "source"]);
const board = new Board();
at("map").append(board.element);
at("overlays").append(...overlayCards());

board.follow(feed);
feed.on("game", (game) => {
  if (game === undefined) return;
  refresh(at("score"), [game.home, game.away, game.possession], () => ["away", "home"].map((side) => scoreOf(game, side)));
  const over = game.phase === "over";
  say(at("down"), over ? "Final" : `${capital(downAndDistance(game, true))} at ${spot(game.spot_text, true)}`);
  say(at("phase"), [capital(game.phase_text), `board ${game.board}`, game.clock.text, game.rulebook_title].filter(Boolean).join(" · "));
});
feed.on("calls", ({ calls } = { calls: [] }) => refreshList(at("calls"), calls.slice(-CALLS_SHOWN).reverse(), callOf));
feed.on("source", (source) => say(at("source"), source?.text ?? ""));
feed.on("health", tellState);
feed.onLink((link) => {
  document.documentElement.dataset.link = link;
  tellState();
  if (link === "live") watch();
});

function watch() {
  at("live").src = `/camera.mjpeg?from=${Date.now()}`; // another address, or the browser shows the broken one again
}

at("live").addEventListener("error", () => setTimeout(watch, RETRY_MS));

function scoreOf(game, side) {
  const team = game[side];
  const box = el("div", { class: `team${game.possession === side ? " possession" : ""}` }, el("b", {}, team.name), el("span", { class: "points" }, String(team.points)));
  dress(box, team);
  return box;
}

function callOf(call, item) {
  item.className = `call ${call.verdict} ${call.standing}`;
  return [callHead(call), el("details", {}, el("summary", {}, "Why"), callWhy(call), framesLink(call))];
}

function tellState() {
  const health = feed.value("health");
  const words = { connecting: "Connecting", lost: "Reconnecting", stale: "No connection" };
  const level = feed.link === "live" ? (health?.level ?? "") : "warning";
  const told = words[feed.link] ?? (health?.text || capital(plain(health?.level ?? "live")));
  refresh(at("state"), [level, told], () => [el("span", { class: `dot ${level}` }), el("span", {}, told)]);
}

at("pairing").addEventListener("click", async (event) => {
  const role = event.target.dataset?.role;
  if (role === undefined) return;
  try {
    const made = await send("/api/pairings", { role });
    at("code").replaceChildren(
      el("img", { class: "qr", src: `/api/pairings/${made.id}/qr.svg`, alt: `QR code of ${made.url}` }),
      el("p", {}, el("b", { class: "code" }, made.code), el("br"), `at ${made.url.split("#")[0]}, within ${Math.round(made.expires_s / 60)} minutes`),
    );
  } catch (error) {
    at("code").replaceChildren(el("p", {}, error instanceof Refusal ? capital(error.message) : "The rig does not answer: try again."));
  }
});

reloadOnUpgrade(feed);
feed.start();
