// What waits for a person: a close call, dice, a coin, a coach's choice. Each is one card with its answers on it.

import { el } from "/assets/dom.js";
import { callHead, callWhy, framesLink, rule } from "/assets/panel_calls.js";
import { diceFor } from "/assets/panel_dice.js";
import { capital, percent, plain, spoken } from "/assets/words.js";

/** One question as a card. */
export function question(asked, game) {
  const title = asked.kind === "ruling" ? null : el("h2", {}, capital(asked.text));
  return el("div", { class: `card ${asked.kind}` }, title, ANSWERS[asked.kind](asked, game));
}

const ANSWERS = {
  ruling: ({ call }) => [
    callHead(call),
    callWhy(call),
    framesLink(call),
    el("div", { class: "row" }, call.readings.length > 1 ? call.readings.map((one, place) => reading(call, one, place)) : plainly(call)),
  ],
  coin: (asked) => el("div", { class: "row" }, [true, false].map((heads) => answer(heads ? "Heads" : "Tails", { type: "coin", heads, purpose: asked.purpose }))),
  choice: (asked) => el("div", { class: "row" }, asked.options.map((one) => answer(capital(plain(one)), { type: "choice", choice: one, by: asked.by }))),
  roll: (asked, game) => roll(asked, diceFor(game.system, asked.purpose)),
};

function plainly(call) {
  return [rule(call, "confirm", "Confirm", "main big"), rule(call, "overturn", "Overturn", "warn big")];
}

/** Both readings of a close call are buttons: the first confirms it, the other puts the other reading in its place. */
function reading(call, one, place) {
  const label = `${capital(spoken(one.text))} (${percent(one.probability)})`;
  if (place === 0) return rule(call, "confirm", `Confirm: ${label}`, "main big");
  return rule(call, "overturn", `Overturn: ${label}`, "warn big", one.kind === "info" ? null : instead(call, one));
}

const instead = (call, one) => ({
  kind: one.kind,
  text: spoken(one.text),
  side: call.side,
  spot_yd: call.spot_yd,
  players: call.players,
});

const declares = (declaration) => ({ "data-post": "/api/declarations", "data-body": JSON.stringify({ declaration }) });

const answer = (label, declaration) => el("button", { type: "button", class: "main", ...declares(declaration) }, label);

function roll(asked, dice) {
  const said = (values) => ({ type: "roll", dice: values, purpose: asked.purpose, by: asked.by });
  const done = el("button", { type: "button", class: "main", disabled: true }, "Dice as they fell");
  const ready = (values, sum) => {
    done.disabled = values === null;
    done.textContent = values === null ? "Dice as they fell" : `Rolled ${values.join(" and ")}${sum ? ` = ${values.reduce((a, b) => a + b)}` : ""}`;
    Object.assign(done.dataset, declared(values === null ? null : said(values)));
  };
  return [dice?.dice ? tapped(dice.dice, ready) : typed(dice, ready), done];
}

const declared = (declaration) => ({ post: "/api/declarations", body: JSON.stringify({ declaration }) });

/** A row of faces for each die. */
function tapped(sides, ready) {
  const values = sides.map(() => null);
  const rows = sides.map((count, die) => {
    const face = (value) =>
      el("button", { type: "button", class: "face", "aria-pressed": "false", "aria-label": `Die ${die + 1}: ${value}`, onclick: (event) => pick(event, value) }, String(value));
    const pick = (event, value) => {
      values[die] = value;
      for (const one of event.currentTarget.parentElement.children) one.setAttribute("aria-pressed", String(one === event.currentTarget));
      ready(values.includes(null) ? null : values, values.length > 1);
    };
    return el("div", { class: "die", role: "group", "aria-label": `Die ${die + 1} of ${sides.length}` }, Array.from({ length: count }, (_, i) => face(i + 1)));
  });
  return rows;
}

/** Dice in one line of numbers, where there are many faces or any number of dice. */
function typed(range, ready) {
  const help = range ? `One number, ${range.low} to ${range.high}` : "The dice in order, with spaces between them";
  const read = (event) => {
    const values = event.currentTarget.value.split(/[\s,]+/).filter(Boolean).map(Number);
    const whole = values.length > 0 && values.every((one) => Number.isInteger(one) && one >= (range?.low ?? 0) && one <= (range?.high ?? 100));
    ready(whole && (!range || values.length === 1) ? values : null, false);
  };
  return el("label", {}, help, el("input", { inputmode: "numeric", autocomplete: "off", oninput: read }));
}
