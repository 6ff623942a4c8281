// The call beside its frames: what was called, the way to the calls before and after it, and ruling on it in place.

import { MAY_RULE, challengeButton } from "./challenges.js";
import { el, refresh } from "./dom.js";
import { callDetails, callHead, rulingButtons } from "./panel_calls.js";
import { NoResponseError, errorText, read, send } from "./send.js";
import { capitalize, formatCallText } from "./format.js";

export class CallSection {
  /**
   * @param {object} elements {call, neighbors, notice, back}
   * @param {function} onRuled called when a ruling was accepted
   */
  constructor(elements, onRuled) {
    Object.assign(this, elements);
    this.onRuled = onRuled;
    this.mayRule = false;
    this.standing = null; // of the game, once it is known
    this.call.addEventListener("click", (event) => {
      const button = event.target.closest("[data-post]");
      if (button !== null && button.getAttribute("aria-busy") !== "true") this.#rule(button, () => send(this.#pathOf(button.dataset.post), JSON.parse(button.dataset.body)));
    });
    this.#askRole();
  }

  /** Show a call of a game. */
  show(game, details) {
    const isOther = this.shown?.game !== game;
    this.shown = { game, details };
    if (isOther) this.#askStanding();
    this.#draw();
  }

  /** Find out whether the game is in play, where the way back is the panel, or closed, where nobody rules. */
  async #askStanding() {
    const { game, details } = this.shown;
    const { standing } = await read(`api/games/${encodeURIComponent(game)}`).catch(() => ({ standing: "" }));
    this.standing = standing;
    if (!["", "in_play"].includes(standing)) {
      this.back.href = gamePage(game, details.id);
      this.back.textContent = "‹ Game";
    }
    this.#draw();
  }

  async #askRole() {
    const session = await read("api/session").catch(() => null);
    this.mayRule = MAY_RULE.has(session?.role);
    this.#draw();
  }

  #draw() {
    if (this.shown === undefined) return;
    const { game, details } = this.shown;
    const isClosed = this.standing === "ended";
    const rules = this.mayRule && this.standing !== null && !isClosed;
    refresh(this.call, [game, details, this.mayRule, isClosed, rules], () =>
      el(
        "div",
        { class: `call ${details.verdict} ${details.standing}` },
        callHead(details),
        rules && el("div", { class: "row rulings" }, rulingButtons(details), challengeButton(game, details)),
        this.mayRule && isClosed && el("p", { class: "closed" }, "This game is closed. To rule on this call, ", el("a", { href: gamePage(game, details.id) }, "reopen it on its page"), "."),
        callDetails(details),
      ),
    );
  }

  /** A ruling's path: a game that is over has its own, which refuses with the way to reopen it. */
  #pathOf(path) {
    const { game } = this.shown;
    return this.standing === "in_play" ? path : path.replace(/^api\//, `api/games/${encodeURIComponent(game)}/`);
  }

  async #rule(button, sending) {
    button.setAttribute("aria-busy", "true");
    try {
      await sending();
      navigator.vibrate?.(12);
      this.tell("");
      await this.onRuled();
    } catch (error) {
      const again = error instanceof NoResponseError ? () => this.#rule(button, error.retry) : null;
      this.tell(again ? error.message : capitalize(errorText(error)), again);
    } finally {
      button.removeAttribute("aria-busy");
    }
  }

  /** Tell something about the ruling, with a way to try again where there is one. */
  tell(text, again = null) {
    this.notice.hidden = text === "";
    this.notice.replaceChildren(el("span", {}, text), ...(again ? [el("button", { type: "button", class: "small", onclick: again }, "Try again")] : []));
  }

  /** Show the ways to the calls before and after this one in its game. */
  async showNeighbors(game, call) {
    const calls = await read(`api/games/${encodeURIComponent(game)}/calls?${new URLSearchParams({ around: call, limit: 3 })}`).catch(() => []);
    const place = calls.findIndex(({ id }) => id === call);
    const [before, after] = place < 0 ? [] : [calls[place - 1], calls[place + 1]];
    this.before = before && address(game, before.id);
    this.after = after && address(game, after.id);
    this.neighbors.replaceChildren(neighbor("‹ Previous call", this.before, before), neighbor("Next call ›", this.after, after));
  }
}

const gamePage = (game, call) => `game?${new URLSearchParams({ game })}#call-${encodeURIComponent(call)}`;

const address = (game, call) => `evidence?${new URLSearchParams({ game, call })}`;

/** A link to another call; without one it is shown disabled, so that nothing moves. */
function neighbor(label, href, call) {
  if (!href) return el("span", { class: "button small", "aria-disabled": "true" }, label);
  return el("a", { class: "button small", href, title: formatCallText(call.text) }, label);
}
