// The call beside its frames: what was called, the way to the calls before and after it, and ruling on it in place.

import { MAY_RULE, challengeButton } from "./challenges.js";
import { around, el, refresh } from "./dom.js";
import { callDetails, callHead, rulingButtons } from "./panel_calls.js";
import { NoResponseError, errorText, messageOf, read, send } from "./send.js";
import { capitalize, formatCallText, nameSides } from "./format.js";

export class CallSection {
  /** @type {?{ game: string, details: Service.CallView }} */
  shown = null;
  mayRule = false;
  /** @type {?string} of the game, once it is known */
  standing = null;
  /** The ways to the calls before and after it. @type {string | undefined} */
  before;
  /** @type {string | undefined} */
  after;

  /**
   * @param {{ call: HTMLElement, neighbors: HTMLElement, notice: HTMLElement, back: HTMLAnchorElement }} elements
   * @param {() => Promise<void>} onRuled called when a ruling was accepted
   * @param {() => void} onNamed called once the teams' names are known
   */
  constructor({ call, neighbors, notice, back }, onRuled, onNamed) {
    this.call = call;
    this.neighbors = neighbors;
    this.notice = notice;
    this.back = back;
    this.onRuled = onRuled;
    this.onNamed = onNamed;
    this.call.addEventListener("click", (event) => {
      const button = around(event, "[data-post]", HTMLButtonElement);
      if (button === null || button.getAttribute("aria-busy") === "true") return;
      const { post = "", body = "{}" } = button.dataset;
      this.#rule(button, () => send(this.#pathOf(post), JSON.parse(body)));
    });
    this.#loadRole();
  }

  /** Show a call of a game. @param {string} game @param {Service.CallView} details */
  show(game, details) {
    const isOther = this.shown?.game !== game;
    this.shown = { game, details };
    if (isOther) this.#loadStanding(game, details);
    this.#draw();
  }

  /** Load whether the game is in play, where the way back is the panel, or closed, where no call can be ruled on. @param {string} game @param {Service.CallView} details */
  async #loadStanding(game, details) {
    /** @type {?Service.ReviewedGame} */
    const known = await read(`api/games/${encodeURIComponent(game)}`).catch(() => null);
    const standing = known?.standing ?? "";
    this.standing = standing;
    if (known !== null) {
      nameSides(known);
      this.onNamed();
    }
    if (!["", "in_play"].includes(standing)) {
      this.back.href = gamePage(game, details.id);
      this.back.textContent = "‹ Game";
    }
    this.#draw();
  }

  async #loadRole() {
    /** @type {?Service.SessionDetails} */
    const session = await read("api/session").catch(() => null);
    this.mayRule = MAY_RULE.has(session?.role ?? "");
    this.#draw();
  }

  #draw() {
    if (this.shown === null) return;
    const { game, details } = this.shown;
    const isClosed = this.standing === "ended";
    const rules = this.mayRule && this.standing !== null && !isClosed;
    refresh(this.call, [game, details, this.mayRule, isClosed, rules, formatCallText(details.text)], () =>
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

  /** A ruling's path: a game that is over has its own, which refuses with the way to reopen it. @param {string} path */
  #pathOf(path) {
    const game = this.shown?.game ?? "current";
    return this.standing === "in_play" ? path : path.replace(/^api\//, `api/games/${encodeURIComponent(game)}/`);
  }

  /** @param {HTMLButtonElement} button @param {() => Promise<unknown>} sending */
  async #rule(button, sending) {
    button.setAttribute("aria-busy", "true");
    try {
      await sending();
      navigator.vibrate?.(12);
      this.showNotice("");
      await this.onRuled();
    } catch (error) {
      const retry = error instanceof NoResponseError ? error.retry : null;
      if (retry === null) this.showNotice(capitalize(errorText(error)));
      else this.showNotice(messageOf(error), () => this.#rule(button, retry));
    } finally {
      button.removeAttribute("aria-busy");
    }
  }

  /** Show a notice about the ruling, with a button to try again where `again` is given. @param {string} text @param {?(() => void)} [again] */
  showNotice(text, again = null) {
    this.notice.hidden = text === "";
    this.notice.replaceChildren(el("span", {}, text), ...(again ? [el("button", { type: "button", class: "small", onclick: again }, "Try again")] : []));
  }

  /** Show the ways to the calls before and after this one in its game. @param {string} game @param {string} call */
  async showNeighbors(game, call) {
    /** @type {Service.CallView[]} */
    const calls = await read(`api/games/${encodeURIComponent(game)}/calls?${new URLSearchParams({ around: call, limit: "3" })}`).catch(() => []);
    const place = calls.findIndex(({ id }) => id === call);
    const [before, after] = place < 0 ? [] : [calls[place - 1], calls[place + 1]];
    this.before = before && address(game, before.id);
    this.after = after && address(game, after.id);
    this.neighbors.replaceChildren(neighbor("‹ Previous call", before, this.before), neighbor("Next call ›", after, this.after));
  }
}

/** @param {string} game @param {string} call */
const gamePage = (game, call) => `game?${new URLSearchParams({ game })}#call-${encodeURIComponent(call)}`;

/** @param {string} game @param {string} call */
const address = (game, call) => `evidence?${new URLSearchParams({ game, call })}`;

/**
 * A link to another call; without one it is shown disabled, so that nothing moves.
 *
 * @param {string} label
 * @param {Service.CallView | undefined} call
 * @param {string} [href]
 */
function neighbor(label, call, href) {
  if (call === undefined || href === undefined) return el("span", { class: "button small", "aria-disabled": "true" }, label);
  return el("a", { class: "button small", href, title: formatCallText(call.text) }, label);
}
