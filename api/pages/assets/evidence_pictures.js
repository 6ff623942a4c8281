// Loading the pictures of a call ahead of need, one at a time, and keeping the latest.

import { capitalize } from "./format.js";

const MAX_PICTURES = 160; // in memory, about 350 kB each

/** A picture that has come, or why there is none. @typedef {{ url: string, image: HTMLImageElement, problem?: undefined } | { problem: string, url?: undefined, image?: undefined }} Picture */

/** Pictures by path. `onLoad(path)` is called when one has come, or has turned out not to be there. */
export class Pictures {
  /** @param {(path: string) => void} onLoad */
  constructor(onLoad) {
    this.onLoad = onLoad;
    /** @type {Map<string, Picture>} by path */
    this.loaded = new Map();
    /** @type {Map<string, Promise<Picture>>} requested and not here yet, by path */
    this.coming = new Map();
    /** @type {string[]} paths */
    this.wanted = [];
    this.loading = false;
  }

  /** A picture, or why there is none; undefined while it has not come. @param {string} path */
  get(path) {
    const found = this.loaded.get(path);
    if (found !== undefined) {
      this.loaded.delete(path); // the latest used are kept longest
      this.loaded.set(path, found);
    }
    return found;
  }

  /** Forget a problem: the picture may be available by now. @param {string} path */
  retry(path) {
    if (this.loaded.get(path)?.problem) this.loaded.delete(path);
  }

  /** Load these paths, the first one first; what was wanted before and has not begun is dropped. @param {string[]} paths */
  want(paths) {
    this.wanted = paths.filter((path) => !this.loaded.has(path));
    this.#load();
  }

  /** One picture, requested once, whoever asks for it meanwhile. @param {string} path @returns {Promise<Picture>} */
  async fetch(path) {
    const known = this.loaded.get(path);
    if (known !== undefined) return known;
    const coming = this.coming.get(path) ?? this.#request(path);
    this.coming.set(path, coming);
    return coming;
  }

  /** @param {string} path @returns {Promise<Picture>} */
  async #request(path) {
    const picture = await fetchPicture(path);
    this.coming.delete(path);
    this.loaded.set(path, picture);
    for (const oldest of [...this.loaded.keys()].slice(0, -MAX_PICTURES)) this.#drop(oldest);
    this.onLoad(path);
    return picture;
  }

  async #load() {
    if (this.loading) return;
    this.loading = true;
    for (let path = this.wanted.shift(); path !== undefined; path = this.wanted.shift()) await this.fetch(path);
    this.loading = false;
  }

  /** @param {string} path */
  #drop(path) {
    const url = this.loaded.get(path)?.url;
    if (url !== undefined) URL.revokeObjectURL(url);
    this.loaded.delete(path);
  }
}

/** A picture, or why there is none. Retries as the service asks when it is busy. @param {string} path @returns {Promise<Picture>} */
async function fetchPicture(path) {
  for (;;) {
    const response = await fetch(path, { credentials: "same-origin" }).catch(() => null);
    if (response?.ok) return decode(response);
    if (response?.status === 429 || response?.status === 503) {
      await new Promise((resolve) => setTimeout(resolve, 1000 * Number(response.headers.get("retry-after") ?? 1)));
      continue;
    }
    const problem = response === null ? { detail: "The rig does not answer." } : await response.json().catch(() => ({}));
    return { problem: capitalize(problem.detail ?? "This frame is not available.") };
  }
}

/** The picture decoded, so that it is shown whole at once. @param {Response} response @returns {Promise<Picture>} */
async function decode(response) {
  let url = "";
  try {
    url = URL.createObjectURL(await response.blob());
    const image = new Image();
    image.src = url;
    await image.decode();
    return { url, image };
  } catch {
    URL.revokeObjectURL(url);
    return { problem: "The picture arrived damaged. Step away and back to load it again." };
  }
}
