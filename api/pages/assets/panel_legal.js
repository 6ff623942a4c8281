// What may be declared now, as the service answers it: the panel offers that, and dims the rest with the reason.

import { send } from "./send.js";

/** Changes that come together cause one request. */
const SETTLE_MS = 80;

/** @type {(keyof Service.Topics)[]} */
const TOPICS = ["game", "declared", "line_up", "ball"];

/** @type {Map<string, Service.LegalDeclaration>} by type and word */
let entries = new Map();
/** @type {?Service.DiceDue} */
let dice = null;
let requests = 0;

/**
 * Keep the answer up to date; `changed()` follows every new one. Until then everything is offered, and `offers` is busy.
 *
 * @param {Feed} feed
 * @param {HTMLElement} offers
 * @param {() => void} changed
 */
export function followLegal(feed, offers, changed) {
  let before = "";
  let timer = 0;
  const update = () => {
    const now = JSON.stringify([situation(feed.value("game")), feed.value("declared")?.events.at(-1), feed.value("line_up")?.revision, feed.value("ball")?.player]);
    if (now === before) return;
    before = now;
    entries = new Map();
    clearTimeout(timer);
    offers.setAttribute("aria-busy", "true");
    timer = setTimeout(async () => {
      await loadLegal();
      changed();
      if (now === before) offers.removeAttribute("aria-busy");
    }, SETTLE_MS);
  };
  for (const topic of TOPICS) feed.on(topic, update);
}

/** Ask now. An answer that a later question has overtaken is dropped; without one the service refuses by itself. */
export async function loadLegal() {
  const number = ++requests;
  /** @type {?Service.LegalDeclarations} */
  const answer = await send("api/legal", null, { method: "GET" }).catch(() => null);
  if (answer === null || number !== requests) return;
  entries = new Map(answer.declarations.map((entry) => [`${entry.type}:${entry.word}`, entry]));
  dice = answer.dice;
}

/** @param {Service.GameView | undefined} game */
const situation = (game) =>
  game && [game.game, game.rulebook, game.phase, game.due, game.wait, game.board, game.offense, game.possession, game.down, game.spot_yd, game.period, game.score];

/** Why a declaration would be refused now; empty if it would not, or while that is unknown. @param {Declaration} declaration */
export function refusal(declaration) {
  const entry = entries.get(`${declaration.type}:${wordOf(declaration)}`);
  return entry === undefined || entry.allowed ? "" : entry.reason;
}

/**
 * Whether a figure may be named in a declaration of a type now, or that is unknown.
 *
 * @param {Declaration} declaration
 * @param {string} player
 */
export function mayName(declaration, player) {
  const entry = entries.get(`${declaration.type}:${wordOf(declaration)}`);
  return entry === undefined || !entry.allowed || entry.players.length === 0 || entry.players.includes(player);
}

/** What can be declared of a type, allowed now or not. @param {string} type */
export const ofType = (type) => [...entries.values()].filter((entry) => entry.type === type);

/** The sides one of which a choice must name, such as the winner of a toss; empty where it need not name any. @param {string} choice */
export function sidesToName(choice) {
  const entry = entries.get(`choice:${choice}`);
  return entry?.allowed && entry.example !== null && "by" in entry.example && entry.example.by && entry.by.length > 1 ? entry.by : [];
}

/** Everything that the rulebook knows, allowed now or not. */
export const allDeclarations = () => [...entries.values()];

/** The dice due for a purpose: `{count, sides, number}`, or null if any dice are accepted. @param {string} purpose */
export const diceDue = (purpose) => (dice?.purpose === purpose ? dice : null);

/** What a declaration declares within its type, as the service names it. @param {Declaration} declaration */
function wordOf(declaration) {
  switch (declaration.type) {
    case "switch":
      return declaration.on ? "on" : "off";
    case "clock":
      return declaration.running ? "start" : "stop";
    case "kick":
    case "choice":
    case "claim":
      return declaration[declaration.type];
    case "pass_ended":
    case "kick_ended":
      return declaration.end;
    case "play_ended":
    case "card":
      return declaration.kind;
    case "roll":
      return declaration.purpose ?? "";
    default:
      return "";
  }
}
