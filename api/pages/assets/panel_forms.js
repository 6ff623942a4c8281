// The panel's forms: each is filled with the game as it is and turned into one declaration or command.

import { el } from "/assets/dom.js";
import { capital, clockText, plain } from "/assets/words.js";

/** Kinds of calls a person makes by hand, the common ones first. */
const KINDS = [
  "tackle", "out_of_bounds", "touchdown", "first_down", "incomplete", "reception", "interception", "down_by_fall",
  "fumble", "sack", "stopped", "safety", "touchback", "field_goal", "extra_point", "two_point", "turnover_on_downs",
  "penalty",
];

const CLAIMS = [
  "time_out", "review", "delay_of_game", "too_many_men", "offensive_pass_interference", "defensive_pass_interference",
  "gunner_interference",
];

const CARDS = [
  "run", "pass", "kickoff", "punt", "field_goal", "extra_point", "two_point", "onside", "kneel", "spike", "touch_punt",
  "fair_catch_kick",
];

/** The clock: started, stopped, set. */
export function clock(feed) {
  const game = feed.value("game");
  const left = el("input", { name: "left", inputmode: "numeric", placeholder: "m:ss", value: clockText(game?.clock.left_s ?? 0) });
  const set = submit("Set the clock", "");
  const form = el("form", { class: "grid" }, field("Time left", left), set);
  follow(form, set, () => {
    const left_s = seconds(left.value);
    return left_s === null ? null : declaration({ type: "clock", running: feed.value("game").clock.running, left_s });
  });
  return [
    el("div", { class: "row" }, declares("Start clock", { type: "clock", running: true }, "go"), declares("Stop clock", { type: "clock", running: false }, "stop")),
    form,
    game?.takes.includes("claim") && sides(feed, (side, name) => declares(`Time-out ${name}`, { type: "claim", claim: "time_out", by: side })),
  ].filter(Boolean);
}

/** Fouls with their yards, and what a coach has to claim; what the rulebook has no use for is left out. */
export function claims(feed) {
  const takes = feed.value("game")?.takes ?? [];
  return [takes.includes("foul") && foul(feed), takes.includes("claim") && claim(feed), penalty()].filter(Boolean);
}

function foul(feed) {
  const by = sideSelect(feed);
  const yards = number("yards", 5, 0, 100);
  const [first, loss] = ["Automatic first down", "Loss of down"].map((label) => check(label));
  const name = el("input", { name: "name", maxlength: 80, placeholder: "what it was" });
  const send = submit("Foul");
  const form = el("form", { class: "grid" }, field("By", by), field("Yards", yards), field("Foul", name, "wide"), first.label, loss.label, send);
  follow(form, send, () =>
    declaration({ type: "foul", by: by.value, yards: yards.valueAsNumber, name: name.value, first_down: first.box.checked, loss_of_down: loss.box.checked }),
  );
  return form;
}

function claim(feed) {
  const what = select(CLAIMS.map((one) => [one, capital(plain(one))]));
  const by = sideSelect(feed);
  const send = submit("Claim");
  const form = el("form", { class: "grid" }, field("Claim", what), field("By", by), send);
  follow(form, send, () => declaration({ type: "claim", claim: what.value, by: by.value, player: null }));
  return form;
}

const penalty = () => el("p", { class: "soft" }, "Any other penalty is a call by hand.");

/** Cards and their dice, for a rulebook that is played off them. */
export function cards() {
  const kind = select(CARDS.map((one) => [one, capital(plain(one))]));
  const shown = el("input", { required: true, maxlength: 20, placeholder: "such as 7, 10F, inc" });
  const [roll, reroll, back] = ["roll", "reroll", "return_to"].map((name) => maybe(name, 1, 100));
  const dot = select([["", "none"], ["black", "black"], ["red", "red"], ["blue", "blue"]]);
  const out = check("He ran out of bounds");
  const send = submit("Card as played");
  const form = el(
    "form",
    { class: "grid" },
    field("Card", kind),
    field("Shows", shown),
    field("Roll, 1 to 100", roll),
    field("Second roll", reroll),
    field("Dot", dot),
    field("Returned for a touchdown up to", back),
    out.label,
    send,
  );
  follow(form, send, () =>
    declaration({ type: "card", kind: kind.value, shown: shown.value, roll: whole(roll), reroll: whole(reroll), dot: dot.value || null, ran_out: out.box.checked, return_to: whole(back) ?? 0 }),
  );
  const run = el("input", { required: true, maxlength: 20, placeholder: "yards, F for a fumble" });
  const die = maybe("roll", 1, 100);
  const returned = submit("Return as played");
  const second = el("form", { class: "grid" }, field("Return shows", run), field("Roll, 1 to 100", die), returned);
  follow(second, returned, () => declaration({ type: "return", shown: run.value, roll: whole(die) }));
  return [form, second];
}

/** A call the system did not make. */
export function byHand(feed) {
  const [game, ball, scene] = ["game", "ball", "scene"].map((topic) => feed.value(topic));
  const held = scene?.figures.find((figure) => figure.id === ball?.player);
  const kind = select(KINDS.map((one) => [one, capital(plain(one))]));
  const side = select([["", "nobody"], ...teams(game)]);
  const along = number("along", round(held?.x_yd ?? game?.spot_yd ?? 50), -15, 200, 0.1);
  const across = number("across", round(held?.y_yd ?? 26.7), 0, 200, 0.1);
  const note = el("input", { name: "note", maxlength: 200, placeholder: "why (goes into the record)" });
  const call = submit("Make this call");
  const form = el(
    "form",
    { class: "grid" },
    field("Call", kind, "wide"),
    field("For", side),
    field("Yards along the board", along),
    field("Yards across", across),
    field("Note", note, "wide"),
    call,
  );
  follow(form, call, () => ({
    post: "/api/calls",
    body: {
      kind: kind.value,
      text: `${capital(plain(kind.value))}${side.value ? `, ${game[side.value].name}` : ""}`,
      side: side.value || null,
      spot_yd: [along.valueAsNumber, across.valueAsNumber],
      players: ball?.player ? [ball.player] : [],
      detail: "",
      note: note.value,
    },
  }));
  return [el("p", { class: "soft" }, "Takes effect at once, as if it had been measured; undo it under DeclarationView."), form];
}

/** The state as it should be before the next play. */
export function setUp(feed) {
  const game = feed.value("game");
  if (game === undefined) return [];
  const offense = sideSelect(feed, game.offense);
  const direction = select([["1", "to the right"], ["-1", "to the left"]], String(game.offense === game.possession ? game.direction : -game.direction));
  const spot = number("spot", round(game.spot_yd), 0.1, 200, 0.1);
  const down = number("down", game.down, 1, 4);
  const distance = number("distance", game.goal_to_go ? 0 : round(game.distance_yd), 0, 100, 0.1);
  const period = number("period", game.period, 1, 9);
  const [home, away] = ["home", "away"].map((side) => number(side, game[side].points, 0, 200));
  const set = submit("Set the game up so");
  const form = el(
    "form",
    { class: "grid" },
    field("Ball", offense),
    field("Goes", direction),
    field("Line of scrimmage, yards from the left goal line", spot, "wide"),
    field("Down", down),
    field("To go (0: goal)", distance),
    field(`Points ${game.home.short}`, home),
    field(`Points ${game.away.short}`, away),
    field("Period", period),
    set,
  );
  follow(form, set, () =>
    declaration({
      type: "set_up",
      offense: offense.value,
      direction: Number(direction.value),
      spot_yd: spot.valueAsNumber,
      down: down.valueAsNumber,
      distance_yd: distance.valueAsNumber,
      period: period.valueAsNumber,
      score: [home.valueAsNumber, away.valueAsNumber],
      hash: game.hash,
    }),
  );
  return [form];
}

/** What the rig is asked for. */
export function rig() {
  const command = (label, body) => button(label, "/api/commands", body);
  return [
    el("div", { class: "row" }, command("Stop making calls", { command: "suspend", on: true }), command("Make calls again", { command: "suspend", on: false })),
    el("div", { class: "row" }, command("Record", { command: "record", on: true }), command("Stop recording", { command: "record", on: false })),
    el("div", { class: "row" }, command("Recalibrate", { command: "recalibrate" }), el("a", { class: "button small", href: "/camera" }, "Camera page")),
  ];
}

/** Another game: its rulebook and its teams. */
export function newGame(feed) {
  const game = feed.value("game");
  const rulebook = select([["", "as now"]]);
  fetch("/api/rulebooks", { credentials: "same-origin" })
    .then((answer) => (answer.ok ? answer.json() : []))
    .then((books) => rulebook.append(...(books.items ?? books).map((book) => el("option", { value: book.name }, book.title || book.name))))
    .catch(() => {}); // the one in force can still be had
  const sheet = (side) => {
    const team = game?.[side] ?? { name: capital(side), short: capital(side[0]), color: "#1d3f72", ink: "#ffffff" };
    return {
      name: el("input", { required: true, maxlength: 60, value: team.name }),
      short: el("input", { required: true, maxlength: 4, value: team.short }),
      color: el("input", { type: "color", value: team.color }),
      ink: el("input", { type: "color", value: team.ink }),
    };
  };
  const sheets = { home: sheet("home"), away: sheet("away") };
  const sure = check("End the game in play");
  sure.box.required = true;
  const begin = submit("Begin the new game");
  const form = el(
    "form",
    { class: "grid" },
    field("Rulebook", rulebook, "wide"),
    Object.entries(sheets).map(([side, of]) => [
      field(`${capital(side)} team`, of.name, "wide"),
      field("Short", of.short),
      el("div", { class: "colors" }, field("Color", of.color), field("Letters", of.ink)),
    ]),
    sure.label,
    begin,
  );
  const values = (of) => Object.fromEntries(Object.entries(of).map(([name, input]) => [name, input.value]));
  follow(form, begin, () => ({
    post: "/api/games",
    body: { rulebook: rulebook.value || null, home: values(sheets.home), away: values(sheets.away), title: "" },
  }));
  return [form];
}

// --- parts ---------------------------------------------------------------------------------------------------------

const round = (yards) => Math.round(10 * yards) / 10;

const declaration = (body) => ({ post: "/api/declarations", body: { declaration: body } });

const button = (label, post, body, tone = "") =>
  el("button", { type: "button", class: `small ${tone}`.trim(), "data-post": post, "data-body": JSON.stringify(body) }, label);

const declares = (label, body, tone) => button(label, "/api/declarations", { declaration: body }, tone);

const submit = (label, tone = "main") => el("button", { type: "submit", class: `wide ${tone}`.trim(), "data-closes": "" }, label);

/** Have a form's button say what the form holds now; one that is not filled in says nothing. */
function follow(form, send, make) {
  const note = () => {
    const made = form.checkValidity() ? make() : null;
    send.disabled = made === null;
    Object.assign(send.dataset, made === null ? {} : { post: made.post, body: JSON.stringify(made.body) });
  };
  form.addEventListener("input", note);
  form.addEventListener("submit", (event) => event.preventDefault()); // the button's click says it
  note();
}

const field = (label, input, wide = "") => el("label", { class: wide || null }, label, input);

const select = (options, value = null) =>
  el("select", {}, options.map(([name, text]) => el("option", { value: name, selected: name === value }, text)));

const number = (name, value, low, high, step = 1) =>
  el("input", { type: "number", name, value: String(value), min: low, max: high, step, required: true, inputmode: "decimal" });

/** A number that may be left out. */
const maybe = (name, low, high) => el("input", { type: "number", name, min: low, max: high, step: 1, inputmode: "numeric" });

const whole = (input) => (input.value === "" ? null : input.valueAsNumber);

function check(label) {
  const box = el("input", { type: "checkbox" });
  return { box, label: el("label", { class: "check wide" }, box, label) };
}

const teams = (game) => (game === undefined ? [] : ["home", "away"].map((side) => [side, game[side].name]));

const sideSelect = (feed, value = null) => select(teams(feed.value("game")), value);

const sides = (feed, build) => el("div", { class: "row" }, ["home", "away"].map((side) => build(side, feed.value("game")?.[side].short ?? side)));

/** "4:07" in seconds; null for anything else. */
function seconds(text) {
  const found = /^(\d{1,3}):([0-5]\d)$/.exec(text.trim());
  return found === null ? null : 60 * Number(found[1]) + Number(found[2]);
}
