// The panel's forms for a game that no camera follows: how a play ended, and the dice rolled before the game.

import { el } from "./dom.js";
import { capitalize, humanize } from "./format.js";
import { bindForm, declaration, field, fieldSpot, optionalNumber, optionalValue, select, showOnlyIf, sideSelect, submitButton } from "./panel_fields.js";
import { ofType } from "./panel_legal.js";

const WITHOUT_SPOT = new Set(["touchdown", "safety", "touchback", "incomplete"]);

const DIE = { low: 1, high: 10 };

/** How the play ended, and where: the whole play in one declaration. @param {Feed} feed */
export function playEnded(feed) {
  const game = feed.value("game");
  if (game === undefined) return [];
  const options = ofType("play_ended");
  const allowed = options.filter((entry) => entry.allowed);
  if (allowed.length === 0) return [el("p", { class: "muted" }, capitalize(options[0]?.reason ?? "No play is on."))];
  const kind = select(options.map((entry) => [entry.word, capitalize(humanize(entry.word)), !entry.allowed]), allowed[0].word);
  const by = sideSelect(feed, game.possession);
  const spot = fieldSpot(feed, [game.spot_yd, game.lateral_yd]);
  /** @type {[string, string][]} */
  const sides = [["front", "From the front"], ["side", "From the side"], ["rear", "From behind"]];
  const hit = select(sides.filter(([word]) => word === "front" || game.hits.includes(/** @type {"side" | "rear"} */ (word))));
  const hitFrom = field("How he was hit", hit, "wide");
  const send = submitButton("Declare the end of the play");
  delete send.dataset.closes; // the next play is declared here too
  const form = el("form", { class: "grid" }, field("How it ended", kind, "wide"), field("Who had the ball at the end", by, "wide"), spot.labels, hitFrom, send);
  showOnlyIf(form, spot.labels, () => !WITHOUT_SPOT.has(kind.value));
  showOnlyIf(form, [hitFrom], () => game.hits.length > 0 && kind.value === "tackle");
  bindForm(form, send, () => {
    const spot_yd = WITHOUT_SPOT.has(kind.value) ? null : spot.spot_yd();
    const told = { type: "play_ended", kind: kind.value, by: by.value, spot_yd, player: null };
    return declaration(game.hits.length > 0 && kind.value === "tackle" ? { ...told, hit: hit.value } : told);
  });
  return [form];
}

/** The dice of skilled players, which no play waits for. @param {Feed} feed */
export function skillDice(feed) {
  const anytime = feed.value("game")?.dice_anytime ?? [];
  const rolls = ofType("roll").filter((entry) => entry.allowed && anytime.includes(entry.word));
  if (rolls.length === 0) return [];
  const purpose = select(rolls.map((entry) => [entry.word, capitalize(humanize(entry.word))]));
  const by = sideSelect(feed);
  const dice = ["first", "second"].map((name) => optionalNumber(name, DIE.low, DIE.high));
  const send = submitButton("Declare the dice");
  const form = el("form", { class: "grid" }, field("Rolled for", purpose), field("Team", by), field("First die", dice[0]), field("Second die", dice[1]), send);
  bindForm(form, send, () => {
    const values = dice.map(optionalValue).filter((value) => value !== null);
    return values.length === 0 ? null : declaration({ type: "roll", purpose: purpose.value, by: by.value, dice: values });
  });
  return [form];
}
