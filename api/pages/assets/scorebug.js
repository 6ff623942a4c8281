// The score bug: who leads, whose ball, which down, where, and how long to go.

import { dress } from "/assets/color.js";
import { el, say } from "/assets/dom.js";
import { overlay } from "/assets/overlay.js";
import { capital, clockText, downAndDistance, periodText, spot } from "/assets/words.js";

const TOPICS = ["game", "health"];

overlay("scorebug", TOPICS, (stage, options, feed) => {
  const bug = scoreBug(options);
  stage.append(bug.element);
  feed.on("game", (game) => bug.game(game, feed));
  feed.on("health", () => bug.status(feed));
  setInterval(() => bug.tick(feed), 200);
});

function scoreBug(options) {
  const away = team(options);
  const home = team(options);
  const period = el("span", { class: "period" });
  const clock = el("span", { class: "time" });
  const down = el("span", { class: "down" });
  const place = el("span", { class: "spot" });
  const status = el("div", { class: "status", role: "status" });
  const time = el("div", { class: "clock" }, period, options.clock === "show" ? clock : null);
  const drive = el("div", { class: "drive" }, down, place);
  const bar = el("div", { class: "bar" }, away.element, home.element, time, drive);
  const element = el("div", { class: `bug scaled ${options.teams}` }, status, bar);
  const tenths = options.yards === "tenths";
  let shown = null;

  function game(now) {
    if (now === undefined) return;
    // While a call is under review the public sees what it saw; the status line says why.
    shown = now.under_review && shown !== null && shown.game === now.game ? { ...held(shown), ...live(now) } : now;
    home.show(shown.home, shown.possession === "home" && shown.phase !== "over");
    away.show(shown.away, shown.possession === "away" && shown.phase !== "over");
    say(period, shown.phase === "over" ? "Final" : periodText(shown.period));
    say(down, capital(downAndDistance(shown, tenths)));
    say(place, spot(shown.spot_text, tenths));
    drive.hidden = shown.phase === "over";
    bar.dataset.goal = shown.goal_to_go;
  }

  function tick(feed) {
    if (shown === null) return;
    const { left_s, running, at_ms } = shown.clock;
    const gone_s = running ? Math.max(0, feed.now() - (at_ms ?? feed.now())) / 1000 : 0;
    say(clock, left_s === null ? shown.clock.text : clockText(left_s - gone_s));
    clock.hidden = clock.textContent === "" || shown.phase === "over";
    clock.classList.toggle("running", running);
  }

  return {
    element,
    game(now, feed) {
      game(now);
      tick(feed);
      this.status(feed);
    },
    tick,
    status(feed) {
      const [text, level] = statusOf(feed.value("game"), feed.value("health"));
      status.dataset.level = level;
      status.hidden = options.status === "hide" || text === "";
      say(status, text);
    },
  };
}

const held = ({ score, home, away, down, distance_yd, goal_to_go, spot_text, possession, due, period }) => ({
  score, home, away, down, distance_yd, goal_to_go, spot_text, possession, due, period,
});

const live = ({ game, phase, clock, board, wait, suspended, under_review }) => ({
  game, phase, clock, board, wait, suspended, under_review,
});

/** The line over the bug, the most telling thing first, and how it is colored. */
function statusOf(game, health) {
  if (game === undefined) return ["", "calm"];
  if (game.under_review) return ["Under review", "review"];
  if (health?.calls === "suspended" || game.suspended.length) return ["Camera calls suspended", "alarm"];
  if (game.wait !== null) return [capital(game.wait.text), "wait"];
  if (game.phase === "live" || game.phase === "in_air" || game.phase === "kick") return ["Live", "live"];
  return [{ stopped: "Stoppage", pass: "Pass", set: "Set" }[game.phase] ?? "", "calm"];
}

function team(options) {
  const name = el("span", { class: "name" });
  const ball = el("span", { class: "ball", "aria-label": "has the ball" });
  const outs = el("span", { class: "timeouts" });
  const score = el("span", { class: "score" });
  const element = el("div", { class: "team" }, el("div", { class: "who" }, el("span", { class: "line" }, name, ball), outs), score);
  return {
    element,
    show(now, hasBall) {
      dress(element, now);
      say(name, options.teams === "full" ? now.name : now.short);
      element.classList.toggle("possession", hasBall);
      if (score.textContent !== "" && score.textContent !== String(now.points)) pulse(score);
      say(score, String(now.points));
      const left = options.timeouts === "show" ? now.time_outs : null;
      outs.hidden = left === null;
      outs.setAttribute("aria-label", `${left} time-outs left`);
      outs.replaceChildren(...Array.from({ length: Math.max(3, left ?? 0) }, (_, i) => el("i", { class: i < left ? "left" : null })));
    },
  };
}

function pulse(element) {
  element.animate([{ transform: "scale(1)" }, { transform: "scale(1.28)" }, { transform: "scale(1)" }], {
    duration: 900,
    easing: "cubic-bezier(0.2, 0.7, 0.2, 1)",
  });
}
