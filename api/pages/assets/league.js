// What became of the calls of the latest games, by kind; the policy for each kind, set with one tap; and how challenges were decided.

import { el, elementsOf, find, refreshList, setText } from "./dom.js";
import { DECISION_WORDS } from "./challenges.js";
import { capitalize, counted, formatCallText, humanize } from "./format.js";
import { formatGameDate } from "./game_summary.js";
import { storedName } from "./reviewer_name.js";
import { errorText, read, send } from "./send.js";

/** @typedef {Service.PolicyView["policy"]} Policy */
/** @typedef {{ id: string, policy: Service.PolicyView, outcome: ?Service.CallOutcomesView }} Kind */

/** @type {[Policy, string][]} */
const POLICIES = [["auto", "Automatic"], ["propose", "Ask first"], ["log", "Note only"]];
const NAMES = /** @type {Record<Policy, string>} */ (Object.fromEntries(POLICIES));
/** @type {["called" | "confirmed" | "overturned" | "too_close" | "open" | "by_hand", string][]} */
const COUNTS = [["called", "Called"], ["confirmed", "Confirmed"], ["overturned", "Overturned"], ["too_close", "Too close"], ["open", "Open"], ["by_hand", "By hand"]];

/** @type {[keyof Service.ChallengeCounts, string][]} */
const DECISIONS = [["overturned", "overturned"], ["upheld", "upheld"], ["too_close", "too close"], ["under_review", "open"]];

const at = elementsOf("league");
const span = find(document, "[name=games]", HTMLSelectElement);
/** @param {string} path */
const get = (path) => read(path, (text) => setText(at("message"), text));
/** @type {Service.CallOutcomesView[]} */
let outcomes = [];
/** @type {Service.PolicyView[]} */
let policies = [];
let latest = 0;

async function load() {
  const request = ++latest;
  try {
    const [found, set, challenges] = await Promise.all([get(`api/call-outcomes?games=${span.value}`), get("api/policies"), get("api/challenges")]);
    if (request !== latest) return; // another span was chosen meanwhile
    [outcomes, policies] = [found, set];
    show();
    showChallenges(challenges);
    setText(at("message"), found.length === 0 ? "No call has been made on this rig yet." : "");
  } catch (error) {
    if (request === latest) setText(at("message"), errorText(error));
  }
}

function show() {
  const outcomeOf = new Map(outcomes.map((outcome) => [outcome.kind, outcome]));
  /** @type {Kind[]} */
  const kinds = policies.map((policy) => ({ id: policy.kind, policy, outcome: outcomeOf.get(policy.kind) ?? null }));
  const order = new Map(outcomes.map((outcome, index) => [String(outcome.kind), index]));
  refreshList(at("kinds"), kinds.filter(({ outcome }) => outcome !== null).sort((a, b) => (order.get(a.id) ?? 0) - (order.get(b.id) ?? 0)), kindItem);
  refreshList(at("others"), kinds.filter(({ outcome }) => outcome === null), kindItem);
}

/** What coaches challenged in all games, and how it was decided. @param {Service.ChallengeStatistics} statistics */
function showChallenges({ games, all, by_kind, disputed }) {
  at("challenges").hidden = all.raised === 0;
  setText(at("challenged"), `${decided(all)}, in ${counted(games, "game")}.`);
  const kinds = Object.entries(by_kind).map(([id, counts]) => ({ id, counts })).sort((a, b) => b.counts.raised - a.counts.raised);
  refreshList(at("challenged-kinds"), kinds, ({ id, counts }) => [el("strong", {}, capitalize(humanize(id))), el("span", {}, ` ${decided(counts)}`)]);
  at("disputed").replaceChildren(...disputed.map(disputedItem));
}

/** @param {Service.DisputedCall} disputed */
function disputedItem(disputed) {
  const { game, challenge } = disputed;
  const where = [`${disputed.away} at ${disputed.home}`, formatGameDate(disputed), disputed.table].filter(Boolean).join(" · ");
  const outcome = challenge.decision === null ? "Under review" : capitalize(DECISION_WORDS[challenge.decision]);
  return el("li", {},
    el("a", { href: `ruling?${new URLSearchParams({ game, call: challenge.call })}` }, capitalize(formatCallText(challenge.text))),
    el("span", {}, ` ${outcome}. `),
    el("span", { class: "muted" }, where));
}

/** @param {Service.ChallengeCounts} counts */
const decided = (counts) => `${counts.raised} raised: ${DECISIONS.filter(([key]) => counts[key] > 0).map(([key, words]) => `${counts[key]} ${words}`).join(", ")}`;

/** @param {Kind} kind @param {HTMLElement} item */
function kindItem({ policy, outcome }, item) {
  item.className = "kind plate";
  const name = capitalize(humanize(policy.kind));
  return [
    el("h2", {}, name),
    outcome !== null && el("dl", { class: "counts" }, COUNTS.map(([key, label]) => el("div", { class: key === "overturned" && outcome.overturned > 0 ? "against" : null }, el("dt", {}, label), el("dd", {}, String(outcome[key]))))),
    el("div", { class: "policy", role: "group", "aria-label": `What may be done: ${name}` }, POLICIES.map(([value, label]) => policyButton(policy, outcome, value, label))),
    outcome !== null && el("p", {}, outcome.why, outcome.suggestion !== null && outcome.suggestion !== policy.policy && ` ${NAMES[outcome.suggestion]} is suggested.`),
    policy.set_ms !== null && el("p", { class: "muted" }, `Set by ${policy.set_by}, ${new Date(policy.set_ms).toLocaleDateString("en-US", { year: "numeric", month: "short", day: "numeric" })}. The rulebook says: ${NAMES[policy.rulebook_policy]}.`),
  ];
}

/** @param {Service.PolicyView} policy @param {?Service.CallOutcomesView} outcome @param {Policy} value @param {string} label */
function policyButton(policy, outcome, value, label) {
  const suggested = outcome?.suggestion === value && policy.policy !== value;
  return el("button", { type: "button", class: suggested ? "small suggested" : "small", "aria-pressed": String(policy.policy === value), onclick: ({ currentTarget }) => set(currentTarget, policy, value) }, label);
}

/**
 * Set it at once; what the rulebook says anyway is not kept as the league's.
 *
 * @param {HTMLButtonElement} button
 * @param {Service.PolicyView} policy
 * @param {Policy} value
 */
async function set(button, policy, value) {
  if (policy.policy === value) return;
  button.setAttribute("aria-busy", "true");
  try {
    policies = await send(`api/policies/${policy.kind}`, { policy: value === policy.rulebook_policy ? null : value, name: storedName() }, { method: "PUT" });
    setText(at("message"), `${capitalize(humanize(policy.kind))}: ${NAMES[value]}, from the next game on.`);
    show();
  } catch (error) {
    setText(at("message"), errorText(error));
  } finally {
    button.removeAttribute("aria-busy");
  }
}

span.addEventListener("change", load);
load();
