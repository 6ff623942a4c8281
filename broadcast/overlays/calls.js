// The call banner: the call, its margin, its probability, and the clause; a call under review until it is decided.
// An everyday call is a strip, a great one begins as a splash. None is ever over the ball, its carrier, whom he touches, a
// replay or a card.

import { followAction, hiddenShare } from "./action.js";
import { applyTeamColors } from "./color.js";
import { el } from "./dom.js";
import { capitalize, formatCallText, formatPercent, formatVerdict } from "./format.js";
import { conditionSureness } from "./call_words.js";
import { gauge } from "./gauge.js";
import { overlay } from "./overlay.js";
import { cueOf, playCue } from "./sounds.js";
import { isInForce, splashElement, splashOf } from "./splash.js";
import { steadyNow } from "./steady_time.js";

/** With more calls waiting, each stays at least this long: time to read a line. */
const MIN_SHOWN_MS = 2_500;

/** Calls that have waited longer than this are not shown. */
const MAX_WAIT_MS = 20_000;

/** A strip is read at a glance. */
const STRIP_MS = 3_500;

/** A splash is short, and comes at once or not at all. */
const [SPLASH_MS, MAX_SPLASH_WAIT_MS] = [3_200, 8_000];

/** What a ruling makes again is no news, nor is what is confirmed long after it was called. */
const [OLD_NS, OLD_MS] = [15e9, 60_000];

/** Calls of nearly every play, which decide nothing by themselves. @type {string[]} */
const EVERYDAY = ["line_of_scrimmage", "broken_tackle", "slipped_tackle", "turned_back", "overrun", "kick", "stoppage", "figure_dead"];

/** Where a banner can be, besides the place that the options name; the first that hides nothing is taken. */
const PLACES = ["top", "top-left", "top-right", "bottom", "bottom-left", "bottom-right"];

/** @typedef {Overlays.Options["calls"]} Options */

/**
 * What is on the screen: the call, or the challenge where `call` is null.
 *
 * @typedef {{ id: string, call: ?ShownCall, splash: boolean, element: HTMLElement, since_ms: number }} Banner
 */

overlay("calls", (stage, options, feed) => {
  /** @type {{ call: Service.CallView, received_ms: number }[]} */
  const queue = [];
  /** Splashes that wait, by their calls' ids. @type {Map<string, { call: Service.CallView, splash: import("./splash.js").Splash, received_ms: number }>} */
  const splashes = new Map();
  /** When each call that is worth a splash was first told; Infinity once it had its splash. @type {Map<string, number>} */
  const told_ms = new Map();
  let newest_ns = 0;
  /** @type {?Banner} */
  let shown = null;
  /** @type {?Service.ChallengeView} the one that is not decided yet */
  let review = null;
  /** @type {?Service.GameView} */
  let game = null;
  let card_until_ms = 0;
  let callsOf = ""; // id of their game
  let seen_since_ms = 0; // the banner, without having stepped aside
  const action = followAction(feed);
  const places = [options.position, ...PLACES].filter((place) => place !== options.free);
  stage.style.setProperty("--lift", `${options.lift}px`);

  feed.on("graphic", (card, { snapshot }) => {
    const shows = card !== undefined && card.kind !== "none" && (!snapshot || card.seconds === 0);
    card_until_ms = shows ? steadyNow() + (card.seconds > 0 ? 1000 * card.seconds : Infinity) : 0;
  });

  /** Whether a replay is on; one of a call that has its splash waits for that. */
  const isReplayed = () => feed.value("replay")?.state === "ready" && !shown?.splash;

  /** Whether a replay or a card is on, which a banner would cover. */
  const isCovered = () => options.beside === "wait" && (isReplayed() || steadyNow() < card_until_ms);

  feed.on("game", (now) => {
    if (now !== undefined && game !== null && now.game !== game.game) {
      queue.length = 0;
      splashes.clear();
      told_ms.clear();
      newest_ns = 0;
      review = null;
      replaceBanner(null);
    }
    game = now ?? game;
    if (game?.under_review && shown?.splash) replaceBanner(null); // a question could change it
  });

  feed.on("calls", (now, { snapshot, changed }) => {
    if (snapshot || changed === undefined) {
      callsOf = now?.game ?? callsOf;
      for (const { id, t_ns } of now?.calls ?? []) {
        told_ms.set(id, -Infinity);
        newest_ns = Math.max(newest_ns, t_ns);
      }
      return; // calls from before the page was opened are not shown
    }
    if (game?.shadow) return; // people referee: the score bug alone is on air
    if (changed.game !== callsOf) forget();
    callsOf = changed.game;
    for (const id of changed.withdrawn) withdraw(id);
    for (const call of changed.calls) add(call);
  });

  feed.on("challenges", (now) => {
    const all = now?.challenges ?? [];
    const decided = all.find(({ id, decision }) => id === review?.id && decision !== null);
    review = all.find(({ decision }) => decision === null) ?? null;
    if (review !== null) present(reviewId(review), reviewBanner(review, game), null);
    else if (decided !== undefined) present(reviewId(decided), reviewBanner(decided, game), null);
    else if (shown?.call === null) replaceBanner(null);
  });

  /** Take off what is about the game before. */
  function forget() {
    queue.length = 0;
    splashes.clear();
    if (shown?.call) replaceBanner(null);
  }

  /** Show that a call the audience has seen is withdrawn. @param {string} id */
  function withdraw(id) {
    splashes.delete(id);
    if (shown?.call?.id === id) show({ ...shown.call, standing: "withdrawn" });
    else remove(id);
  }

  /** @param {Service.CallView} call */
  function add(call) {
    addSplash(call);
    if (shown?.id === call.id && shown.splash && isInForce(call)) {
      shown.call = call;
      for (const entry of queue) if (entry.call.id === call.id) entry.call = call;
      return;
    }
    if (shown?.id === call.id) {
      show(call);
      return;
    }
    remove(call.id);
    if (options.everyday === "hide" && isEveryday(call)) return;
    if (call.verdict !== "reported" || options.noted === "show") queue.push({ call, received_ms: steadyNow() });
  }

  /** Let a call wait for its splash, once and while it is news. @param {Service.CallView} call */
  function addSplash(call) {
    splashes.delete(call.id);
    newest_ns = Math.max(newest_ns, call.t_ns);
    const now = steadyNow();
    const since_ms = told_ms.get(call.id) ?? now;
    told_ms.set(call.id, since_ms);
    const splash = splashOf(call, game);
    if (options.splash === "hide" || splash === null || call.t_ns < newest_ns - OLD_NS || !(now - since_ms < OLD_MS && now >= since_ms)) return;
    splashes.set(call.id, { call, splash, received_ms: now });
  }

  /** The splash that is due: the last, which is what the play came to. */
  function dueSplash() {
    const now = steadyNow();
    for (const [id, { received_ms }] of splashes) if (now - received_ms > MAX_SPLASH_WAIT_MS) splashes.delete(id);
    if (game === null || game.under_review || shown?.splash || isCovered()) return null;
    return [...splashes.values()].at(-1) ?? null;
  }

  /** @param {string} id */
  function remove(id) {
    const index = queue.findIndex((entry) => entry.call.id === id);
    if (index >= 0) queue.splice(index, 1);
    if (shown?.id === id) replaceBanner(null);
  }

  /** @param {ShownCall} call */
  function show(call) {
    const cue = cueOf(call);
    if (options.sound === "on" && (shown?.call?.id !== call.id || cueOf(shown.call) !== cue)) playCue(cue);
    const team = call.side === null || game === null ? null : game[call.side];
    present(call.id, banner(call, team, options), call);
  }

  /**
   * Put a banner on the screen; one for the same call is changed in place.
   *
   * @param {string} id of the call or the challenge
   * @param {HTMLElement} element
   * @param {?ShownCall} call
   * @param {boolean} [splash]
   */
  function present(id, element, call, splash = false) {
    if (shown?.id === id && !shown.splash) {
      shown.element.replaceChildren(...element.childNodes);
      shown.element.className = element.className;
      shown.element.style.cssText = element.style.cssText;
      shown.call = call;
      shown.since_ms = steadyNow();
      return;
    }
    replaceBanner({ id, call, splash, element, since_ms: steadyNow() });
    seen_since_ms = steadyNow();
    stage.append(element);
    keepClear(element);
    element.animate([{ opacity: 0, translate: "0 calc(var(--away) * 36px)" }, { opacity: 1, translate: "0 0" }], {
      duration: 420,
      easing: "cubic-bezier(0.2, 0.7, 0.2, 1)",
    });
  }

  /** Move a banner to a place where it hides nothing of the play; where there is none, it is not seen until there is. @param {HTMLElement} element */
  function keepClear(element) {
    const now = action();
    const hidden = () => hiddenShare(element.getBoundingClientRect(), now);
    let clear = hidden() === 0;
    if (!clear) {
      const before = stage.dataset.position;
      clear = places.some((place) => {
        stage.dataset.position = place;
        return hidden() === 0;
      });
      if (!clear) stage.dataset.position = before;
    }
    const isRead = steadyNow() - seen_since_ms >= MIN_SHOWN_MS;
    // A card does not take away what has only just come, and what comes back stays long enough to be read.
    const aside = !clear || (isCovered() && (isReplayed() || isRead));
    const was = element.classList.contains("aside");
    element.classList.toggle("aside", aside);
    if (was && !aside) seen_since_ms = steadyNow();
  }

  /** @param {?Banner} next */
  function replaceBanner(next) {
    const old = shown?.element;
    shown = next;
    if (old === undefined) return;
    if (next === null) stage.dataset.position = options.position;
    const leaving = old.animate([{ opacity: 1 }, { opacity: 0 }], { duration: next === null ? 500 : 160, fill: "forwards" });
    leaving.onfinish = () => old.remove();
  }

  setInterval(() => {
    const now = steadyNow();
    if (shown !== null) keepClear(shown.element);
    if (review !== null || isCovered()) return; // what is called meanwhile waits
    const due = dueSplash();
    if (due !== null && game !== null && (shown === null || now - seen_since_ms >= MIN_SHOWN_MS)) {
      splashes.clear();
      told_ms.set(due.call.id, Infinity);
      if (options.sound === "on") playCue(cueOf(due.call));
      present(due.call.id, splashElement(due.splash, game, due.call.id), due.call, true);
    }
    while (queue.length && now - queue[0].received_ms > MAX_WAIT_MS) queue.shift();
    const age_ms = shown === null ? Infinity : now - shown.since_ms;
    const next = age_ms >= (shown?.splash ? SPLASH_MS : MIN_SHOWN_MS) && now - seen_since_ms >= MIN_SHOWN_MS ? queue.shift() : undefined;
    if (next !== undefined) show(next.call);
    else if (shown !== null && now - seen_since_ms >= MIN_SHOWN_MS && age_ms >= shownFor(shown, options)) replaceBanner(null);
  }, 100);
});

/** How long a banner stays where nothing else waits. @param {Banner} banner @param {Options} options */
const shownFor = ({ splash, call }, options) => (splash ? SPLASH_MS : isStrip(call, options) ? STRIP_MS : 1000 * options.seconds);

/** The id of a challenge's banner, which no call has. @param {Service.ChallengeView} challenge */
const reviewId = ({ id, call }) => `${call} ${id}`;

const DECISIONS = { upheld: "The call stands", overturned: "Call overturned", too_close: "Too close: the call stands" };

/**
 * A challenged call: whose coach challenges it and why, or what was decided and why.
 *
 * @param {Service.ChallengeView} challenge
 * @param {?Service.GameView} game
 */
function reviewBanner(challenge, game) {
  const { decision } = challenge;
  const team = game?.[challenge.side] ?? null;
  const why = decision === null ? `${team === null ? "Challenged" : `${team.name} challenges`}: ${challenge.reason}` : challenge.ruling_reason;
  const state = decision === null ? "under_review" : decision === "overturned" ? "overturned" : "confirmed";
  const element = el(
    "article",
    { class: `banner scaled ${state}${team === null ? "" : " with-team"}`, "data-challenge": challenge.id },
    el("div", { class: "tab" }, decision === null ? "Under review" : DECISIONS[decision]),
    el("div", { class: "plate" }, el("p", { class: "text" }, capitalize(formatCallText(challenge.text))), el("p", { class: "clause" }, why)),
  );
  if (team !== null) applyTeamColors(element, team);
  return element;
}

/** Whether a call is of nearly every play, stands and leaves no question. @param {ShownCall} call */
const isEveryday = (call) => call.verdict === "called" && call.standing === "stands" && EVERYDAY.includes(call.kind);

/** @param {?ShownCall} call @param {Options} options */
const isStrip = (call, options) => call !== null && options.everyday === "strip" && isEveryday(call);

/** @param {ShownCall} call @param {?Service.TeamView} team @param {Options} options */
function banner(call, team, options) {
  if (isStrip(call, options)) return strip(call, team);
  const element = el(
    "article",
    { class: `banner scaled ${call.verdict} ${call.standing}${team === null ? "" : " with-team"}`, "data-call": call.id },
    el("div", { class: "tab" }, capitalize(formatVerdict(call))),
    el(
      "div",
      { class: "plate" },
      el("p", { class: "text" }, capitalize(formatCallText(call.text))),
      call.readings.length > 1 && readings(call),
      options.margin === "show" && margin(call),
      clauses(call, options.clause),
    ),
  );
  if (team !== null) applyTeamColors(element, team);
  return element;
}

/** @param {ShownCall} call @param {?Service.TeamView} team */
function strip(call, team) {
  const element = el(
    "article",
    { class: `banner strip scaled ${call.verdict} ${call.standing}${team === null ? "" : " with-team"}`, "data-call": call.id },
    el("div", { class: "plate" }, el("p", { class: "text" }, capitalize(formatCallText(call.text)))),
  );
  if (team !== null) applyTeamColors(element, team);
  return element;
}

/** Both readings of a close call, each as wide as it is probable. @param {ShownCall} call */
function readings(call) {
  const parts = call.readings.map((reading) => {
    const part = el("div", { class: "reading" }, el("b", {}, formatPercent(reading.probability)), el("span", {}, formatCallText(reading.text)));
    part.style.flexGrow = String(Math.max(0.28, reading.probability));
    return part;
  });
  return el("div", { class: "readings" }, parts);
}

/** Each of several things measured with its bell, name and percentage, and what they come to together. @param {ShownCall} call */
function conditions(call) {
  const parts = call.conditions.map((one) => {
    const name = el("span", { class: "words" }, capitalize(one.name));
    return el("div", { class: "condition" }, gauge(one), el("p", {}, name, el("span", { class: "value" }, conditionSureness(one))));
  });
  return el("div", { class: "margin several" }, parts, call.joint_words && el("p", {}, el("span", { class: "sure" }, capitalize(call.joint_words))));
}

/** @param {ShownCall} call */
function margin(call) {
  if (call.conditions.length > 0) return conditions(call);
  const drawing = gauge(call);
  const value = call.measured;
  const sure = call.probability < 1 && call.readings.length < 2 && `${formatPercent(call.probability)} sure`;
  if (call.words) return el("div", { class: "margin" }, drawing, el("p", {}, el("span", { class: "words" }, capitalize(call.words))));
  if (!value && !sure) return null;
  return el(
    "div",
    { class: "margin" },
    drawing,
    el("p", {}, value && el("span", { class: "value" }, value), sure && el("span", { class: "sure" }, sure)),
  );
}

/** @param {ShownCall} call @param {string} detail "text", "id" or "hide" */
function clauses(call, detail) {
  if (detail === "hide" || !call.clauses.length) return null;
  const [first] = call.clauses;
  const ids = call.clauses.map((clause) => clause.id).join(", ");
  return el("p", { class: "clause" }, el("b", {}, ids), detail === "text" && first.text ? ` ${first.text}` : null);
}
