// What is needed less often, each in a fold of its own: line-up, clock, claims, a call by hand, correction, the rig.

import { el } from "/assets/dom.js";
import * as forms from "/assets/panel_forms.js";
import { lineUpCheck } from "/assets/panel_lineup.js";

/** Build the folds into a section; `done(button)` closes the one whose button was answered. */
export function moreSection(section, feed) {
  const cards = fold("Cards", (body) => body.append(...forms.cards()));
  const folds = [
    cards,
    fold("Line-up check", (body, summary) => lineUpCheck(body, summary, feed), true),
    fold("Clock and time-outs", (body) => body.append(...forms.clock(feed))),
    fold("Penalties and claims", (body) => body.append(...forms.claims(feed))),
    fold("Call by hand", (body) => body.append(...forms.byHand(feed))),
    fold("Correct the game", (body) => body.append(...forms.setUp(feed))),
    fold("Camera and recording", (body) => body.append(...forms.rig(feed))),
    fold("New game", (body) => body.append(...forms.newGame(feed))),
  ];
  section.append(...folds);
  cards.hidden = true;
  feed.on("game", (game) => (cards.hidden = !game?.takes.includes("card")));
  return {
    done(button) {
      if (button.dataset.closes !== undefined) button.closest("details").open = false;
    },
  };
}

/** A fold; what is in it is made when it is opened, with the game as it is then, unless it follows the feed itself. */
function fold(title, fill, lives = false) {
  const summary = el("summary", {}, el("span", {}, title));
  const body = el("div", { class: "body" });
  const details = el("details", { class: "fold plate" }, summary, body);
  if (lives) {
    fill(body, summary);
    return details;
  }
  details.addEventListener("toggle", () => {
    body.replaceChildren();
    if (details.open) fill(body, summary);
  });
  return details;
}
