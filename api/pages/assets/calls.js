// The call banner: what was called, by how much, how sure, and under which clause.

import { dress } from "/assets/color.js";
import { el } from "/assets/dom.js";
import { gauge } from "/assets/gauge.js";
import { overlay } from "/assets/overlay.js";
import { capital, percent, spoken, verdictText } from "/assets/words.js";

/** With more calls waiting, each stays at least this long: time to read a line. */
const AT_LEAST_MS = 2_500;

/** Calls that came this long ago are news no more. */
const NEWS_MS = 20_000;

overlay("calls", ["game", "calls"], (stage, options, feed) => {
  const queue = [];
  let shown = null;
  let game = null;

  feed.on("game", (now) => {
    if (now !== undefined && game !== null && now.game !== game.game) {
      queue.length = 0;
      take(null);
    }
    game = now ?? game;
  });

  feed.on("calls", (now, { snapshot, changed }) => {
    if (snapshot || changed === undefined) return; // what was called before this page came is no news
    const anew = now.calls.length === 0; // another game began
    for (const id of changed.withdrawn ?? []) withdraw(id, anew);
    for (const call of changed.calls) put(call);
  });

  /** What the public has heard is taken back in public. */
  function withdraw(id, quietly) {
    if (shown?.call.id === id && !quietly) show({ ...shown.call, standing: "gone" });
    else drop(id);
  }

  function put(call) {
    if (shown?.call.id === call.id) {
      show(call);
      return;
    }
    drop(call.id);
    if (call.verdict !== "reported" || options.noted === "show") queue.push({ call, came: Date.now() });
  }

  function drop(id) {
    const waiting = queue.findIndex((one) => one.call.id === id);
    if (waiting >= 0) queue.splice(waiting, 1);
    if (shown?.call.id === id) take(null);
  }

  function show(call) {
    const team = call.side === null || game === null ? null : game[call.side];
    const element = banner(call, team, options);
    if (shown !== null && shown.call.id === call.id) {
      shown.element.replaceChildren(...element.childNodes);
      shown.element.className = element.className;
      shown.element.style.cssText = element.style.cssText;
      shown.call = call;
      shown.since = Date.now();
      return;
    }
    take({ call, element, since: Date.now() });
    stage.append(element);
    element.animate([{ opacity: 0, translate: "0 calc(var(--away) * 36px)" }, { opacity: 1, translate: "0 0" }], {
      duration: 420,
      easing: "cubic-bezier(0.2, 0.7, 0.2, 1)",
    });
  }

  /** Put one banner in the other's place. */
  function take(next) {
    const old = shown?.element;
    shown = next;
    if (old === undefined) return;
    const leaving = old.animate([{ opacity: 1 }, { opacity: 0 }], { duration: next === null ? 500 : 160, fill: "forwards" });
    leaving.onfinish = () => old.remove();
  }

  setInterval(() => {
    const now = Date.now();
    while (queue.length && now - queue[0].came > NEWS_MS) queue.shift();
    const age = shown === null ? Infinity : now - shown.since;
    if (queue.length && age >= AT_LEAST_MS) show(queue.shift().call);
    else if (shown !== null && age >= 1000 * options.seconds) take(null);
  }, 100);
});

function banner(call, team, options) {
  const element = el(
    "article",
    { class: `banner scaled ${call.verdict} ${call.standing}${team === null ? "" : " sided"}`, "data-call": call.id },
    el("div", { class: "tab" }, capital(verdictText(call))),
    el(
      "div",
      { class: "plate" },
      el("p", { class: "text" }, capital(spoken(call.text))),
      call.readings.length > 1 && readings(call),
      options.measure === "show" && measure(call),
      clauses(call, options.clause),
    ),
  );
  if (team !== null) dress(element, team);
  return element;
}

/** Both readings of a close call, as wide as they are probable. */
function readings(call) {
  const parts = call.readings.map((reading) => {
    const part = el("div", { class: "reading" }, el("b", {}, percent(reading.probability)), el("span", {}, spoken(reading.text)));
    part.style.flexGrow = Math.max(0.28, reading.probability);
    return part;
  });
  return el("div", { class: "readings" }, parts);
}

function measure(call) {
  const drawn = gauge(call);
  const value = call.unit === "count" ? "" : call.measured;
  const sure = call.probability < 1 && call.readings.length < 2 && `${percent(call.probability)} sure`;
  if (!value && !sure) return null;
  return el(
    "div",
    { class: "measure" },
    drawn,
    el("p", {}, value && el("span", { class: "value" }, value), sure && el("span", { class: "sure" }, sure)),
  );
}

function clauses(call, how) {
  if (how === "hide" || !call.clauses.length) return null;
  const [first] = call.clauses;
  const ids = call.clauses.map((clause) => clause.id).join(", ");
  return el("p", { class: "clause" }, el("b", {}, ids), how === "text" && first.text ? ` ${first.text}` : null);
}
