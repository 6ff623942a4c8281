// Challenges: raised by a coach, decided with a reason and a name; dialogs that every page can open.

import { el, fieldText, find, setText } from "./dom.js";
import { AWAY_FIRST, SIDES, capitalize, formatCallText, sentence } from "./format.js";
import { storeName, storedName } from "./reviewer_name.js";
import { ReplacementFields } from "./replacement_fields.js";
import { errorText, read, send, sendAndWait } from "./send.js";

/** Roles that challenge calls and rule on them. */
export const MAY_RULE = new Set(["operator", "referee", "admin"]);

/** @typedef {NonNullable<Service.ChallengeView["decision"]>} Decision */

/** @type {[Decision, string][]} */
const DECISIONS = [["upheld", "Upheld"], ["overturned", "Overturned"], ["too_close", "Too close"]];
export const DECISION_WORDS = { upheld: "upheld", overturned: "overturned", too_close: "stands as too close" };

/** @param {string} game */
const path = (game) => `api/games/${encodeURIComponent(game)}/challenges`;

/**
 * A button that challenges a call; nothing for one that only notes something.
 *
 * @param {string} game
 * @param {Service.CallView} call
 * @param {() => void} [done]
 */
export function challengeButton(game, call, done = () => {}) {
  if (call.standing === "noted" || call.standing === "struck") return null;
  const label = formatCallText(call.text);
  return el("button", { type: "button", class: "small", "aria-label": `Challenge: ${label}`, onclick: () => openChallengeDialog(game, call, done) }, "Challenge");
}

/**
 * A challenge in a few lines; one that is under review has a button to decide it.
 *
 * @param {string} game
 * @param {Service.ChallengeView} challenge
 * @param {Teams} teams
 * @param {(result: Service.DecisionResult) => void} [done]
 * @param {boolean} [mayDecide]
 */
export function challengeItem(game, challenge, teams, done = () => {}, mayDecide = true) {
  const { decision } = challenge;
  const open = decision === null;
  return [
    el("p", { class: "tag" }, open ? "Under review" : `Challenge ${DECISION_WORDS[decision]}`),
    el("p", { class: "text" }, capitalize(formatCallText(challenge.text))),
    el("p", {}, `${teams[challenge.side]}: ${challenge.reason}`),
    challenge.appealed && el("p", { class: "facts" }, opinionText(challenge.appealed, "Decided"), " ", sentence(`Appealed: ${challenge.appeal}`)),
    challenge.opinions.length > 0 && el("div", { class: "opinions" }, challenge.opinions.map((one) => el("p", {}, opinionText(one, "Seen")))),
    !open && el("p", { class: "facts" }, [challenge.ruling_reason, `Decided by ${challenge.ruled_by}`, challenge.cost].filter(Boolean).map(sentence).join(" ")),
    open && mayDecide && el("button", { type: "button", class: "main", onclick: () => openDecisionDialog(game, challenge, teams, done) }, "Decide"),
    open && mayDecide && el("button", { type: "button", class: "small", onclick: () => openOpinionDialog(game, challenge) }, "Give an opinion"),
    !open && mayDecide && challenge.appealed === null && el("button", { type: "button", class: "small", onclick: () => openAppealDialog(game, challenge) }, "Appeal"),
  ];
}

/** @param {Service.OpinionView} opinion @param {string} verb */
const opinionText = ({ decision, reason, by }, verb) => `${verb} by ${by}: ${sentence(`${DECISION_WORDS[decision]}: ${reason}`)}`;

/** Another official's opinion, before it is decided. @param {string} game @param {Service.ChallengeView} challenge */
function openOpinionDialog(game, challenge) {
  const choices = el("div", { class: "choices", role: "radiogroup", "aria-label": "Opinion" }, DECISIONS.map(([value, label]) => radio("decision", value, label)));
  /** @param {HTMLFormElement} form */
  const submit = (form) => send(`${path(game)}/${challenge.id}/opinions`, { decision: fieldText(form, "decision"), ...reasonAndName(form) });
  openDialog(`Opinion: ${formatCallText(challenge.text)}`, [el("p", { class: "muted" }, challenge.reason), choices], "Give this opinion", submit, changed);
}

/** @param {string} game @param {Service.ChallengeView} challenge */
function openAppealDialog(game, challenge) {
  const rule = el("p", { class: "muted" }, `Somebody else than ${challenge.ruled_by} decides then, and that is final.`);
  openDialog(`Appeal: ${formatCallText(challenge.text)}`, [rule], "Appeal", (form) => send(`${path(game)}/${challenge.id}/appeal`, reasonAndName(form)), changed);
}

/** Have the page that shows a game's challenges read them again; the panel follows them anyway. */
const changed = () => dispatchEvent(new Event("challenges"));

/** The rule about challenges, and how many each coach has left. @param {Service.ChallengesView} view @param {Teams} teams */
export function challengeRule(view, teams) {
  const left = AWAY_FIRST.map((side) => ({ side, number: view.left[SIDES.indexOf(side)] })).filter(({ number }) => number !== null);
  return [view.rule, ...left.map(({ side, number }) => `${teams[side]} has ${number} left.`)].join(" ");
}

/** @param {string} game @param {Service.CallView} call @param {() => void} done */
function openChallengeDialog(game, call, done) {
  const rule = el("p", { class: "muted", role: "status" });
  const names = { away: el("span", {}, "Away"), home: el("span", {}, "Home") };
  const choices = AWAY_FIRST.map((side) => radio("side", side, names[side]));
  const sides = el("div", { class: "choices two", role: "radiogroup", "aria-label": "Whose coach" }, choices);
  /** @param {string} address */
  const get = (address) => read(address, (text) => setText(rule, text));
  Promise.all([get(path(game)), get(`api/games/${encodeURIComponent(game)}`)]).then(
    ([view, details]) => {
      for (const side of SIDES) setText(names[side], details[side]); // what was tapped meanwhile stays
      setText(rule, challengeRule(view, details));
    },
    (error) => setText(rule, errorText(error)),
  );
  openDialog(`Challenge: ${formatCallText(call.text)}`, [sides, rule], "Challenge", (form) => send(path(game), { side: fieldText(form, "side"), call: call.id, ...reasonAndName(form) }), done);
}

/**
 * @param {string} game
 * @param {Service.ChallengeView} challenge
 * @param {Teams} teams
 * @param {(result: Service.DecisionResult) => void} done
 */
async function openDecisionDialog(game, challenge, teams, done) {
  const query = new URLSearchParams({ around: challenge.call, limit: "1" });
  /** @type {Service.CallView[]} */
  const calls = await read(`api/games/${encodeURIComponent(game)}/calls?${query}`).catch(() => []);
  const call = calls.find(({ id }) => id === challenge.call) ?? { kind: kindOf(challenge), text: challenge.text };
  const instead = new ReplacementFields(call, teams);
  const choices = el("div", { class: "choices", role: "radiogroup", "aria-label": "Decision" }, DECISIONS.map(([value, label]) => radio("decision", value, label)));
  choices.addEventListener("change", () => instead.show(find(choices, ":checked", HTMLInputElement).value === "overturned"));
  /** @param {HTMLFormElement} form @param {ShowMessage} showMessage */
  const submit = (form, showMessage) => sendAndWait(`${path(game)}/${challenge.id}/ruling`, { decision: fieldText(form, "decision"), replacement: instead.value, ...reasonAndName(form) }, showMessage);
  openDialog(`Decide: ${formatCallText(challenge.text)}`, [el("p", { class: "muted" }, challenge.reason), choices, instead.element], "Decide", submit, (result, form) => {
    done(result);
    return showChanges(form, result.lines);
  });
}

/** The kind of the challenged call, with which its id begins. @param {Service.ChallengeView} challenge */
const kindOf = ({ call }) => /** @type {Service.CallRequest["kind"]} */ (call.split(":")[0]);

/**
 * Put what was decided, and what that has changed, in place of its form; the dialog stays until it is closed.
 *
 * @param {HTMLFormElement} form
 * @param {string[]} lines
 */
function showChanges(form, lines) {
  const decision = /** @type {Decision} */ (fieldText(form, "decision"));
  const close = el("button", { type: "submit", class: "main" }, "Close");
  form.replaceChildren(el("h2", {}, `Challenge ${DECISION_WORDS[decision]}`), el("ul", { class: "changes" }, lines.map((line) => el("li", {}, capitalize(formatCallText(line))))), close);
  close.focus();
  return true;
}

/** @param {string} name @param {string} value @param {Child} label */
const radio = (name, value, label) => el("label", {}, el("input", { type: "radio", name, value, required: true }), label);

/** @param {HTMLFormElement} form */
const reasonAndName = (form) => ({ reason: fieldText(form, "reason").trim(), name: fieldText(form, "name").trim() });

/**
 * A dialog with fields, a reason and a name; it stays open, with the reason why, where the request is refused.
 *
 * @template R
 * @param {(result: R, form: HTMLFormElement) => unknown} done returns true where the form shows something that is to be read
 * @param {string} title
 * @param {Child} fields
 * @param {string} label of the button that sends
 * @param {(form: HTMLFormElement, showMessage: ShowMessage) => Promise<R>} submit
 */
function openDialog(title, fields, label, submit, done) {
  const problem = el("p", { class: "problem", role: "alert" });
  const button = el("button", { type: "submit", class: "main" }, label);
  const dialog = el("dialog", { class: "ask", "aria-label": title });
  const form = el(
    "form",
    { method: "dialog" },
    el("h2", {}, capitalize(title)),
    fields,
    el("label", {}, "Reason", el("textarea", { name: "reason", maxlength: 500, rows: 2, required: true })),
    el("label", {}, "Your name", el("input", { name: "name", maxlength: 60, autocomplete: "name", value: storedName() })),
    problem,
    el("div", { class: "row" }, button, el("button", { type: "button", onclick: () => dialog.close() }, "Cancel")),
  );
  let isDone = false;
  form.addEventListener("submit", async (event) => {
    if (isDone) return; // the button of what is shown now closes the dialog
    event.preventDefault();
    button.disabled = true;
    storeName(fieldText(form, "name"));
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
