// The live feed: the current value of each topic.
//
// The server sends a snapshot, then numbered changes. After a break the feed resumes where it was, or from a new
// snapshot. It never gives up: the server may start later than the page, or be away for a day.

import { nameTeams } from "./format.js";
import { steadyNow } from "./steady_time.js";

/** After this long without a message the values may be stale: the server sends one at least every 5 s. */
export const STALE_MS = 12_000;

/** A message that comes so much later than the quickest one was held up on its way: this connection is too slow. */
const LATE_MS = 5_000;

/** Waits between attempts to connect: short at first, so that a restart is hardly noticed. */
const RETRY_MS = { first: 250, max: 5_000 };

/** Connecting may take this long; a phone that changed networks would otherwise hang for minutes. */
const CONNECT_MS = 5_000;

const VERSION = 2;

/** The address of a WebSocket of this service. @param {string} path */
export function socketAddress(path) {
  const address = new URL(path, document.baseURI);
  address.protocol = address.protocol === "https:" ? "wss:" : "ws:";
  return address;
}

/**
 * The state of the connection. "connecting": no message yet. "live": connected. "lost": the connection broke a moment
 * ago and what is shown still counts. "stale": it broke so long ago that what is shown may be wrong.
 */
export class Feed {
  #topics;
  #key;
  /** @type {Partial<Service.Topics>} */
  #values = {};
  /** @type {Map<string, ((value: any, about: any) => void)[]>} by topic: `on` ties each to the type of its topic */
  #listeners = new Map();
  /** What a preview shows in place of what the rig sends. @type {Map<string, any>} */
  #overridden = new Map();
  /** @type {((link: Link) => void)[]} */
  #onLink = [];
  /** @type {(() => void)[]} */
  #onRestart = [];
  /** @type {Link} */
  #link = "connecting";
  /** @type {?WebSocket} */
  #socket = null;
  #openedAt = 0;
  #receivedAt = 0;
  #wait_ms = RETRY_MS.first;
  #retry = 0;
  /** @type {?string} of the service's run; null before the first message */
  #epoch = null;
  #seq = 0;
  /** @type {?number} */
  #ahead_ms = null;

  /**
   * @param {(keyof Service.Topics)[]} topics to follow; empty for all
   * @param {string} key a viewer's token, for a page that has no cookie, such as one in OBS on another computer
   */
  constructor(topics = [], key = "") {
    this.#topics = topics;
    this.#key = key;
  }

  /**
   * A topic's value; undefined before it is known.
   *
   * @template {keyof Service.Topics} K
   * @param {K} topic
   * @returns {Service.Topics[K] | undefined}
   */
  value(topic) {
    return this.#overridden.has(topic) ? this.#overridden.get(topic) : this.#values[topic];
  }

  get link() {
    return this.#link;
  }

  /** The server's wall clock, ms; this device's until the first message. */
  now() {
    return steadyNow() + (this.#ahead_ms ?? 0);
  }

  /**
   * Call `listener(value, about)` with every value of a topic.
   *
   * @template {keyof Service.Topics} K
   * @param {K} topic
   * @param {(value: Service.Topics[K] | undefined, about: Notified<K>) => void} listener
   */
  on(topic, listener) {
    this.#listeners.set(topic, [...(this.#listeners.get(topic) ?? []), listener]);
    return this;
  }

  /** Call `listener(link)` now and whenever the state of the connection changes. @param {(link: Link) => void} listener */
  onLink(listener) {
    this.#onLink.push(listener);
    listener(this.#link);
    return this;
  }

  /** Call `listener()` when the server was restarted. @param {() => void} listener */
  onRestart(listener) {
    this.#onRestart.push(listener);
    return this;
  }

  start() {
    this.#connect();
    setInterval(() => this.#checkConnection(), 1_000);
    // A phone that was asleep ran no timers: check at once when it wakes.
    for (const type of ["online", "pageshow", "focus"]) addEventListener(type, () => this.#checkConnection());
    document.addEventListener("visibilitychange", () => this.#checkConnection());
    return this;
  }

  /** Show values from before this page was opened, until a connection brings the current ones. @param {Partial<Service.Topics>} values */
  recall(values) {
    if (this.#epoch !== null) return;
    this.#values = { ...values };
    if (values.game !== undefined) nameTeams(values.game);
    for (const [topic, value] of Object.entries(values)) this.#notify(topic, { snapshot: true, changed: value });
  }

  /** Have topics the values that a preview wants to see; all others are the rig's again. @param {Partial<Service.Topics>} values */
  override(values) {
    const topics = new Set([...this.#overridden.keys(), ...Object.keys(values)]);
    this.#overridden = new Map(Object.entries(values));
    for (const topic of topics) this.#notify(topic, { snapshot: false, changed: this.value(/** @type {keyof Service.Topics} */ (topic)) }, true);
  }

  #connect() {
    clearTimeout(this.#retry);
    this.#retry = 0;
    const address = socketAddress("api/feed/ws");
    if (this.#topics.length) address.searchParams.set("topics", this.#topics.join(","));
    if (this.#key) address.searchParams.set("key", this.#key);
    if (this.#epoch !== null) address.searchParams.set("after", `${this.#epoch}-${this.#seq}`);
    const socket = new WebSocket(address);
    this.#socket = socket;
    this.#openedAt = steadyNow();
    socket.onmessage = (event) => socket === this.#socket && this.#receive(JSON.parse(event.data));
    socket.onclose = () => socket === this.#socket && this.#disconnect();
  }

  #disconnect() {
    const socket = this.#socket;
    this.#socket = null;
    socket?.close();
    this.#setLink(this.#isOld() ? (this.#receivedAt ? "stale" : "connecting") : "lost");
    // Randomized, so that a room full of pages does not reconnect all at once.
    this.#retry = setTimeout(() => this.#connect(), this.#wait_ms * (0.5 + Math.random() / 2));
    this.#wait_ms = Math.min(RETRY_MS.max, this.#wait_ms * 2);
  }

  #isOld() {
    return steadyNow() - this.#receivedAt > STALE_MS;
  }

  #checkConnection() {
    if (this.#receivedAt && this.#isOld()) this.#setLink("stale");
    if (this.#socket === null) return;
    const dead = this.#receivedAt > this.#openedAt ? this.#isOld() : steadyNow() - this.#openedAt > CONNECT_MS;
    if (dead) this.#disconnect();
  }

  /**
   * @typedef {{ v: number, topic: string, at_ms?: number, epoch: string, seq: number, data: any }} Message of any topic, or "alive"
   * @param {Message} message
   */
  #receive(message) {
    if (message.v > VERSION) {
      location.reload();
      return;
    }
    if (this.#isLate(message)) {
      this.#ahead_ms = null; // what is on its way is older still: a new connection begins with what is now
      this.#disconnect();
      return;
    }
    this.#receivedAt = steadyNow();
    this.#wait_ms = RETRY_MS.first;
    this.#adjustClock(message.at_ms);
    if (message.topic === "snapshot") this.#replace(message);
    else if (message.topic !== "alive") this.#change(message);
    this.#setLink("live");
  }

  /** Whether a message of a topic that is published again and again was held up on its way. @param {Message} message */
  #isLate({ topic, at_ms }) {
    if (this.#ahead_ms === null || at_ms === undefined || !["scene", "health"].includes(topic)) return false;
    return this.now() - at_ms > LATE_MS;
  }

  /** Estimate how far the server's clock is ahead: the message with the least delay shows it best. @param {number} [at_ms] */
  #adjustClock(at_ms) {
    if (at_ms === undefined) return;
    const ahead = at_ms - steadyNow();
    if (this.#ahead_ms === null || ahead > this.#ahead_ms) this.#ahead_ms = ahead;
  }

  /** @param {Message} message */
  #replace(message) {
    const restarted = this.#epoch !== null && this.#epoch !== message.epoch;
    this.#remember(message);
    const before = this.#values;
    this.#values = message.data;
    if (message.data.game !== undefined) nameTeams(message.data.game);
    for (const topic of new Set([...Object.keys(before), ...Object.keys(message.data)])) {
      this.#notify(topic, { snapshot: true, at_ms: message.at_ms, changed: message.data[topic] });
    }
    if (restarted) for (const listener of this.#onRestart) listener();
  }

  /** @param {Message} message */
  #change(message) {
    if (message.epoch !== this.#epoch || message.seq <= this.#seq) return;
    this.#remember(message);
    const { topic, data } = message;
    Object.assign(this.#values, { [topic]: topic === "calls" ? mergeCalls(this.#values.calls, data) : data });
    if (topic === "game") nameTeams(data);
    this.#notify(topic, { snapshot: false, at_ms: message.at_ms, changed: data });
  }

  /** @param {Message} message */
  #remember(message) {
    this.#epoch = message.epoch;
    this.#seq = message.seq;
  }

  /** @param {string} topic @param {object} about @param {boolean} [preview] */
  #notify(topic, about, preview = false) {
    if (this.#overridden.has(topic) && !preview) return;
    for (const listener of this.#listeners.get(topic) ?? []) {
      try {
        listener(this.value(/** @type {keyof Service.Topics} */ (topic)), about);
      } catch (error) {
        console.error(`${topic}:`, error); // one part of a page must not stop the others
      }
    }
  }

  /** @param {Link} link */
  #setLink(link) {
    if (link === this.#link) return;
    this.#link = link;
    for (const listener of this.#onLink) listener(link);
  }
}

/**
 * Calls after a change: new ones added or replaced by id, withdrawn ones removed, moved ones put last; those of another
 * game are forgotten.
 *
 * @param {{ game?: string, calls: Service.CallView[] } | undefined} before
 * @param {Service.CallsUpdate} change
 * @returns {Service.CallsUpdate}
 */
export function mergeCalls(before = { calls: [] }, change) {
  const byId = new Map((before.game === change.game ? before.calls : []).map((call) => [call.id, call]));
  for (const call of change.calls) byId.set(call.id, call);
  for (const id of change.withdrawn) byId.delete(id);
  for (const id of change.moved) {
    const call = byId.get(id);
    if (call === undefined) continue;
    byId.delete(id);
    byId.set(id, call);
  }
  return { game: change.game, calls: [...byId.values()], withdrawn: [], struck: [], cause: null, moved: [] };
}

/** Reload a page that has been open for days when Downfield is upgraded. @param {Feed} feed */
export async function reloadOnUpgrade(feed) {
  const build = async () => (await fetch("assets/build.txt", { cache: "no-store" })).text();
  const loaded = await build().catch(() => null);
  feed.onRestart(async () => {
    const current = await build().catch(() => loaded);
    if (loaded !== null && current !== loaded) location.reload();
  });
}
