// Sections that are needed less often: line-up, clock, claims, a call by hand, corrections, the rig.

import { el, find } from "./dom.js";
import * as anyForm from "./panel_any.js";
import * as forms from "./panel_forms.js";
import { isByHand } from "./panel_health.js";
import { requestButton } from "./panel_fields.js";
import { ofType } from "./panel_legal.js";
import { preferenceForm } from "./panel_preferences.js";
import { phoneSection } from "./phone_choice.js";
import * as byHandForms from "./panel_by_hand.js";
import { lineUpCheck } from "./panel_lineup.js";
import { scheduleSection } from "./panel_schedule.js";
import { signOff } from "./sign_off.js";

/** Add the sections; `done(button)` closes the one whose button was answered. @param {HTMLElement} parent @param {Feed} feed */
export function moreSections(parent, feed) {
  const cards = section("Cards", (body) => body.append(...forms.cards()));
  const playEnd = section("How the play ended", (body) => body.append(...byHandForms.playEnded(feed)));
  const skills = section("Players' dice", (body) => body.append(...byHandForms.skillDice(feed)));
  const anything = section("Declare anything", (body) => body.append(...anyForm.anything(feed)));
  const schedule = section("Schedule of this table", () => {}, true);
  scheduleSection(schedule, find(schedule, ".body"), feed);
  const phoneCamera = section("The phone that is the camera", () => {}, true);
  phoneSection(phoneCamera, find(phoneCamera, ".body"), feed);
  const sections = [
    playEnd,
    cards,
    skills,
    schedule,
    section("Line-up check", (body, summary) => lineUpCheck(body, summary, feed), true),
    section("Clock and time-outs", (body) => body.append(...forms.clock(feed))),
    section("Penalties and claims", (body) => body.append(...forms.claims(feed))),
    section("Call by hand", (body) => body.append(...forms.manualCall(feed))),
    section("Correct the game", (body) => body.append(...forms.setUp(feed))),
    section("On the stream", (body) => body.append(...onTheStream())),
    anything,
    phoneCamera,
    section("Camera and recording", (body) => body.append(...forms.rig())),
    section("This phone", (body) => body.append(...preferenceForm())),
    section("End of the game", (body) => signOff(body, feed)),
    section("New game", (body) => body.append(...forms.newGame(feed))),
  ];
  parent.append(...sections);
  cards.hidden = true;
  feed.on("game", (game) => {
    cards.hidden = !game?.accepts.includes("card");
    playEnd.hidden = !game?.accepts.includes("play_ended");
    skills.hidden = !game?.dice_anytime.length;
  });
  feed.on("source", (source) => (playEnd.open ||= source?.kind === "none")); // kept by hand: this is the way to play
  let byHand = false;
  feed.on("health", (health) => {
    if (isByHand(health) && !byHand) playEnd.open = true;
    byHand = isByHand(health);
  });
  return {
    /** Rebuild “How the play ended” and “Declare anything” from what may be declared now, unless the user is filling them in. */
    offer() {
      if (playEnd.open && !isFilling(playEnd) && ofType("play_ended").length > 0) find(playEnd, ".body").replaceChildren(...byHandForms.playEnded(feed));
      if (anything.open && !isFilling(anything)) find(anything, ".body").replaceChildren(...anyForm.anything(feed));
    },
    /** Close the section of a button whose request was answered. @param {HTMLElement} button */
    done(button) {
      if (button.dataset.closes !== undefined) button.closest("details")?.removeAttribute("open");
    },
  };
}

/** What a thumb at the table needs; all else that is on air is on a page of its own. */
function onTheStream() {
  return [
    el("div", { class: "row" }, requestButton("Replay the last call", "api/replay", { call: null }, "main"), el("a", { class: "button small", href: "producer" }, "Producer’s page")),
    el("p", { class: "muted" }, "Cards, replays, sponsors, name tags, lines and the program’s look are on the producer’s page."),
  ];
}

/** Whether the user is filling in a form of a section. @param {HTMLElement} details */
const isFilling = (details) => document.activeElement?.matches("input, select") && details.contains(document.activeElement);

/**
 * A section that opens on a tap; its body is built then, from the current state, unless it follows the feed itself.
 *
 * @param {string} title
 * @param {(body: HTMLElement, summary: HTMLElement) => void} fill
 * @param {boolean} [live] it follows the feed itself
 */
function section(title, fill, live = false) {
  const summary = el("summary", {}, el("span", {}, title));
  const body = el("div", { class: "body" });
  const details = el("details", { class: "fold plate" }, summary, body);
  if (live) {
    fill(body, summary);
    return details;
  }
  details.addEventListener("toggle", () => {
    body.replaceChildren();
    if (details.open) fill(body, summary);
  });
  return details;
}
