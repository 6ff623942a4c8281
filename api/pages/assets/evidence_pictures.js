// Loading the pictures of a call ahead of need, one at a time, and keeping the latest.

import { capitalize } from "./format.js";

const MAX_PICTURES = 160; // in memory, about 350 kB each

/** Pictures by path. `onLoad(path)` is called when one has come, or has turned out not to be there. */
export class Pictures {
  constructor(onLoad) {
    this.onLoad = onLoad;
    this.loaded = new Map(); // by path: {url, image}, or {problem}
    this.wanted = [];
    this.loading = false;
  }

  /** A loaded picture as {url, image}, {problem} where there is none, undefined while it has not come. */
  get(path) {
    const found = this.loaded.get(path);
    if (found !== undefined) {
      this.loaded.delete(path); // the latest used are kept longest
      this.loaded.set(path, found);
    }
    return found;
  }

  /** Forget a problem: the picture may be available by now. */
  retry(path) {
    if (this.loaded.get(path)?.problem) this.loaded.delete(path);
  }

  /** Load these paths, the first one first; what was wanted before and has not begun is dropped. */
  want(paths) {
    this.wanted = paths.filter((path) => !this.loaded.has(path));
    this.#load();
  }

  /** One picture, loaded apart from what is wanted next. */
  async fetch(path) {
    if (!this.loaded.has(path)) this.loaded.set(path, await fetchPicture(path));
    return this.loaded.get(path);
  }

  async #load() {
    if (this.loading) return;
    this.loading = true;
    while (this.wanted.length) {
      const path = this.wanted.shift();
      if (this.loaded.has(path)) continue;
      this.loaded.set(path, await fetchPicture(path));
      while (this.loaded.size > MAX_PICTURES) this.#drop(this.loaded.keys().next().value);
      this.onLoad(path);
    }
    this.loading = false;
  }

  #drop(path) {
    const { url } = this.loaded.get(path);
    if (url) URL.revokeObjectURL(url);
    this.loaded.delete(path);
  }
}

/** A picture, or why there is none. Retries as the service asks when it is busy. */
async function fetchPicture(path) {
  for (;;) {
    const response = await fetch(path, { credentials: "same-origin" }).catch(() => null);
    if (response?.ok) return decode(await response.blob());
    if (response?.status === 429 || response?.status === 503) {
      await new Promise((resolve) => setTimeout(resolve, 1000 * Number(response.headers.get("retry-after") ?? 1)));
      continue;
    }
    const problem = response === null ? { detail: "The rig does not answer." } : await response.json().catch(() => ({}));
    return { problem: capitalize(problem.detail ?? "This frame is not available.") };
  }
}

/** The picture decoded, so that it is shown whole at once. */
async function decode(blob) {
  const url = URL.createObjectURL(blob);
  const image = new Image();
  image.src = url;
  try {
    await image.decode();
    return { url, image };
  } catch {
    URL.revokeObjectURL(url);
    return { problem: "The picture arrived damaged. Step away and back to load it again." };
  }
}
