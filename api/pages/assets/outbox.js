// What the panel sends, each once and in the order of the taps. Without a connection it is kept on the phone, also when the
// page is closed, and sent when there is one again.

import { newKey, NoResponseError, RefusedError, send } from "./send.js";

const PREFIX = "downfield.outbox.";

/** Answers of a service that starts, of the proxy before it, or to too many requests: it was not even considered. */
const UNAVAILABLE = new Set([429, 502, 503, 504]);

/** While something waits it is tried again this often. */
const RETRY_MS = 2_000;

/**
 * What is to be sent: a path and a body, in words for a person, when the finger came down, and whether that is sent even at once.
 *
 * @typedef {{ path: string, body: RequestBody, label: string, pressed_ms: number, timed: boolean }} Request
 */

/**
 * What is being sent or waits, as it is kept: `key` is that of all attempts, `game` the one it is meant for.
 *
 * @typedef {Omit<Request, "pressed_ms"> & { id: string, key: string, tapped_ms: number, game: ?string, waits?: boolean, busy?: boolean,
 *   resolve?: (receipt: any) => void, reject?: (error: Error) => void }} Item
 */

export class Outbox {
  /** @type {Item[]} */
  #items = [];
  #sending = false;
  #timer = 0;
  #options;

  /**
   * @param {object} options
   * @param {() => ?string} options.game id of the game that is shown; null while there is none
   * @param {() => boolean} options.connected whether that is the game in play now
   * @param {(waiting: Item[]) => void} options.changed called with what waits when that changes
   * @param {(item: Item, reason: string) => void} options.refused called when something that waited is not accepted
   */
  constructor(options) {
    this.#options = options;
    this.#items = storedItems();
    addEventListener("online", () => this.flush());
  }

  /**
   * Whether a request is kept when no answer comes: what belongs to the game, but no commands to the rig.
   *
   * @param {string} path
   * @param {string} method
   */
  static keeps(path, method) {
    return method === "POST" && /^api\/(declarations$|calls$|calls\/[^/]+\/rulings$|events\/[^/]+\/undo$)/.test(path);
  }

  get waiting() {
    return this.#items.filter((item) => item.waits);
  }

  /**
   * Send a request, after those that wait.
   *
   * @param {Request} request } request `pressed_ms` as of `send`; `timed`: it is sent with that moment even at once
   * @returns {Promise<any>} the response's JSON
   * @throws RefusedError: it is not accepted. NoResponseError: it is kept, and sent later.
   */
  submit({ path, body, label, pressed_ms, timed }) {
    const same = this.waiting.some((item) => item.path === path && JSON.stringify(item.body) === JSON.stringify(body));
    if (same) return Promise.reject(new NoResponseError(null)); // the same button was tapped again
    const tapped_ms = performance.timeOrigin + pressed_ms;
    /** @type {Item} */
    const item = { id: `${Math.round(tapped_ms)}-${newKey()}`, key: newKey(), path, body, label, tapped_ms, timed, game: this.#options.game() };
    this.#items.push(item);
    store(item);
    return new Promise((resolve, reject) => {
      Object.assign(item, { resolve, reject });
      if (this.waiting.length > 0) this.#keep();
      this.flush();
    });
  }

  /** Do not send something after all. @param {string} id */
  drop(id) {
    const item = this.#items.find((one) => one.id === id);
    if (item === undefined || item.busy) return;
    this.#remove(item);
    this.#options.changed(this.waiting);
  }

  /** Show what waits since the page was closed, and try to send it. */
  start() {
    this.#keep();
    this.flush();
  }

  /** Send everything, in order, until one gets no answer. */
  async flush() {
    if (this.#sending) return;
    this.#sending = true;
    clearTimeout(this.#timer);
    try {
      while (this.#items.length > 0) if (!(await this.#send(this.#items[0]))) break;
    } finally {
      this.#sending = false;
      if (this.#items.length > 0) this.#timer = setTimeout(() => this.flush(), RETRY_MS);
    }
  }

  /** @param {Item} item @returns {Promise<boolean>} whether the next one can be sent */
  async #send(item) {
    const connected = this.#options.connected();
    if (item.waits && !connected) return false; // it may be for another game than the one in play now
    if (connected && item.game !== this.#options.game()) {
      this.#end(item, new RefusedError({ detail: "Not sent: another game has begun meanwhile." }));
      return true;
    }
    const retries = connected && !item.waits ? undefined : [];
    const pressed_ms = item.timed || item.waits ? item.tapped_ms - performance.timeOrigin : null;
    item.busy = true;
    try {
      this.#end(item, null, await send(item.path, item.body, { key: item.key, pressed_ms, retries }));
      return true;
    } catch (error) {
      item.busy = false;
      const refused = error instanceof RefusedError && !UNAVAILABLE.has(error.status);
      if (refused) this.#end(item, /** @type {RefusedError} */ (error));
      else this.#keep();
      return refused;
    }
  }

  /** @param {Item} item @param {?Error} error @param {object} [receipt] */
  #end(item, error, receipt) {
    const waited = item.waits;
    this.#remove(item);
    if (waited) {
      if (error !== null) this.#options.refused(item, error.message);
      this.#options.changed(this.waiting);
    } else if (error !== null) item.reject?.(error);
    else item.resolve?.(receipt);
  }

  /** From now on everything waits, and no button stays busy. */
  #keep() {
    for (const item of this.#items.filter((one) => !one.waits)) {
      item.waits = true;
      item.reject?.(new NoResponseError(null));
    }
    this.#options.changed(this.waiting);
  }

  /** @param {Item} item */
  #remove(item) {
    this.#items = this.#items.filter((one) => one !== item);
    try {
      localStorage.removeItem(PREFIX + item.id);
    } catch {
      // it was never there
    }
  }
}

/** @param {Item} item */
function store({ id, key, path, body, label, tapped_ms, timed, game }) {
  try {
    localStorage.setItem(PREFIX + id, JSON.stringify({ id, key, path, body, label, tapped_ms, timed, game }));
  } catch {
    // it is kept until the page is closed
  }
}

/** What was kept when the page was closed, in the order of the taps. @returns {Item[]} */
function storedItems() {
  try {
    const keys = Object.keys(localStorage).filter((name) => name.startsWith(PREFIX));
    return keys.map((name) => JSON.parse(localStorage.getItem(name) ?? "null")).sort((a, b) => a.tapped_ms - b.tapped_ms);
  } catch {
    return [];
  }
}
