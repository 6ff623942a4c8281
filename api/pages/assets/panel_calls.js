// Calls as they come: what, by how much, under which clause, and what a person can do about one.

import { el } from "/assets/dom.js";
import { gauge } from "/assets/gauge.js";
import { capital, percent, spoken, verdictText } from "/assets/words.js";

/** One call of the list. */
export function callItem(call, item) {
  item.className = `call ${call.verdict} ${call.standing}`;
  const can = call.standing === "open" ? [] : rulings(call); // what waits for a person stands above, with its buttons
  return [
    callHead(call),
    call.latest && can.length > 0 && el("div", { class: "row" }, can),
    el("details", {}, el("summary", {}, "Why"), callWhy(call), el("div", { class: "row" }, framesLink(call), !call.latest && can)),
  ];
}

/** A call in short. */
export function callHead(call) {
  const facts = [call.unit === "count" ? "" : call.measured, call.probability < 1 && `${percent(call.probability)} sure`, call.clauses.map((one) => one.id).join(", ")];
  return [
    el("p", { class: "tag" }, capital(verdictText(call)), call.standing === "open" && " · waits for you"),
    el("p", { class: "text" }, capital(spoken(call.text))),
    el("p", { class: "facts" }, facts.filter(Boolean).join(" · ")),
  ];
}

/** What it rests on: the measurement drawn, both readings, the clauses in words, the ruling. */
export function callWhy(call) {
  return el(
    "div",
    { class: "why" },
    gauge(call),
    call.readings.length > 0 && el("ul", { class: "readings" }, call.readings.map((one) => el("li", {}, el("b", {}, percent(one.probability)), ` ${spoken(one.text)}`))),
    call.clauses.map((clause) => el("p", {}, el("b", {}, clause.id), clause.text ? ` ${clause.text}` : "")),
    el("p", { class: "soft" }, `at ${(call.t_ns / 1e9).toFixed(2)} s${call.frame === null ? "" : `, frame ${call.frame}`}${call.spot_text ? `, ${call.spot_text}` : ""}`),
    call.ruling && el("p", {}, `${capital(call.ruling.decision)} by ${call.ruling.by}${call.ruling.note ? `: ${call.ruling.note}` : ""}`),
  );
}

/** The way to the pictures it was made from. */
export function framesLink(call) {
  return el("a", { class: "button small", "aria-label": `Frames: ${spoken(call.text)}`, href: `/evidence?call=${encodeURIComponent(call.id)}` }, "Frames");
}

/** The buttons for a call that needs nobody. */
function rulings(call) {
  if (call.ruling) return [undo(call)];
  if (call.standing === "noted") return [];
  return [rule(call, "confirm", "Confirm"), rule(call, "overturn", "Overturn", "warn"), rule(call, "strike", "Undo this one")];
}

/** A button that rules on a call. */
export function rule(call, decision, label, tone = "", replacement = null) {
  return el(
    "button",
    {
      type: "button",
      class: `small ${tone}`.trim(),
      "aria-label": `${label}: ${spoken(call.text)}`,
      "data-post": `/api/calls/${encodeURIComponent(call.id)}/rulings`,
      "data-body": JSON.stringify({ decision, replacement, note: "" }),
    },
    label,
  );
}

function undo(call) {
  return el(
    "button",
    { type: "button", class: "small", "data-post": `/api/events/${encodeURIComponent(call.ruling.event)}/undo`, "data-body": "{}" },
    "Undo this ruling",
  );
}
