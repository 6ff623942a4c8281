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

const Source = globalThis.ManagedMediaSource ?? globalThis.MediaSource;

export const canPlayParts = () => Source?.isTypeSupported(TYPE) ?? false;

export class PartPlayer {
  #video;
  #address;
  #buffer = null;
  #map = null;
  #next = null;

  /**
   * @param {HTMLVideoElement} video to play in
   * @param {string} address of the playlist
   */
  constructor(video, address) {
    this.#video = video;
    this.#address = address;
  }

  /** Play for ever: after a break it begins anew with the newest segment. */
  async start() {
    setInterval(() => this.#keepUp(), 500);
    this.#video.addEventListener("error", () => (this.#buffer = null));
    for (;;) {
      try {
        if (this.#buffer === null) await this.#open();
        await this.#follow();
      } catch {
        this.#buffer = null; // the service was restarted, or the pieces wanted are gone
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
      }
    }
  }

  async #open() {
    const source = new Source();
    this.#video.disableRemotePlayback = true; // without it Safari opens no managed source
    const opened = new Promise((resolve) => source.addEventListener("sourceopen", resolve, { once: true }));
    this.#video.src = URL.createObjectURL(source);
    await opened;
    URL.revokeObjectURL(this.#video.src);
    this.#buffer = source.addSourceBuffer(TYPE);
    this.#buffer.mode = "sequence"; // a take that begins anew follows the one before
    [this.#map, this.#next] = [null, null];
  }

  /** Read the playlist as soon as it has something new, and append that. */
  async #follow() {
    const url = new URL(this.#address);
    if (this.#next !== null) {
      url.searchParams.set("_HLS_msn", this.#next.number);
      url.searchParams.set("_HLS_part", this.#next.part);
    }
    const parts = readParts(await (await read(url)).text());
    const from = this.#next === null ? parts.findLastIndex(({ independent }) => independent) : parts.findIndex((part) => isFrom(part, this.#next));
    if (from < 0) {
      const newest = parts.at(-1);
      if (newest !== undefined && newest.number + 1 < (this.#next?.number ?? 0)) throw new Error("The numbers begin anew.");
      return;
    }
    for (const part of parts.slice(from)) {
      if (part.map !== this.#map) {
        await this.#append(await (await read(new URL(part.map, this.#address))).arrayBuffer());
        this.#map = part.map;
      }
      await this.#append(await (await read(new URL(part.uri, this.#address))).arrayBuffer());
      this.#next = { number: part.number, part: part.part + 1 };
    }
    this.#video.play().catch(() => {}); // not before enough has come
  }

  async #append(bytes) {
    const { currentTime } = this.#video;
    const { buffered } = this.#buffer;
    if (buffered.length > 0 && buffered.start(0) < currentTime - KEPT_S) {
      this.#buffer.remove(0, currentTime - KEPT_S / 2);
      await updated(this.#buffer);
    }
    this.#buffer.appendBuffer(bytes);
    await updated(this.#buffer);
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

async function read(url) {
  const answer = await fetch(url, { cache: "no-store", signal: AbortSignal.timeout(ANSWER_MS) });
  if (!answer.ok) throw new Error(`${url}: ${answer.status}`);
  return answer;
}

const updated = (buffer) =>
  new Promise((resolve, reject) => {
    buffer.addEventListener("updateend", resolve, { once: true });
    buffer.addEventListener("error", reject, { once: true });
  });

/** Whether a part is the wanted one, or comes after it. */
const isFrom = (part, wanted) => part.number > wanted.number || (part.number === wanted.number && part.part >= wanted.part);

/** The parts that a playlist names: `{uri, map, number, part, independent}`, in order. */
export function readParts(playlist) {
  let map = null;
  const parts = [];
  for (const line of playlist.split("\n")) {
    if (line.startsWith("#EXT-X-MAP:")) map = quoted(line);
    if (!line.startsWith("#EXT-X-PART:")) continue;
    const uri = quoted(line);
    const [, number, part] = /(\d+)\.(\d+)\.m4s/.exec(uri);
    parts.push({ uri, map, number: Number(number), part: Number(part), independent: line.includes("INDEPENDENT=YES") });
  }
  return parts;
}

const quoted = (line) => /URI="([^"]+)"/.exec(line)[1];
