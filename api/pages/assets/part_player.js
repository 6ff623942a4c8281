// Plays low-latency HLS by Media Source Extensions, for browsers that can't by themselves. It reads the playlists that
// this service writes: H.264 without sound, each segment beginning with a key frame.

/** Constrained baseline; the level in a stream's own header is what counts. */
const TYPE = 'video/mp4; codecs="avc1.42c028"';

/** How far behind the newest picture it plays, and when it jumps or hurries to get there. */
const BEHIND_S = { wanted: 0.6, hurried: 1.1, jumped: 4 };

/** What was shown longer ago is forgotten. */
const KEPT_S = 12;

const RETRY_MS = 500;

/** A request may take this long: the service answers a waiting one within 4 s. */
const ANSWER_MS = 9_000;

/** @type {typeof MediaSource | undefined} Safari on a phone has the managed one alone, which the compiler does not know */
const Source = /** @type {any} */ (globalThis).ManagedMediaSource ?? globalThis.MediaSource;

export const canPlayParts = () => Source?.isTypeSupported(TYPE) ?? false;

/** A part of a segment, and the next one that is wanted. @typedef {{ number: number, part: number }} Place */

/** A part that a playlist names. @typedef {Place & { uri: string, map: string, independent: boolean }} Part */

export class PartPlayer {
  #video;
  #address;
  /** @type {?SourceBuffer} */
  #buffer = null;
  /** The header of the take that is played; "" before the first. */
  #map = "";
  /** @type {?Place} */
  #next = null;

  /**
   * @param {HTMLVideoElement} video to play in
   * @param {string} address of the playlist
   */
  constructor(video, address) {
    this.#video = video;
    this.#address = address;
  }

  /** Play for ever: after a break the newest segment follows the last picture, which stays until then. */
  async start() {
    setInterval(() => this.#keepUp(), 500);
    this.#video.addEventListener("error", () => (this.#buffer = null));
    for (;;) {
      try {
        if (this.#buffer === null) await this.#open();
        await this.#follow();
      } catch {
        this.#next = null; // the service was restarted, or the pieces wanted are gone
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
      }
    }
  }

  async #open() {
    if (Source === undefined) throw new Error("This browser plays no parts.");
    const source = new Source();
    this.#video.disableRemotePlayback = true; // without it Safari opens no managed source
    const opened = new Promise((resolve) => source.addEventListener("sourceopen", resolve, { once: true }));
    this.#video.src = URL.createObjectURL(source);
    await opened;
    URL.revokeObjectURL(this.#video.src);
    this.#buffer = source.addSourceBuffer(TYPE);
    this.#buffer.mode = "sequence"; // a take that was restarted follows the one before
    [this.#map, this.#next] = ["", null];
  }

  /** Read the playlist as soon as it has something new, and append that. */
  async #follow() {
    const url = new URL(this.#address);
    const next = this.#next;
    if (next !== null) {
      url.searchParams.set("_HLS_msn", String(next.number));
      url.searchParams.set("_HLS_part", String(next.part));
    }
    const parts = readParts(await (await read(url)).text());
    for (const part of following(parts, this.#map, next)) {
      if (part.map !== this.#map) {
        await this.#append(await (await read(new URL(part.map, this.#address))).arrayBuffer());
        this.#map = part.map;
      }
      await this.#append(await (await read(new URL(part.uri, this.#address))).arrayBuffer());
      this.#next = { number: part.number, part: part.part + 1 };
    }
    this.#video.play().catch(() => {}); // not before enough has come
  }

  /** @param {ArrayBuffer} bytes */
  async #append(bytes) {
    const buffer = this.#buffer;
    if (buffer === null) throw new Error("The film broke off."); // the video reported an error meanwhile
    this.#buffer = null; // what can't be appended spoils it
    const { currentTime } = this.#video;
    const { buffered } = buffer;
    if (buffered.length > 0 && buffered.start(0) < currentTime - KEPT_S) {
      buffer.remove(0, currentTime - KEPT_S / 2);
      await updated(buffer);
    }
    buffer.appendBuffer(bytes);
    await updated(buffer);
    if (this.#video.error === null) this.#buffer = buffer;
  }

  /** Stay near the newest picture: a little faster when behind, by a jump when far behind or in a hole. */
  #keepUp() {
    const video = this.#video;
    if (this.#buffer === null || video.buffered.length === 0) return;
    const end = video.buffered.end(video.buffered.length - 1);
    const behind_s = end - video.currentTime;
    if (behind_s > BEHIND_S.jumped || video.currentTime < video.buffered.start(video.buffered.length - 1)) video.currentTime = end - BEHIND_S.wanted;
    video.playbackRate = behind_s > BEHIND_S.hurried ? 1.08 : 1;
  }
}

/** @param {URL} url */
async function read(url) {
  const answer = await fetch(url, { cache: "no-store", signal: AbortSignal.timeout(ANSWER_MS) });
  if (!answer.ok) throw new Error(`${url}: ${answer.status}`);
  return answer;
}

/** @param {SourceBuffer} buffer */
const updated = (buffer) =>
  new Promise((resolve, reject) => {
    buffer.addEventListener("updateend", resolve, { once: true });
    buffer.addEventListener("error", reject, { once: true });
  });

/**
 * The parts to append: those from the wanted one on, or else of a later take from its beginning; with nothing wanted,
 * or of another service's takes, the newest that can be begun with.
 *
 * @param {Part[]} parts
 * @param {string} map header of the take that is played
 * @param {?Place} wanted
 */
export function following(parts, map, wanted) {
  const last = parts.findLastIndex((part) => part.map === map);
  let from = parts.findLastIndex(({ independent }) => independent);
  if (wanted !== null && last >= 0) from = parts.findIndex((part, place) => (place > last ? part.independent : part.map === map && isFrom(part, wanted)));
  return from < 0 ? [] : parts.slice(from);
}

/** Whether a part is the wanted one, or comes after it. @param {Part} part @param {Place} wanted */
const isFrom = (part, wanted) => part.number > wanted.number || (part.number === wanted.number && part.part >= wanted.part);

/** The parts that a playlist names: `{uri, map, number, part, independent}`, in order. @param {string} playlist @returns {Part[]} */
export function readParts(playlist) {
  let map = "";
  /** @type {Part[]} */
  const parts = [];
  for (const line of playlist.split("\n")) {
    if (line.startsWith("#EXT-X-MAP:")) map = quoted(line);
    if (!line.startsWith("#EXT-X-PART:")) continue;
    const uri = quoted(line);
    const [, number, part] = /(\d+)\.(\d+)\.m4s/.exec(uri) ?? [];
    parts.push({ uri, map, number: Number(number), part: Number(part), independent: line.includes("INDEPENDENT=YES") });
  }
  return parts;
}

/** @param {string} line */
const quoted = (line) => /URI="([^"]+)"/.exec(line)?.[1] ?? "";
