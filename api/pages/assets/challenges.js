// Challenges: raised by a coach, decided with a reason and a name; dialogs that every page can open.

import { el, setText } from "./dom.js";
import { capitalize, formatCallText } from "./format.js";
import { keepName, knownName } from "./reviewer_name.js";
import { ReplacementFields } from "./replacement_fields.js";
import { errorText, read, send, sendAndWait } from "./send.js";

/** Roles that challenge calls and rule on them. */
export const MAY_RULE = new Set(["operator", "referee", "admin"]);

const DECISIONS = [["upheld", "Upheld"], ["overturned", "Overturned"], ["too_close", "Too close"]];
export const DECISION_WORDS = { upheld: "upheld", overturned: "overturned", too_close: "stands as too close" };

const path = (game) => `api/games/${encodeURIComponent(game)}/challenges`;

/** A button that challenges a call; nothing for one that only notes something. */
export function challengeButton(game, call, done = () => {}) {
  if (call.standing === "noted" || call.standing === "struck") return null;
  const label = formatCallText(call.text);
  return el("button", { type: "button", class: "small", "aria-label": `Challenge: ${label}`, onclick: () => askChallenge(game, call, done) }, "Challenge");
}

/** A challenge in a few lines; one that is under review has a button to decide it. */
export function challengeItem(game, challenge, teams, done = () => {}, mayDecide = true) {
  const open = challenge.decision === null;
  return [
    el("p", { class: "tag" }, open ? "Under review" : `Challenge ${DECISION_WORDS[challenge.decision]}`),
    el("p", { class: "text" }, capitalize(formatCallText(challenge.text))),
    el("p", {}, `${teams[challenge.side]}: ${challenge.reason}`),
    !open && el("p", { class: "facts" }, [`${capitalize(challenge.ruling_reason)}. Decided by ${challenge.ruled_by}`, challenge.cost].filter(Boolean).join(". ")),
    open && mayDecide && el("button", { type: "button", class: "main", onclick: () => askDecision(game, challenge, teams, done) }, "Decide"),
  ];
}

/** The rule about challenges, and how many each coach has left. */
export function challengeRule(view, teams) {
  const left = ["away", "home"].map((side) => [teams[side], view.left[side === "home" ? 0 : 1]]).filter(([, number]) => number !== null);
  return [view.rule, ...left.map(([team, number]) => `${team} has ${number} left.`)].join(" ");
}

function askChallenge(game, call, done) {
  const rule = el("p", { class: "muted", role: "status" });
  const names = { away: el("span", {}, "Away"), home: el("span", {}, "Home") };
  const choices = Object.entries(names).map(([side, name]) => radio("side", side, name));
  const sides = el("div", { class: "choices two", role: "radiogroup", "aria-label": "Whose coach" }, choices);
  const get = (address) => read(address, (text) => setText(rule, text));
  Promise.all([get(path(game)), get(`api/games/${encodeURIComponent(game)}`)]).then(
    ([view, details]) => {
      for (const [side, name] of Object.entries(names)) setText(name, details[side]); // what was tapped meanwhile stays
      setText(rule, challengeRule(view, details));
    },
    (error) => setText(rule, errorText(error)),
  );
  ask(`Challenge: ${formatCallText(call.text)}`, [sides, rule], "Challenge", (form) => send(path(game), { side: form.elements.side.value, call: call.id, ...who(form) }), done);
}

async function askDecision(game, challenge, teams, done) {
  const query = new URLSearchParams({ around: challenge.call, limit: 1 });
  const calls = await read(`api/games/${encodeURIComponent(game)}/calls?${query}`).catch(() => []);
  const call = calls.find(({ id }) => id === challenge.call) ?? { kind: challenge.call.split(":")[0], side: null, spot_yd: null, players: [], detail: "" };
  const instead = new ReplacementFields(call, teams);
  const choices = el("div", { class: "choices", role: "radiogroup", "aria-label": "Decision" }, DECISIONS.map(([value, label]) => radio("decision", value, label)));
  choices.addEventListener("change", (event) => instead.show(event.target.value === "overturned"));
  const submit = (form, tell) => sendAndWait(`${path(game)}/${challenge.id}/ruling`, { decision: form.elements.decision.value, replacement: instead.value, ...who(form) }, tell);
  ask(`Decide: ${formatCallText(challenge.text)}`, [el("p", { class: "muted" }, challenge.reason), choices, instead.element], "Decide", submit, (result, form) => {
    done(result);
    return showChanges(form, result.lines);
  });
}

/** Put what was decided, and what that has changed, in place of its form; the dialog stays until it is closed. */
function showChanges(form, lines) {
  const decision = form.elements.decision.value;
  const close = el("button", { type: "submit", class: "main" }, "Close");
  form.replaceChildren(el("h2", {}, `Challenge ${DECISION_WORDS[decision]}`), el("ul", { class: "changes" }, lines.map((line) => el("li", {}, capitalize(formatCallText(line))))), close);
  close.focus();
  return true;
}

const radio = (name, value, label) => el("label", {}, el("input", { type: "radio", name, value, required: true }), label);

const who = (form) => ({ reason: form.elements.reason.value.trim(), name: form.elements.name.value.trim() });

/**
 * A dialog with fields, a reason and a name; it stays open, with the reason why, where the request is refused.
 *
 * @param {function} done receives the result and the form; true where the form shows something that is to be read
 */
function ask(title, fields, label, submit, done) {
  const problem = el("p", { class: "problem", role: "alert" });
  const button = el("button", { type: "submit", class: "main" }, label);
  const dialog = el("dialog", { class: "ask", "aria-label": title });
  const form = el(
    "form",
    { method: "dialog" },
    el("h2", {}, capitalize(title)),
    fields,
    el("label", {}, "Reason", el("textarea", { name: "reason", maxlength: 500, rows: 2, required: true })),
    el("label", {}, "Your name", el("input", { name: "name", maxlength: 60, autocomplete: "name", value: knownName() })),
    problem,
    el("div", { class: "row" }, button, el("button", { type: "button", onclick: () => dialog.close() }, "Cancel")),
  );
  let isDone = false;
  form.addEventListener("submit", async (event) => {
    if (isDone) return; // the button of what is shown now closes the dialog
    event.preventDefault();
    button.disabled = true;
    keepName(form.elements.name.value);
    try {
      isDone = true === done(await submit(form, (text) => setText(problem, text)), form);
      if (!isDone) dialog.close();
    } catch (error) {
      setText(problem, errorText(error));
      button.disabled = false;
    }
  });
  dialog.addEventListener("close", () => dialog.remove());
  dialog.append(form);
  document.body.append(dialog);
  dialog.showModal();
}
