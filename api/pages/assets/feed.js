// The live feed: what is true now by topic, kept true for ever.
//
// A snapshot, then numbered changes; after a break it resumes where it was, or starts from a new snapshot. It never
// gives up: the server may come first or last, go away for a minute or a day.

/** Nothing heard for this long and what is shown may be old: the server says something every 5 s. */
export const STALE_MS = 12_000;

/** Waits between tries to connect: short, so that a restart is hardly seen, then long enough to burden nobody. */
const RETRY_MS = { first: 250, most: 5_000 };

/** Connecting may take this long; a phone that changed networks would else hang for minutes. */
const CONNECT_MS = 5_000;

const VERSION = 2;

/**
 * "connecting": nothing heard yet. "live": heard lately. "lost": the connection broke a moment ago and what is shown
 * still counts. "stale": it broke so long ago that what is shown may be wrong.
 */
export class Feed {
  #topics;
  #key;
  #values = {};
  #subscribers = new Map();
  #onLink = [];
  #onRestart = [];
  #link = "connecting";
  #socket = null;
  #opened = 0;
  #heard = 0;
  #wait = RETRY_MS.first;
  #retry = 0;
  #epoch = null;
  #seq = null;
  #ahead_ms = null;

  /**
   * @param {string[]} topics what to ask for; all when empty
   * @param {string} key a viewer's token, for a page that has no cookie, such as one in OBS on another computer
   */
  constructor(topics = [], key = "") {
    this.#topics = topics;
    this.#key = key;
  }

  /** What a topic says now; undefined while nothing is known. */
  value(topic) {
    return this.#values[topic];
  }

  get link() {
    return this.#link;
  }

  /** The server's wall clock, ms; this machine's until something was heard. */
  now() {
    return Date.now() + (this.#ahead_ms ?? 0);
  }

  /** Call `listen(value, {snapshot, at_ms, changed})` with every value of a topic; `changed` is the message's own data. */
  on(topic, listen) {
    this.#subscribers.set(topic, [...(this.#subscribers.get(topic) ?? []), listen]);
    return this;
  }

  /** Call `listen(link)` now and whenever the state of the connection changes. */
  onLink(listen) {
    this.#onLink.push(listen);
    listen(this.#link);
    return this;
  }

  /** Call `listen()` when the server was started anew since. */
  onRestart(listen) {
    this.#onRestart.push(listen);
    return this;
  }

  start() {
    this.#connect();
    setInterval(() => this.#watch(), 1_000);
    // A phone that was asleep ran no timers: look at once when it is taken up again.
    for (const awake of ["online", "pageshow", "focus"]) addEventListener(awake, () => this.#watch());
    document.addEventListener("visibilitychange", () => this.#watch());
    return this;
  }

  #connect() {
    clearTimeout(this.#retry);
    this.#retry = 0;
    const address = new URL("/api/feed/ws", location.href);
    address.protocol = address.protocol === "https:" ? "wss:" : "ws:";
    if (this.#topics.length) address.searchParams.set("topics", this.#topics.join(","));
    if (this.#key) address.searchParams.set("key", this.#key);
    if (this.#epoch !== null) address.searchParams.set("after", `${this.#epoch}-${this.#seq}`);
    const socket = new WebSocket(address);
    this.#socket = socket;
    this.#opened = Date.now();
    socket.onmessage = (event) => socket === this.#socket && this.#take(JSON.parse(event.data));
    socket.onclose = () => socket === this.#socket && this.#lose();
  }

  #lose() {
    const socket = this.#socket;
    this.#socket = null;
    socket?.close();
    this.#say(this.#old() ? (this.#heard ? "stale" : "connecting") : "lost");
    // Some of it by chance, so that a room full of pages does not knock all at once.
    this.#retry = setTimeout(() => this.#connect(), this.#wait * (0.5 + Math.random() / 2));
    this.#wait = Math.min(RETRY_MS.most, this.#wait * 2);
  }

  #old() {
    return Date.now() - this.#heard > STALE_MS;
  }

  #watch() {
    if (this.#heard && this.#old()) this.#say("stale");
    if (this.#socket === null) return;
    const deaf = this.#heard > this.#opened ? this.#old() : Date.now() - this.#opened > CONNECT_MS;
    if (deaf) this.#lose();
  }

  #take(message) {
    if (message.v > VERSION) {
      location.reload();
      return;
    }
    this.#heard = Date.now();
    this.#wait = RETRY_MS.first;
    this.#keepTime(message.at_ms);
    if (message.topic === "snapshot") this.#replace(message);
    else if (message.topic !== "alive") this.#change(message);
    this.#say("live");
  }

  /** The server's clock is ahead by at least what its messages show; the quickest message shows it best. */
  #keepTime(at_ms) {
    if (at_ms === undefined) return;
    const ahead = at_ms - Date.now();
    if (this.#ahead_ms === null || ahead > this.#ahead_ms || ahead < this.#ahead_ms - 1_000) this.#ahead_ms = ahead;
  }

  #replace(message) {
    const restarted = this.#epoch !== null && this.#epoch !== message.epoch;
    this.#note(message);
    const before = this.#values;
    this.#values = message.data;
    for (const topic of new Set([...Object.keys(before), ...Object.keys(message.data)])) {
      this.#tell(topic, { snapshot: true, at_ms: message.at_ms, changed: message.data[topic] });
    }
    if (restarted) for (const listen of this.#onRestart) listen();
  }

  #change(message) {
    if (message.epoch !== this.#epoch || message.seq <= this.#seq) return;
    this.#note(message);
    const { topic, data } = message;
    this.#values[topic] = topic === "calls" ? mergeCalls(this.#values.calls, data) : data;
    this.#tell(topic, { snapshot: false, at_ms: message.at_ms, changed: data });
  }

  #note(message) {
    this.#epoch = message.epoch;
    this.#seq = message.seq;
  }

  #tell(topic, about) {
    for (const listen of this.#subscribers.get(topic) ?? []) {
      try {
        listen(this.#values[topic], about);
      } catch (error) {
        console.error(`${topic}:`, error); // one part of a page must not stop the others
      }
    }
  }

  #say(link) {
    if (link === this.#link) return;
    this.#link = link;
    for (const listen of this.#onLink) listen(link);
  }
}

/** Calls after a change: new ones put in by id, in their place if they were there, withdrawn ones taken away, moved ones last. */
export function mergeCalls(before = { calls: [] }, change) {
  const byId = new Map(before.calls.map((call) => [call.id, call]));
  for (const call of change.calls) byId.set(call.id, call);
  for (const id of change.withdrawn ?? []) byId.delete(id);
  for (const call of (change.moved ?? []).map((id) => byId.get(id)).filter(Boolean)) {
    byId.delete(call.id);
    byId.set(call.id, call);
  }
  return { calls: [...byId.values()], withdrawn: [] };
}

/** Reload a page that stays open for days when Downfield was upgraded under it. */
export async function reloadOnUpgrade(feed) {
  const build = async () => (await fetch("/assets/build.txt", { cache: "no-store" })).text();
  const mine = await build().catch(() => null);
  feed.onRestart(async () => {
    const theirs = await build().catch(() => mine);
    if (mine !== null && theirs !== mine) location.reload();
  });
}
