// The operator panel, made for one thumb. Buttons carry the request they send; one listener sends it.

import { noteAccess } from "./access_notice.js";
import { applyTeamColors } from "./color.js";
import { around, changedAt, childrenOf, el, elementsOf, refresh, refreshList, setText } from "./dom.js";
import { Feed, reloadOnUpgrade } from "./feed.js";
import { challengeItem } from "./challenges.js";
import { followPicture } from "./live_picture.js";
import { declarationData } from "./panel_fields.js";
import { callItem } from "./panel_calls.js";
import { moreSections } from "./panel_more.js";
import { playerActions, quickActions } from "./panel_actions.js";
import { playerSection } from "./panel_players.js";
import { loadLegal, diceDue, followLegal, mayName, refusal, sidesToName } from "./panel_legal.js";
import { alertOperator, vibrate } from "./panel_preferences.js";
import { mergeRulings, questionCard } from "./panel_questions.js";
import { stripSection } from "./panel_strip.js";
import { healthAlert, healthSection } from "./panel_health.js";
import { Outbox } from "./outbox.js";
import { keepPage, rememberGame, waitingSection } from "./panel_offline.js";
import { NoResponseError, messageOf, send } from "./send.js";
import { startTour } from "./tour.js";
import { PANEL_TOUR } from "./tours.js";
import { AWAY_FIRST, capitalize, downAndDistance, formatCallText, formatClock, formatPeriod, formatSpot, humanize } from "./format.js";
import { keepScreenOn } from "./wake_lock.js";

/** Faster than human reaction: a tap this soon after a change was meant for the button that was there before. */
const REACTION_MS = 300;

const NOTICE_MS = 9_000;

const TOUR_DELAY_MS = 800;

const CALLS_SHOWN = 25;
const DECLARATIONS_SHOWN = 8;

const at = elementsOf("panel");
export const feed = new Feed(["game", "ball", "calls", "questions", "declared", "line_up", "scene", "health", "source", "notice", "challenges", "strip", "schedule"]);
const more = moreSections(at("more"), feed);

// --- display -------------------------------------------------------------------------------------------------------

feed.on("game", () => {
  const game = feed.value("game");
  if (game === undefined) return;
  refresh(at("score"), [game.home, game.away, game.possession], () => AWAY_FIRST.map((side) => scoreBox(game, side)));
  setText(at("down"), game.phase === "over" ? "Final" : `${capitalize(downAndDistance(game, true))} at ${formatSpot(game.spot_text, true)}`);
  updatePhase();
  updateActions();
  updateQuestions();
  keepScreenOn(game.phase !== "over");
});
feed.on("ball", updateActions);
feed.on("line_up", updateActions);
feed.on("questions", updateQuestions);
feed.on("calls", (update) => {
  const latest = (update?.calls ?? []).slice(-CALLS_SHOWN).reverse().map((call, place) => ({ ...call, latest: place < 3 }));
  refreshList(at("calls"), latest, callItem);
});
feed.on("declared", (declared) => {
  refreshList(at("declared"), (declared?.events ?? []).slice(-DECLARATIONS_SHOWN).reverse(), declarationItem);
});
feed.on("challenges", (view) => {
  const teams = { home: feed.value("game")?.home.name ?? "Home", away: feed.value("game")?.away.name ?? "Away" };
  const open = (view?.challenges ?? []).filter((challenge) => challenge.decision === null);
  refreshList(at("challenges"), open, (challenge, item) => {
    item.className = "card ruling";
    return challengeItem(view?.game ?? "current", challenge, teams);
  });
});
feed.on("strip", () => stripSection(at("strip"), feed.value("strip")));
feed.on("health", updateHealth);
feed.on("notice", (notice, { snapshot }) => {
  if (notice !== undefined && !snapshot) showNotice(notice.text, notice.level);
});
/** @type {Outbox} */
const outbox = new Outbox({
  game: () => feed.value("game")?.game ?? null,
  connected: () => feed.link === "live",
  changed: (waiting) => waitingSection(at("outbox"), waiting, (id) => outbox.drop(id)),
  refused: ({ label }, reason) => showNotice(`${label}: ${reason}`, "warning"),
});

feed.onLink((link) => {
  document.documentElement.dataset.link = link;
  updateHealth();
  if (link === "live") outbox.flush();
});

// The start page's tour goes on here, once there is something to show.
if (new URLSearchParams(location.search).has("tour")) setTimeout(() => startTour(PANEL_TOUR), TOUR_DELAY_MS);

/** @param {Service.GameView} game @param {Side} side */
function scoreBox(game, side) {
  const team = game[side];
  const box = el(
    "div",
    { class: `team${game.possession === side ? " possession" : ""}`, title: team.name },
    el("b", {}, team.short),
    el("span", { class: "points" }, String(team.points)),
  );
  applyTeamColors(box, team);
  return box;
}

function updatePhase() {
  const game = feed.value("game");
  if (game === undefined) return;
  const { left_s, running, at_ms } = game.clock;
  const elapsed_s = running ? Math.max(0, feed.now() - (at_ms ?? feed.now())) / 1000 : 0;
  const clock = left_s === null ? game.clock.text : formatClock(left_s - elapsed_s);
  const parts = [capitalize(game.phase_text), `board ${game.board}`, `${formatPeriod(game.period)} ${clock}`.trim()];
  setText(at("phase"), parts.join(" · "));
}

function updateActions() {
  const [game, ball, lineUp] = [feed.value("game"), feed.value("ball"), feed.value("line_up")];
  if (game === undefined) return;
  const actions = game.wait === null ? quickActions(game) : [];
  refresh(at("dock"), actions, () => actions.map(actionButton));
  for (const button of childrenOf(at("dock"))) dim(button, refusal(declarationOn(button)));
  at("shadow").hidden = !game.shadow;
  playerSection(at("ball"), game, ball, lineUp, game.wait === null ? playerActions(game, ball) : [], mayName);
}

/** @param {import("./panel_actions.js").Action} action */
const actionButton = ({ label, declaration, tone }) =>
  el("button", { type: "button", class: tone || null, ...declarationData(declaration) }, capitalize(label));

/**
 * Dim a button whose declaration would be refused now; a tap on it says why. It is not rebuilt, so that it can be
 *  tapped at once when it may be used again.
 *
 * @param {HTMLElement} button
 * @param {string} reason
 */
function dim(button, reason) {
  button.classList.toggle("dimmed", reason !== "");
  button.title = reason;
  if (reason) button.setAttribute("aria-disabled", "true");
  else button.removeAttribute("aria-disabled");
}

/** What a button declares. @param {HTMLElement} button @returns {Declaration} */
const declarationOn = (button) => JSON.parse(button.dataset.body ?? "{}").declaration;

/** Ids of the questions that were there before; null before the first are known, so that opening the page sounds no alarm. */
/** @type {?Set<string>} */
let known = null;

function updateQuestions() {
  const [questions, game] = [feed.value("questions"), feed.value("game")];
  if (game === undefined) return;
  const items = (questions?.questions ?? []).map((question) => ({
    ...question,
    dice: question.kind === "roll" ? diceDue(question.purpose) : null,
    instead: question.kind === "roll" ? refusal({ type: "roll", purpose: question.purpose }) : "",
    named: question.kind === "choice" && question.by === null ? question.options.map(sidesToName) : [],
  }));
  refreshList(at("questions"), mergeRulings(items), (question) => questionCard(question, game));
  const ids = items.map(({ id }) => id);
  const before = known;
  if (before !== null && ids.some((id) => !before.has(id))) alertOperator();
  known = new Set(ids);
}

/**
 * A declaration in words, with the teams' names for home and away; the text of a call, which a ruling names, has them.
 *
 * @param {Service.DeclarationView} declaration
 */
function declaredText({ type, text }) {
  const game = feed.value("game");
  const named = type === "ruling" || game === undefined ? text : text.replace(/\b(home|away)\b/g, (side) => game[/** @type {Side} */ (side)].short);
  return formatCallText(named);
}

/** @param {Service.DeclarationView} declaration @param {HTMLElement} item */
function declarationItem(declaration, item) {
  item.className = declaration.undone || declaration.set_aside ? "undone" : "";
  return [
    el("span", { class: "what" }, capitalize(declaredText(declaration)), el("small", {}, declaration.set_aside ? `no longer counts: ${declaration.set_aside}` : declaration.by)),
    !declaration.undone &&
      el(
        "button",
        { type: "button", class: "small", "aria-label": `Undo: ${declaredText(declaration)}`, "data-post": `api/events/${encodeURIComponent(declaration.id)}/undo`, "data-body": "{}" },
        "Undo",
      ),
  ];
}

function updateHealth() {
  const health = feed.value("health");
  const links = { connecting: "Connecting…", lost: "Reconnecting…", stale: "No connection", live: "Live" };
  const level = feed.link === "live" ? (health?.level ?? "ok") : feed.link === "lost" ? "warning" : feed.link === "stale" ? "alarm" : "";
  const text = feed.link === "live" && level !== "ok" ? humanize(health?.reasons[0]?.code ?? level) : links[feed.link];
  refresh(at("link"), [level, text], () => [el("span", { class: `dot ${level}` }), el("span", {}, capitalize(text))]);
  at("link").setAttribute("aria-label", `Connection and camera: ${text}`);
  const open = at("link").getAttribute("aria-expanded") === "true";
  const alert = !open && feed.link === "live" && level !== "ok";
  at("health").hidden = !open;
  healthSection(at("health"), health, feed.value("source"));
  healthAlert(at("health-alert"), alert ? health : undefined);
}

at("health-alert").addEventListener("click", (event) => {
  if (around(event, "button")?.dataset.more === undefined) return;
  at("link").setAttribute("aria-expanded", "true");
  updateHealth();
});

at("link").addEventListener("click", () => {
  const open = at("link").getAttribute("aria-expanded") === "true";
  at("link").setAttribute("aria-expanded", String(!open));
  updateHealth();
});

// --- input ---------------------------------------------------------------------------------------------------------

/** @type {{ at_ms: number, target: ?EventTarget }} where and when a finger came down last */
let pressed = { at_ms: 0, target: null };
addEventListener("pointerdown", (event) => (pressed = { at_ms: event.timeStamp, target: event.target }), { capture: true });

document.addEventListener("click", (event) => {
  const button = around(event, "[data-post], [data-batch]", HTMLButtonElement);
  if (button === null || button.disabled || button.getAttribute("aria-busy") === "true") return;
  const fingerDown_ms = pressed.target instanceof Node && button.contains(pressed.target) && event.timeStamp - pressed.at_ms < 2_000 ? pressed.at_ms : event.timeStamp;
  if (event.detail > 0 && fingerDown_ms - changedAt(button) < REACTION_MS) {
    nudge(button);
    return;
  }
  if (button.getAttribute("aria-disabled") === "true") {
    explainRefusal(button);
    return;
  }
  if (button.dataset.batch !== undefined) {
    /** @type {{ path: string, body: RequestBody }[]} */
    const batch = JSON.parse(button.dataset.batch);
    const requests = batch.map(({ path, body }) => ({ path, body, timed: false, label: labelOf(button), pressed_ms: fingerDown_ms }));
    trackRequest(button, Promise.all(requests.map((request) => outbox.submit(request))).then((receipts) => receipts.at(-1)), true);
    return;
  }
  const { post: path = "", method = "POST", body: content = "{}" } = button.dataset;
  const [body, timed] = [JSON.parse(content), isTimed(button)];
  const submit = () => trackRequest(button, outbox.submit({ path, body, timed, label: labelOf(button), pressed_ms: fingerDown_ms }), true);
  if (UNDO.test(path) && feed.link === "live") undoAfterPreview(button, path, submit);
  else if (Outbox.keeps(path, method)) submit();
  else trackRequest(button, send(path, body, { method }));
});

/** Longer than judging some minutes again takes; a tap waits no longer for what it would change. */
const PREVIEW_MS = 3_000;
const UNDO = /^api\/events\/[^/]+\/undo$/;

/**
 * Undo, unless something that came later goes with it: that is shown first. What can't be told is undone at once.
 *
 * @param {HTMLElement} button
 * @param {string} path
 * @param {() => void} submit
 */
async function undoAfterPreview(button, path, submit) {
  button.setAttribute("aria-busy", "true");
  /** @type {{ lines: string[], more: boolean }} */
  let preview = { lines: [], more: false };
  try {
    const response = await fetch(path, { credentials: "same-origin", signal: AbortSignal.timeout(PREVIEW_MS) });
    if (response.ok) preview = await response.json();
  } catch {
    // Without a network the undo is kept and sent later, like any tap.
  }
  button.removeAttribute("aria-busy");
  if (!preview.more) return submit();
  const act = () => {
    hideNotice();
    submit();
  };
  showNotice(`With it: ${preview.lines.map(formatCallText).join(" ")}`, "warning", { label: "Undo all of this", act });
}

/** @param {HTMLElement} button */
const labelOf = (button) => (button.getAttribute("aria-label") ?? button.innerText).replace(/\s+/g, " ").trim();

/** Say why a dimmed button would be refused, unless that has changed meanwhile: then a second tap sends it. @param {HTMLElement} button */
async function explainRefusal(button) {
  await loadLegal();
  const reason = refusal(declarationOn(button));
  updateActions();
  if (reason) showNotice(capitalize(reason), "warning");
}

/** Only declarations are sent with the moment the finger came down. @param {HTMLElement} button */
const isTimed = (button) => button.dataset.post === "api/declarations";

/**
 * Wait for the answer: the button is busy, and a refusal is shown with its reason. `kept`: it is sent later without one.
 *
 * @param {HTMLElement} button
 * @param {Promise<any>} sending of the receipt
 * @param {boolean} [kept]
 */
async function trackRequest(button, sending, kept = false) {
  button.setAttribute("aria-busy", "true");
  try {
    const receipt = await sending;
    vibrate(12);
    more.done(button);
    if (receipt.saved === false) showNotice("Accepted, but not saved to disk yet. Check the rig.", "warning");
    else hideNotice();
  } catch (error) {
    if (error instanceof NoResponseError && kept) {
      vibrate([12, 60, 12]);
      more.done(button);
    } else if (error instanceof NoResponseError) {
      const { retry } = error;
      showNotice(error.message, "alarm", retry && { label: "Try again", act: () => trackRequest(button, retry()) });
    } else {
      showNotice(capitalize(messageOf(error)), "warning");
    }
  } finally {
    button.removeAttribute("aria-busy");
  }
}

/** @param {HTMLElement} button */
function nudge(button) {
  button.animate([{ transform: "none" }, { transform: "translateX(5px)" }, { transform: "none" }], { duration: 160 });
}

let noticeTimer = 0;

/** @param {string} text @param {string} level @param {?{ label: string, act: () => void }} [action] */
function showNotice(text, level, action = null) {
  const box = at("notice");
  box.className = level;
  box.hidden = false;
  box.replaceChildren(
    el("p", {}, text),
    ...(action ? [el("button", { type: "button", class: "small", onclick: action.act }, action.label)] : []),
    el("button", { type: "button", class: "small", "aria-label": "Dismiss", onclick: hideNotice }, "✕"),
  );
  clearTimeout(noticeTimer);
  if (action === null) noticeTimer = setTimeout(hideNotice, NOTICE_MS);
}

function hideNotice() {
  at("notice").hidden = true;
}

followLegal(feed, at("more"), () => {
  more.offer();
  updateActions();
  updateQuestions();
});
noteAccess(at("pairing"), feed, ["operator", "referee", "admin"]); // before its taps are refused
const wide = matchMedia("(min-width: 1200px)");
const showPicture = followPicture(at("picture"), feed, () => wide.matches); // a phone has no room for it, and its battery none to spare
wide.addEventListener("change", showPicture);
// After all else: a stream of pictures never ends, and the page would be loading for ever.
if (document.readyState === "complete") showPicture();
else addEventListener("load", () => setTimeout(showPicture));
setInterval(updatePhase, 500);
reloadOnUpgrade(feed);
rememberGame(feed);
outbox.start();
feed.start();
keepPage();
