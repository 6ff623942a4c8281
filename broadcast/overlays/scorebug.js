// The score bug: score, possession, time-outs, clock, down, distance and spot; a flag, and the last play in words.

import { stepAside } from "./action.js";
import { applyTeamColors } from "./color.js";
import { el, setText } from "./dom.js";
import { logoImage } from "./logos.js";
import { areCallsMissed, overlay } from "./overlay.js";
import { capitalize, downAndDistance, formatCallText, formatClock, formatPeriod, formatSpot } from "./format.js";
import { isInForce } from "./splash.js";
import { steadyNow } from "./steady_time.js";

/** What is wrong for a moment only is no news to the audience. */
const ALARM_AFTER_MS = 3_000;

/** A status stays long enough to be read, unless a review begins over "Live", a waiting or an alarm. */
const MIN_SHOWN_MS = 2_400;

/** What came of a play is asked for once its calls have settled. */
const SETTLED_MS = 700;

/** @type {string[]} */
const PLAYING = ["live", "in_air", "kick"];

/** @typedef {Overlays.Options["scorebug"]} Options */

overlay("scorebug", (stage, options, feed) => {
  const bug = scoreBug(options);
  stage.append(bug.element);
  stepAside(() => bug.element, feed);
  feed.on("game", (game) => bug.game(game, feed));
  feed.on("calls", () => bug.calls(feed));
  feed.on("health", () => bug.status(feed));
  feed.on("challenges", () => bug.status(feed));
  setInterval(() => bug.tick(feed), 200);
});

/** @param {Options} options */
function scoreBug(options) {
  const away = team(options);
  const home = team(options);
  const period = el("span", { class: "period" });
  const clock = el("span", { class: "time" });
  const down = el("span", { class: "down" });
  const spot = el("span", { class: "spot" });
  const status = el("div", { class: "status", role: "status" });
  const time = el("div", { class: "clock" }, period, options.clock === "show" ? clock : null);
  const drive = el("div", { class: "drive" }, down, spot);
  const flag = el("div", { class: "flag", hidden: true, role: "status" }, "Flag");
  const bar = el("div", { class: "bar" }, away.element, home.element, time, drive, flag);
  const element = el("div", { class: `bug scaled ${options.teams}` }, status, bar);
  const tenths = options.yards === "tenths";
  /** @type {?Service.GameView} */
  let shown = null;
  const steady = steadyStatus();
  const play = lastPlay(options);

  /** @param {Service.GameView | undefined} now */
  function game(now) {
    if (now === undefined) return;
    // While a call is under review the audience sees the score from before; the status line says why.
    const view = now.under_review && shown !== null && shown.game === now.game ? { ...now, ...frozenPart(shown) } : now;
    shown = view;
    home.show(view.home, view.possession === "home" && view.phase !== "over");
    away.show(view.away, view.possession === "away" && view.phase !== "over");
    setText(period, view.phase === "over" ? "Final" : formatPeriod(view.period));
    setText(down, capitalize(downAndDistance(view, tenths)));
    setText(spot, formatSpot(view.spot_text, tenths));
    drive.hidden = view.phase === "over";
    play.game(now);
    bar.dataset.goal = String(view.goal_to_go);
  }

  /** @param {Feed} feed */
  function tick(feed) {
    if (shown === null) return;
    const { left_s, running, at_ms } = shown.clock;
    const elapsed_s = running ? Math.max(0, feed.now() - (at_ms ?? feed.now())) / 1000 : 0;
    setText(clock, left_s === null ? shown.clock.text : formatClock(left_s - elapsed_s));
    clock.hidden = clock.textContent === "" || shown.phase === "over";
    clock.classList.toggle("running", running);
  }

  return {
    element,
    /** @param {Service.GameView | undefined} now @param {Feed} feed */
    game(now, feed) {
      game(now);
      tick(feed);
      this.status(feed);
    },
    /** @param {Feed} feed */
    tick(feed) {
      tick(feed);
      this.status(feed);
    },
    /** @param {Feed} feed */
    calls(feed) {
      play.ask(feed.value("game"));
      this.status(feed);
    },
    /** @param {Feed} feed */
    status(feed) {
      const [text, level] = steady(...statusOf(feed.value("game"), feed.value("health"), feed.value("challenges"), play.words()));
      flag.hidden = !play.isFlagged(feed.value("game"), feed.value("calls")?.calls ?? []);
      status.dataset.level = level;
      status.hidden = options.status === "hide" || text === "";
      setText(status, text);
    },
  };
}

/** What a ruling may still change, which waits for it. @param {Service.GameView} game */
const frozenPart = ({ score, home, away, down, distance_yd, goal_to_go, spot_text, possession, due, period }) => ({
  score, home, away, down, distance_yd, goal_to_go, spot_text, possession, due, period,
});

/**
 * What the status line shows of what it would: an alarm only once it has lasted, and each text for long enough to be read.
 *
 * @returns {(text: string, level: string) => [text: string, level: string]}
 */
function steadyStatus() {
  /** @type {[text: string, level: string]} */
  let shown = ["", "calm"];
  let shown_since_ms = -Infinity;
  let alarm_since_ms = Infinity;
  return (text, level) => {
    const now = steadyNow();
    alarm_since_ms = level === "alarm" ? Math.min(alarm_since_ms, now) : Infinity;
    const isNews = text !== shown[0] && (level !== "alarm" || now - alarm_since_ms >= ALARM_AFTER_MS);
    const isRead = shown[0] === "" || (level === "review" && shown[1] !== "calm") || now - shown_since_ms >= MIN_SHOWN_MS;
    if (isNews && isRead) [shown, shown_since_ms] = [[text, level], now];
    return shown;
  };
}

/**
 * The status line, the most important first, and its color.
 *
 * @param {Service.GameView | undefined} game
 * @param {Service.HealthStatus | undefined} health
 * @param {Service.ChallengesView | undefined} challenges
 * @param {string} played what came of the last play
 * @returns {[text: string, level: string]}
 */
function statusOf(game, health, challenges, played) {
  if (game === undefined) return ["", "calm"];
  const disputed = challenges?.challenges.find((challenge) => challenge.decision === null);
  if (disputed) return [`Under review: ${game[disputed.side].short} challenges`, "review"];
  if (game.wait !== null && game.wait.purpose === "measurement") return ["Measurement", "review"];
  if (game.under_review) return ["Under review", "review"];
  if (areCallsMissed(game, health)) return ["Camera calls suspended", "alarm"];
  if (game.wait !== null) return [capitalize(game.wait.text), "wait"];
  if (game.phase === "live" || game.phase === "in_air" || game.phase === "kick") return ["Live", "live"];
  return [PHASES[game.phase] ?? (game.phase === "over" ? "" : played), "calm"];
}

/**
 * What came of the last play, and whether a flag lies: from the foul, or while it is decided, until the next play begins.
 *
 * @param {Options} options
 */
function lastPlay(options) {
  let [words, isPlaying, began_ns, timer, flag_until_ms] = ["", false, Infinity, 0, 0];
  return {
    words: () => words,
    /** @param {Service.GameView} game */
    game(game) {
      const was = isPlaying;
      isPlaying = PLAYING.includes(game.phase);
      if (isPlaying && !was) [words, began_ns] = ["", game.t_ns];
      else if (!isPlaying && (was || began_ns === Infinity)) this.ask(game);
    },
    /** @param {Service.GameView | undefined} game */
    ask(game) {
      clearTimeout(timer);
      if (game === undefined || isPlaying || game.shadow) return;
      timer = setTimeout(async () => {
        const key = options.key && `&key=${options.key}`;
        const answer = await fetch(`api/games/${encodeURIComponent(game.game)}/plays?limit=1${key}`).catch(() => null);
        const [play] = answer?.ok ? /** @type {Service.Play[]} */ (await answer.json()) : [];
        if (isPlaying || play === undefined) return;
        began_ns = play.t_ns; // also of one that nobody saw begin
        words = play.ending === null || options.play === "hide" ? "" : capitalize(formatCallText(play.result));
      }, SETTLED_MS);
    },
    /** @param {Service.GameView | undefined} game @param {Service.CallView[]} calls */
    isFlagged(game, calls) {
      const lies = game?.wait?.purpose === "penalty" || calls.some((call) => call.kind === "penalty" && call.t_ns >= began_ns && (isInForce(call) || call.standing === "open"));
      if (lies) flag_until_ms = steadyNow() + MIN_SHOWN_MS;
      return steadyNow() < flag_until_ms;
    },
  };
}

/** @type {Partial<Record<Service.Phase, string>>} */
const PHASES = { stopped: "Stoppage", pass: "Pass", set: "Set" };

/** @param {Options} options */
function team(options) {
  const name = el("span", { class: "name" });
  const ball = el("span", { class: "ball", "aria-label": "has the ball" });
  const timeOuts = el("span", { class: "timeouts" });
  const score = el("span", { class: "score" });
  const logo = el("span", { class: "logo-plate", hidden: true });
  const element = el("div", { class: "team" }, logo, el("div", { class: "identity" }, el("span", { class: "line" }, name, ball), timeOuts), score);
  return {
    element,
    /** @param {Service.TeamView} now @param {boolean} hasBall */
    show(now, hasBall) {
      applyTeamColors(element, now);
      if (logo.dataset.logo !== (now.logo ?? "")) {
        logo.dataset.logo = now.logo ?? "";
        logo.hidden = now.logo === null;
        logo.replaceChildren(...(now.logo === null ? [] : [logoImage(now.logo)]));
      }
      setText(name, options.teams === "full" ? now.name : now.short);
      element.classList.toggle("possession", hasBall);
      if (score.textContent !== "" && score.textContent !== String(now.points)) pulse(score);
      setText(score, String(now.points));
      const left = options.timeouts === "show" ? now.time_outs : null;
      timeOuts.hidden = left === null;
      timeOuts.setAttribute("aria-label", `${left} time-outs left`);
      timeOuts.replaceChildren(...Array.from({ length: Math.max(3, left ?? 0) }, (_, i) => el("i", { class: i < (left ?? 0) ? "left" : null })));
    },
  };
}

/** @param {HTMLElement} element */
function pulse(element) {
  element.animate([{ transform: "scale(1)" }, { transform: "scale(1.28)" }, { transform: "scale(1)" }], {
    duration: 900,
    easing: "cubic-bezier(0.2, 0.7, 0.2, 1)",
  });
}
