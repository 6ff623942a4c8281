// One form for everything that the rulebook knows: what may be declared now, and the inputs of its type.

import { el } from "./dom.js";
import { capitalize, formatPlayer, humanize } from "./format.js";
import { bindForm, declaration, field, number, optionalNumber, optionalValue, select, submitButton, teams, yardLine } from "./panel_fields.js";
import { all } from "./panel_legal.js";
import { rosterInput } from "./panel_roster.js";
import { windowsField } from "./panel_windows.js";

const LABELS = {
  line_up: "Figures on the board", set_up: "Set the game up", separated: "Figures apart", set: "Offense set", front: "Front of a figure",
  carrier: "Has the ball", switch: "Board", pass: "Pass", pitch: "Pitch", pivots_done: "Pivots done", base_swap: "Base swapped", kick: "Kick",
  choice: "Choice", roll: "Dice", coin: "Coin", claim: "Claim", clock: "Clock", ball_placed: "Ball placed", pass_ended: "Pass ended",
  kick_ended: "Kick ended", play_ended: "Play ended", card: "Card", return: "Return", foul: "Foul",
};

/** An input of a declaration: the labels it shows, and the part of the declaration that it makes. */
const input = (label, control, read) => ({ labels: [label === null ? control : field(label, control)], read });

const side = (name, label) => ({ feed, entry }) => {
  const offered = teams(feed.value("game")).filter(([value]) => entry.by.length === 0 || entry.by.includes(value));
  const open = entry.example?.[name] === null;
  const choose = select([...(open ? [["", "nobody in particular"]] : []), ...offered], entry.example?.[name] ?? "");
  return input(label, choose, () => ({ [name]: choose.value || null }));
};

const roster = ({ feed }) => feed.value("line_up")?.players ?? [];

const player = (name, label, isOptional = false) => (context) => {
  const { entry } = context;
  const named = roster(context).filter(({ id }) => entry.players.length === 0 || entry.players.includes(id));
  if (named.length === 0) return { labels: [], read: () => ({}) }; // nobody is on the board: the example names nobody either
  const options = named.map(({ id, role }) => [id, `${formatPlayer(id)}${role ? `, ${role}` : ""}`]);
  const choose = select([...(isOptional ? [["", "nobody named"]] : []), ...options], entry.example?.[name] ?? "");
  return input(label, choose, () => ({ [name]: choose.value || null }));
};

const players = (name, label) => (context) => {
  const named = roster(context);
  if (named.length === 0) return { labels: [], read: () => ({}) };
  const chosen = new Set(context.entry.example?.[name] ?? []);
  const choose = el("select", { multiple: true }, named.map(({ id }) => el("option", { value: id, selected: chosen.has(id) }, formatPlayer(id))));
  return input(label, choose, () => ({ [name]: [...choose.selectedOptions].map((option) => option.value) }));
};

const figure = (name, label, low, high, step = 1) => ({ entry }) => {
  const box = number(name, entry.example?.[name] ?? low, low, high, step);
  return input(label, box, () => ({ [name]: box.valueAsNumber }));
};

const figureIfAny = (name, label, low, high, step = 1) => ({ entry }) => {
  const box = optionalNumber(name, low, high);
  box.step = step;
  if (typeof entry.example?.[name] === "number") box.value = entry.example[name];
  return input(label, box, () => ({ [name]: optionalValue(box) }));
};

const text = (name, label, hint = "") => ({ entry }) => {
  const box = el("input", { name, maxlength: 80, placeholder: hint, value: entry.example?.[name] ?? "" });
  return input(label, box, () => ({ [name]: box.value }));
};

const yes = (name, label) => ({ entry }) => {
  const box = el("input", { type: "checkbox", checked: entry.example?.[name] === true });
  return input(null, el("label", { class: "check wide" }, box, label), () => ({ [name]: box.checked }));
};

const one = (name, label, words) => ({ entry }) => {
  const choose = select(words.map((word) => [word ?? "", word === null ? "none" : capitalize(humanize(word))]), entry.example?.[name] ?? "");
  return input(label, choose, () => ({ [name]: choose.value || null }));
};

const dice = ({ entry }) => {
  const box = el("input", { name: "dice", inputmode: "numeric", required: true, pattern: "\\s*\\d+([\\s,]+\\d+)*\\s*", value: (entry.example?.dice ?? []).join(" ") });
  return input("Dice in the order rolled", box, () => ({ dice: box.value.split(/[\s,]+/).filter(Boolean).map(Number) }));
};

const forBoth = (name, label, low, high) => ({ feed, entry }) => {
  const given = entry.example?.[name];
  const boxes = [0, 1].map((at) => Object.assign(optionalNumber(name, low, high), { value: given?.[at] ?? "" }));
  const labels = teams(feed.value("game")).map(([, team], at) => field(`${label} ${team}`, boxes[at]));
  return { labels, read: () => ({ [name]: boxes.some((box) => box.value === "") ? (given ?? null) : boxes.map((box) => box.valueAsNumber) }) };
};

/** A place on the field: `make(x_yd, y_yd)` names it. It may be left out where the example leaves it out. */
const onField = (make, isOptional) => ({ feed, entry }) => {
  const game = feed.value("game");
  const along = yardLine(game, game?.spot_yd ?? 50, feed.value("line_up")?.field.length_yd);
  const across = number("across", 26.7, 0, 200, 0.1);
  const given = el("input", { type: "checkbox", checked: !isOptional(entry.example) });
  const labels = [along.label, field("Yards across the field", across)];
  const follow = () => labels.forEach((label) => (label.hidden = !given.checked));
  given.addEventListener("input", follow);
  follow();
  const read = () => (given.checked ? make(along.x_yd(), across.valueAsNumber) : make(null, null));
  return { labels: [el("label", { class: "check wide" }, given, "At a place"), ...labels], read };
};

const spot = onField((x_yd, y_yd) => ({ spot_yd: x_yd === null ? null : [x_yd, y_yd] }), (example) => !example?.spot_yd);
const ball = onField((x_yd, y_yd) => ({ x_yd, y_yd }), (example) => typeof example?.x_yd !== "number");

const overtime = ({ feed }) => {
  const first = select([["", "no overtime counted"], ...teams(feed.value("game"))]);
  const gains = el("input", { name: "gains", inputmode: "numeric", placeholder: "for example: 12" });
  const order = number("overtime", 1, 1, 99);
  const read = () => ({ overtime: first.value === "" ? null : { first: first.value, number: order.valueAsNumber, gains_yd: gains.value.split(/[\s,]+/).filter(Boolean).map(Number) } });
  return { labels: [field("First in overtime", first), field("Overtime number", order), field("Yards or points of its plays so far", gains, "wide")], read };
};

const cardWindows = () => {
  const windows = windowsField();
  return { labels: [windows.photoLabel, windows.label], read: () => (windows.box.value.trim() === "" ? {} : { windows: windows.read(), shown: "", dot: null }) }; // the roll selects those
};

const HALVES = [[false, "no"], [true, "yes"]];

const spiked = ({ feed, entry }) => {
  if (entry.example === null || !feed.value("game")?.accepts.includes("card")) return { labels: [], read: () => ({}) };
  const boxes = ["home", "away"].map(() => select(HALVES));
  const labels = teams(feed.value("game")).map(([, team], at) => field(`Has spiked in this half: ${team}`, boxes[at]));
  return { labels, read: () => ({ spiked: boxes.map((box) => box.value === "true") }) };
};

const BY = side("by", "By");

/** The inputs of each type; what they leave out stays as in the example that the service gives. */
const INPUTS = {
  line_up: [({ feed }) => rosterInput(roster({ feed }), feed.value("game")), one("offense", "Jersey of the offense", [null, "dark", "light"])],
  set_up: [
    side("offense", "Offense (receivers of a kick, scorers before a try)"),
    ({ entry }) => {
      const way = select([["1", "to the right"], ["-1", "to the left"]], String(entry.example?.direction ?? 1));
      return input("Direction", way, () => ({ direction: Number(way.value) }));
    },
    one("due", "Next play", ["scrimmage", "kickoff", "free_kick", "try", "extra_point", "two_point"]),
    figureIfAny("spot_yd", "Line, yards from the left goal line", 0.1, 200, 0.1), figure("down", "Down", 1, 4),
    figure("distance_yd", "Yards to go (0 for goal)", 0, 100, 0.1), figure("period", "Period", 1, 9), figureIfAny("clock_s", "Seconds left", 0, 14400),
    forBoth("score", "Points", 0, 255), forBoth("time_outs", "Time-outs left", 0, 9), forBoth("reviews_used", "Reviews used", 0, 9), spiked,
    one("hash", "Hash", ["left", "center", "right"]), one("opening_kicker", "Kicked off first", [null, "home", "away"]), overtime,
  ],
  front: [player("player", "Figure"), figure("heading_deg", "Faces, degrees from the board's right", -360, 360)],
  carrier: [player("player", "Figure")],
  switch: [BY],
  pass: [
    player("receiver", "To", true), figureIfAny("distance_yd", "Length in yards, where no camera measures", 0, 130, 0.1),
    players("near", "Defenders near enough to intercept"), players("touching", "Of these, touching passer or receiver"),
  ],
  pitch: [player("to", "To")],
  pivots_done: [BY],
  base_swap: [player("player", "Figure"), yes("stationary", "Now on a stationary base")],
  kick: [players("gunners", "Gunners, on a punt"), player("returner", "Returner", true)],
  choice: [BY],
  roll: [dice, BY],
  coin: [yes("heads", "Heads")],
  claim: [BY, player("player", "Figure concerned", true)],
  clock: [figureIfAny("left_s", "Seconds left", 0, 14400)],
  ball_placed: [ball],
  pass_ended: [player("player", "Caught by", true), spot],
  kick_ended: [ball, player("player", "Touched by", true), BY],
  play_ended: [BY, spot, player("player", "Carrier, or tackler of a fumble", true)],
  card: [
    text("shown", "Text on the card", "7, 10F, inc"), figureIfAny("roll", "Roll, 1 to 100", 1, 100), figureIfAny("reroll", "Second roll", 1, 100),
    text("play", "Offense's card"), text("defense", "Defense's card"), one("dot", "Dot", [null, "black", "red", "blue"]),
    yes("ran_out", "Ran out of bounds"), yes("highlighted", "Highlighted: a fumble may be returned"), figure("return_to", "Touchdown return up to", 0, 100), cardWindows,
  ],
  return: [text("shown", "Text on the return", "12, 3F"), figureIfAny("roll", "Roll, 1 to 100", 1, 100), figureIfAny("reroll", "Second roll", 1, 100)],
  foul: [
    BY, figure("yards", "Yards", 1, 100), text("name", "Foul", "O10 loss dwn inc"), yes("first_down", "Automatic first down"),
    yes("loss_of_down", "Loss of down"), yes("automatic", "Auto-5: the play does not count"), yes("on_kicker", "Running into the kicker"),
  ],
};

/** The choice of what is declared, and its form; it follows the choice, and the state as it was when it was built. */
export function anything(feed) {
  const entries = all();
  const offered = entries.filter((entry) => entry.allowed && entry.example !== null);
  if (offered.length === 0) return [el("p", { class: "muted" }, "Nothing can be declared now.")];
  const key = (entry) => `${entry.type}:${entry.word}`;
  const label = (entry) => `${LABELS[entry.type] ?? capitalize(humanize(entry.type))}${entry.word ? `: ${humanize(entry.word)}` : ""}`;
  const refused = entries.filter((entry) => !entry.allowed).map((entry) => [key(entry), label(entry), true]);
  const what = select([...offered.map((entry) => [key(entry), label(entry)]), ...refused]);
  const place = el("div");
  const show = () => {
    const entry = offered.find((one) => key(one) === what.value);
    const inputs = (INPUTS[entry.type] ?? []).map((build) => build({ feed, entry }));
    const send = submitButton("Declare");
    delete send.dataset.closes;
    const form = el("form", { class: "grid" }, inputs.flatMap(({ labels }) => labels), send);
    bindForm(form, send, () => declaration(Object.assign({}, entry.example, ...inputs.map(({ read }) => read()))));
    place.replaceChildren(form);
  };
  what.addEventListener("input", show);
  show();
  return [field("What to declare", what), place];
}
