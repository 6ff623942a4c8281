// The operator panel: one page, one thumb. Every button that says something carries what it says; one listener sends it.

import { dress } from "/assets/color.js";
import { changedAt, el, refresh, refreshList, say } from "/assets/dom.js";
import { Feed, reloadOnUpgrade } from "/assets/feed.js";
import { callItem } from "/assets/panel_calls.js";
import { moreSection } from "/assets/panel_more.js";
import { offers, verbs } from "/assets/panel_offers.js";
import { players } from "/assets/panel_players.js";
import { question } from "/assets/panel_questions.js";
import { healthSection } from "/assets/panel_health.js";
import { send, Unanswered } from "/assets/send.js";
import { capital, clockText, downAndDistance, periodText, plain, spot } from "/assets/words.js";

/** Nobody reacts faster: a finger that comes down this soon after a change was meant for what was there before. */
const REACTION_MS = 300;

const NOTICE_MS = 9_000;

const CALLS_SHOWN = 25;
const SAID_SHOWN = 8;

const at = (id) => document.getElementById(id);
const feed = new Feed(["game", "ball", "calls", "questions", "declared", "line_up", "scene", "health", "source", "notice"]);
const more = moreSection(at("more"), feed);

// --- what is shown -------------------------------------------------------------------------------------------------

feed.on("game", () => {
  const game = feed.value("game");
  if (game === undefined) return;
  refresh(at("score"), [game.home, game.away, game.possession], () => ["away", "home"].map((side) => scoreOf(game, side)));
  say(at("down"), game.phase === "over" ? "Final" : `${capital(downAndDistance(game, true))} at ${spot(game.spot_text, true)}`);
  tellPhase();
  tellOffers();
  tellQuestions();
});
feed.on("ball", tellOffers);
feed.on("line_up", tellOffers);
feed.on("questions", tellQuestions);
feed.on("calls", ({ calls } = { calls: [] }) => {
  const latest = calls.slice(-CALLS_SHOWN).reverse().map((call, place) => ({ ...call, latest: place < 3 }));
  refreshList(at("calls"), latest, callItem);
});
feed.on("declared", ({ events } = { events: [] }) => {
  refreshList(at("said"), events.slice(-SAID_SHOWN).reverse(), saidItem);
});
feed.on("health", tellHealth);
feed.on("notice", (notice, { snapshot }) => {
  if (notice !== undefined && !snapshot) tell(notice.text, notice.level);
});
feed.onLink((link) => {
  document.documentElement.dataset.link = link;
  tellHealth();
});

function scoreOf(game, side) {
  const team = game[side];
  const short = el("b", {}, team.short);
  const box = el(
    "div",
    { class: `team${game.possession === side ? " possession" : ""}`, title: team.name },
    short,
    el("span", { class: "points" }, String(team.points)),
  );
  dress(box, team);
  return box;
}

function tellPhase() {
  const game = feed.value("game");
  if (game === undefined) return;
  const { left_s, running, at_ms } = game.clock;
  const gone_s = running ? Math.max(0, feed.now() - (at_ms ?? feed.now())) / 1000 : 0;
  const clock = left_s === null ? game.clock.text : clockText(left_s - gone_s);
  const parts = [capital(game.phase_text), `board ${game.board}`, `${periodText(game.period)} ${clock}`.trim()];
  say(at("phase"), parts.join(" · "));
}

function tellOffers() {
  const [game, ball, lineUp] = ["game", "ball", "line_up"].map((topic) => feed.value(topic));
  if (game === undefined) return;
  const offered = game.wait === null ? offers(game) : [];
  refresh(at("dock"), offered, () => offered.map(offerButton));
  players(at("ball"), game, ball, lineUp, game.wait === null ? verbs(game, ball) : []);
}

const offerButton = ({ label, declaration, tone }) =>
  el("button", { type: "button", class: tone || null, ...declares(declaration) }, capital(label));

/** Attributes of a button that declares something. */
const declares = (declaration) => ({ "data-post": "/api/declarations", "data-body": JSON.stringify({ declaration }) });

function tellQuestions() {
  const [asked, game] = [feed.value("questions"), feed.value("game")];
  if (game === undefined) return;
  refreshList(at("questions"), asked?.questions ?? [], (one) => question(one, game));
}

function saidItem(said, item) {
  item.className = said.undone || said.set_aside ? "undone" : "";
  return [
    el("span", { class: "what" }, capital(said.text), el("small", {}, said.set_aside ? `set aside: ${said.set_aside}` : said.by)),
    !said.undone &&
      el(
        "button",
        { type: "button", class: "small", "aria-label": `Undo: ${said.text}`, "data-post": `/api/events/${encodeURIComponent(said.id)}/undo`, "data-body": "{}" },
        "Undo",
      ),
  ];
}

function tellHealth() {
  const health = feed.value("health");
  const words = { connecting: "Connecting", lost: "Reconnecting", stale: "No connection", live: "Live" };
  const level = feed.link === "live" ? (health?.level ?? "ok") : feed.link === "lost" ? "warning" : feed.link === "stale" ? "alarm" : "";
  const told = feed.link === "live" && level !== "ok" ? plain(health.reasons[0]?.code ?? level) : words[feed.link];
  refresh(at("link"), [level, told], () => [el("span", { class: `dot ${level}` }), el("span", {}, capital(told))]);
  at("link").setAttribute("aria-label", `Connection and camera: ${told}`);
  const open = at("link").getAttribute("aria-expanded") === "true" || (feed.link === "live" && level !== "ok");
  at("health").hidden = !open;
  healthSection(at("health"), health, feed.value("source"));
}

at("link").addEventListener("click", () => {
  const open = at("link").getAttribute("aria-expanded") === "true";
  at("link").setAttribute("aria-expanded", String(!open));
  tellHealth();
});

// --- what is said --------------------------------------------------------------------------------------------------

let pressed = { at_ms: 0, target: null };
addEventListener("pointerdown", (event) => (pressed = { at_ms: event.timeStamp, target: event.target }), { capture: true });

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-post]");
  if (button === null || button.disabled || button.getAttribute("aria-busy") === "true") return;
  const fingerDown_ms = button.contains(pressed.target) && event.timeStamp - pressed.at_ms < 2_000 ? pressed.at_ms : event.timeStamp;
  if (event.detail > 0 && fingerDown_ms - changedAt(button) < REACTION_MS) {
    nudge(button);
    return;
  }
  const method = button.dataset.method ?? "POST";
  follow(button, send(button.dataset.post, JSON.parse(button.dataset.body), { method, pressed_ms: timed(button) ? fingerDown_ms : null }));
});

/** Only declarations are told with the moment the finger came down. */
const timed = (button) => button.dataset.post === "/api/declarations";

/** Follow what was sent: the button waits, and what is refused is told with its reason. */
async function follow(button, sending) {
  button.setAttribute("aria-busy", "true");
  try {
    const receipt = await sending;
    navigator.vibrate?.(12);
    more.done(button);
    if (receipt.saved === false) tell("Taken, but not on disk: see the rig", "warning");
    else clear();
  } catch (error) {
    if (error instanceof Unanswered) {
      tell(error.message, "alarm", ["Ask again", () => follow(button, error.again())]);
    } else {
      tell(capital(error.message), "warning");
    }
  } finally {
    button.removeAttribute("aria-busy");
  }
}

function nudge(button) {
  button.animate([{ transform: "none" }, { transform: "translateX(5px)" }, { transform: "none" }], { duration: 160 });
}

let noticeTimer = 0;

function tell(text, level, action = null) {
  const box = at("notice");
  box.className = level;
  box.hidden = false;
  box.replaceChildren(
    el("p", {}, text),
    ...(action ? [el("button", { type: "button", class: "small", onclick: action[1] }, action[0])] : []),
    el("button", { type: "button", class: "small", "aria-label": "Dismiss", onclick: clear }, "✕"),
  );
  clearTimeout(noticeTimer);
  if (action === null) noticeTimer = setTimeout(clear, NOTICE_MS);
}

function clear() {
  at("notice").hidden = true;
}

// --- who says it ---------------------------------------------------------------------------------------------------

/** A device that is not paired, or may only watch, is told so instead of being refused at every tap. */
async function tellWho() {
  const session = await send("/api/session", null, { method: "GET" }).catch(() => null);
  if (session === null || session.role === "operator" || session.role === "admin") return;
  at("who").hidden = false;
  at("who").append(
    el("p", {}, session.role === null ? "This device is not paired yet." : "This device is paired to watch only."),
    el("a", { class: "button small", href: "/pair" }, "Pair it"),
  );
}

tellWho();
setInterval(tellPhase, 500);
reloadOnUpgrade(feed);
feed.start();
