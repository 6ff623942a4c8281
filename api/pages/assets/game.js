// One game: its result, and its plays with their calls, searched and filtered.

import { callWords } from "./call_words.js";
import { clipButton } from "./clip_saving.js";
import { MAY_RULE, challengeButton, challengeItem, challengeRule } from "./challenges.js";
import { el, elementsOf, find, findAll, fragment, refresh, refreshList, setText } from "./dom.js";
import { AWAY_FIRST, SIDES, capitalize, counted, formatCallText, formatPeriod, formatRuling, formatTime, formatVerdict, humanize, nameSides } from "./format.js";
import { showAudit, showDesk } from "./game_desk.js";
import { exportLinks } from "./game_exports.js";
import { gameFacts, standingBadge } from "./game_summary.js";
import { storedName } from "./reviewer_name.js";
import { openRulingDialog } from "./ruling_dialog.js";
import { formParameters, followForm } from "./search_form.js";
import { errorText, read, sendAndWait } from "./send.js";
import { whatIf } from "./what_if.js";
import { thumbnail } from "./thumbnails.js";

const FIRST_PLAYS = 25; // shown at once, about 200 kB
const PLAYS_AT_ONCE = 100; // of those that follow
const CALLS_ALONE = "No camera saw a snap, so here are the calls alone.";
const TOLD_PLAYS = "No camera was used in this game. These are the plays as people told them.";
const NO_CAMERA = "No camera was used in this game. These are the calls that people entered.";

const at = elementsOf("game");
const form = at("search");
let game = new URLSearchParams(location.search).get("game") ?? "current";
let latest = 0;
let shownTarget = "";
let standing = "";
let mayRule = false;
let camera = true; // whether one saw the game
/** @type {?string} of the plays in the list */
let shownQuery = null;
let teams = { home: "Home", away: "Away" };
/** @typedef {import("./ruling_dialog.js").Changes} Changes @type {?Changes} of the last ruling */
let changes = null;

const base = () => `api/games/${encodeURIComponent(game)}`;
/** @param {string} text */
const showMessage = (text) => setText(at("message"), text);
/** @param {string} path */
const get = (path) => read(path, showMessage);

/** Load the game itself; `others` is what else its page shows of it, which the plays need not wait for. */
async function loadGame() {
  /** @type {[Service.ReviewedGame, Service.SessionDetails]} */
  const [details, session] = await Promise.all([get(base()), get("api/session")]);
  nameSides(details);
  ({ standing, camera } = details);
  mayRule = MAY_RULE.has(session.role ?? "");
  at("what-if").hidden = !mayRule && !session.review;
  teams = { home: details.home, away: details.away };
  if (game !== details.id) {
    game = details.id; // "current" in an address that is passed on would become another game
    const query = new URLSearchParams(location.search);
    query.set("game", game);
    history.replaceState(null, "", `?${query}${location.hash}`);
  }
  document.title = `Downfield: ${details.away} at ${details.home}`;
  setText(at("title"), `${details.away} at ${details.home}`);
  refresh(at("standing"), details.standing, () => standingBadge(details.standing));
  refresh(at("summary"), details, () => [
    el("p", { class: "teams" }, AWAY_FIRST.map((side) => [el("span", {}, details[side]), el("span", {}, details.score[SIDES.indexOf(side)])])),
    el("p", { class: "facts" }, gameFacts(details).map((fact) => el("span", {}, fact))),
    details.signatures.length > 0 && el("ul", { class: "signatures" }, details.signatures.map((signature) => signatureLine(details, signature))),
  ]);
  if (mayRule) showDesk(at("desk"), standing, base(), changes, reload);
  refresh(at("export-links"), [base(), session.role, camera], () => exportLinks(base(), session.role, camera));
  const others = Promise.all([showChallenges(details), showRecord()]);
  others.catch(() => {}); // reported where it is awaited
  return { others };
}

async function showRecord() {
  showAudit(at("record"), at("audit"), standing === "in_play" ? [] : await get(`${base()}/audit`));
}

/** @param {Service.ReviewedGame} details @param {Service.SignatureView} signature */
function signatureLine(details, { side, name, score, note, current }) {
  const signed = `${name} signed for ${details[side]}`;
  const other = current ? "" : ` another score: ${details.away} ${score[1]}, ${details.home} ${score[0]}`;
  return el("li", { class: current ? null : "problem" }, `${signed}${other}${note ? `, but disagrees: ${note}` : ""}`);
}

/** @param {Service.ReviewedGame} details */
async function showChallenges(details) {
  /** @type {Service.ChallengesView} */
  const view = await get(`${base()}/challenges`);
  at("challenged").hidden = view.challenges.length === 0;
  setText(at("challenge-rule"), challengeRule(view, details));
  refreshList(at("challenges"), view.challenges, (challenge, item) => {
    item.className = `call ${challenge.decision === null ? "too_close" : challenge.decision === "overturned" ? "overturned" : "confirmed"}`;
    return challengeItem(game, challenge, details, ({ lines }) => onRuled({ lines, note: "" }), mayRule);
  });
}

addEventListener("challenges", reload); // an opinion or an appeal was given

async function reload() {
  try {
    const { others } = await loadGame();
    await loadPlays();
    await others;
  } catch (error) {
    showMessage(errorText(error));
  }
}

/** @param {Changes} made */
function onRuled(made) {
  changes = made;
  reload();
}

/** The periods and kinds of calls there are, to choose from; what is chosen stays. @param {Service.PlayChoices} choices */
function fillChoices({ plays, quarters, kinds }) {
  form.hidden = plays === 0 && standing !== "in_play"; // calls alone are not searched
  choices(find(form, "[name=quarter]", HTMLSelectElement), quarters, (period) => formatPeriod(period));
  choices(find(form, "[name=kind]", HTMLSelectElement), kinds, (kind) => capitalize(humanize(kind)));
}

/** @template {string | number} T @param {HTMLSelectElement} select @param {T[]} values @param {(value: T) => string} text */
function choices(select, values, text) {
  const given = new URLSearchParams(location.search).get(select.name) ?? "";
  // A link may name what has not been played yet.
  const all = given && !values.map(String).includes(given) ? [...values, /** @type {T} */ (typeof values[0] === "number" ? Number(given) : given)] : values;
  select.replaceChildren(select.options[0], ...all.map((value) => el("option", { value }, text(value))));
  select.value = given;
}

/** A play in the list: what else is shown of it changes with the game's standing. @typedef {Service.Play & { id: string, standing: string, camera: boolean }} ListedPlay */

/** Load the plays that are searched for, a page at a time; those of a new search are shown as they come. */
async function loadPlays() {
  const request = ++latest;
  const query = formParameters(form);
  const searched = [...query].length > 0;
  const wanted = query.toString();
  /** @type {ListedPlay[]} */
  const found = [];
  try {
    for (let more = true; more; ) {
      const limit = found.length === 0 ? FIRST_PLAYS : PLAYS_AT_ONCE;
      query.set("limit", String(limit));
      query.set("after", String(found.at(-1)?.number ?? 0));
      /** @type {Service.Play[]} */
      const page = await read(`${base()}/plays?${query}`, (text) => request === latest && showMessage(text));
      if (request !== latest) return; // another search was started meanwhile
      found.push(...page.map((play) => ({ ...play, id: String(play.number), standing, camera })));
      more = page.length === limit;
      if (more && wanted === shownQuery) continue; // the list stays as it is while it is read again
      refreshList(at("plays"), found, playItem);
      if (more) showMessage(`${counted(found.length, "play")} so far. Loading more…`);
      goToTarget();
    }
    shownQuery = wanted;
    /** @type {Service.CallView[]} */
    const calls = found.length > 0 || searched ? [] : await get(`${base()}/calls?limit=1000`);
    if (request !== latest) return;
    if (calls.length > 0) refreshList(at("plays"), [{ id: "calls", calls, standing, camera }], ({ calls }, item) => callsAlone(calls, item));
    showMessage(calls.length > 0 ? (camera ? CALLS_ALONE : NO_CAMERA) : found.length === 0 ? (searched ? "No play matches." : "No play yet.") : searched ? `${counted(found.length, "play")} found.` : camera ? "" : TOLD_PLAYS);
    goToTarget();
  } catch (error) {
    if (request === latest) showMessage(errorText(error));
  }
}

/** Show the play or call that the address names, once it is there; :target alone does not see what came later. */
function goToTarget() {
  if (location.hash.length < 2 || shownTarget === location.hash) return;
  const target = document.getElementById(fragment());
  if (target === null) return;
  shownTarget = location.hash;
  location.replace(location.hash);
  target.scrollIntoView();
}

/** @param {Service.Play} play @param {HTMLElement} item */
function playItem(play, item) {
  item.id = `play-${play.number}`;
  item.className = "play plate";
  const calls = [...play.calls, ...play.struck].sort((a, b) => a.t_ns - b.t_ns);
  return [
    el(
      "header",
      {},
      el("a", { class: "number", href: `#play-${play.number}`, "aria-label": `Link to play ${play.number}` }, `#${play.number}`),
      el("span", { class: "situation" }, play.kind === "scrimmage" ? play.situation : capitalize(humanize(play.kind))),
      el("span", { class: "when" }, [formatPeriod(play.period), play.clock || formatTime(play.t_ns)].filter(Boolean).join(" · ")),
      el("p", { class: "result" }, formatCallText(play.result)),
    ),
    calls.length > 0 && el("ol", {}, calls.map(callItem)),
    camera && playClips(play),
  ];
}

/**
 * The calls of a game without plays, as no snap was seen: such as one kept without a camera.
 *
 * @param {Service.CallView[]} calls
 * @param {HTMLElement} item
 */
function callsAlone(calls, item) {
  item.className = "play plate";
  return el("ol", {}, calls.map(callItem));
}

/** Buttons that save the whole play, and what came of it. @param {Service.Play} play */
function playClips(play) {
  const state = el("p", { class: "muted", role: "status" });
  /** @param {string} label @param {string} file */
  const button = (label, file) => clipButton(label, () => `${base()}/plays/${play.number}/${file}`, (text) => setText(state, text), { "aria-label": `${label} of play ${play.number}` });
  return el("div", { class: "row clips" }, el("span", { class: "muted" }, "Save the play:"), button("Video", "clip.mp4"), button("Slow motion", "clip.mp4?speed=0.25"), button("GIF", "clip.gif"), button("Picture", "picture.png"), state);
}

/** @param {Service.CallView} call */
function callItem(call) {
  const href = `evidence?${new URLSearchParams({ game, call: call.id })}`;
  const text = capitalize(formatCallText(call.text));
  const struck = call.ruling !== null && !["confirm", "manual"].includes(call.ruling.decision);
  return el(
    "li",
    { id: `call-${call.id}`, class: `call ${call.verdict} ${call.standing}${camera ? "" : " unseen"}` },
    camera && thumbnail(game, call.id, href, `Frames: ${text}`),
    el(
      "div",
      { class: "body" },
      el("p", { class: "tag" }, capitalize(formatVerdict(call)), call.standing === "open" && " · needs a ruling"),
      el("a", { class: "text", href }, text),
      callWords(call),
      call.ruling && el("p", { class: "facts" }, formatRuling(call.ruling)),
      mayRule && el("div", { class: "row" }, standing === "reopened" && rulingButton(call), ["reopened", "in_play"].includes(standing) && challengeButton(game, call, reload)),
      !struck && call.clauses.length > 0 && el("p", { class: "facts" }, call.clauses.map((clause) => clause.id).join(", ")),
    ),
  );
}

/** Filters are open where there is room, and where the address sets one. */
function openFilters() {
  const given = new URLSearchParams(location.search);
  const set = findAll(at("filters"), "[name]").some((field) => given.get(field.getAttribute("name") ?? ""));
  if (set || matchMedia("(min-width: 700px)").matches) at("filters").open = true; // the user may have opened them already
}

/** @param {Service.CallView} call */
function rulingButton(call) {
  const { ruling } = call;
  if (ruling === null) {
    return el("button", { type: "button", class: "small", onclick: () => openRulingDialog(at("ruling"), `${base()}/calls/${encodeURIComponent(call.id)}/rulings`, call, teams, onRuled) }, "Rule on this call");
  }
  return el("button", { type: "button", class: "small", onclick: (event) => undo(event.currentTarget, ruling.event) }, "Undo this ruling");
}

/** @param {HTMLButtonElement} button @param {string} event the ruling's */
async function undo(button, event) {
  button.disabled = true;
  try {
    onRuled(await sendAndWait(`${base()}/events/${encodeURIComponent(event)}/undo`, { name: storedName() }, showMessage));
  } catch (error) {
    showMessage(errorText(error));
    button.disabled = false;
  }
}

async function start() {
  openFilters();
  try {
    const [{ others }, found] = await Promise.all([loadGame(), get(`${base()}/play-choices`)]);
    whatIf(at("what-if"), base(), teams);
    fillChoices(found);
    followForm(form, loadPlays);
    await loadPlays();
    await others;
  } catch (error) {
    showMessage(errorText(error));
  }
}

start();
