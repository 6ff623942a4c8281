// Small pictures of calls, loaded one after another once they come into view; a text where none is kept.

import { el } from "./dom.js";

const MARGIN = "300px"; // a picture is loaded this long before it is scrolled into view

/** @type {HTMLElement[]} */
const waiting = [];
let loading = false;

const inView = new IntersectionObserver(
  (entries) => {
    for (const { isIntersecting, target } of entries) {
      if (!isIntersecting) continue;
      inView.unobserve(target);
      waiting.push(/** @type {HTMLElement} */ (target));
    }
    loadAll();
  },
  { rootMargin: MARGIN },
);

/** A link with the small picture of a call. @param {string} game @param {string} call @param {string} href @param {string} label */
export function thumbnail(game, call, href, label) {
  const path = `api/games/${encodeURIComponent(game)}/calls/${encodeURIComponent(call)}/thumbnail.jpg`;
  const link = el("a", { class: "thumbnail", href, "aria-label": label, "data-path": path }, el("span", {}, "…"));
  inView.observe(link);
  return link;
}

async function loadAll() {
  if (loading) return;
  loading = true;
  for (let link = waiting.shift(); link !== undefined; link = waiting.shift()) {
    if (link.isConnected) link.replaceChildren(await picture(link.dataset.path ?? ""));
  }
  loading = false;
}

/** The picture, or why there is none. Retries as the service asks when it is busy. @param {string} path */
async function picture(path) {
  for (;;) {
    const response = await fetch(path, { credentials: "same-origin" }).catch(() => null);
    if (response?.ok) {
      const url = URL.createObjectURL(await response.blob());
      return el("img", { src: url, alt: "", onload: () => URL.revokeObjectURL(url) });
    }
    if (response === null || ![429, 503].includes(response.status)) return el("span", {}, response?.status === 404 ? "No picture kept" : "Picture not available");
    await new Promise((resolve) => setTimeout(resolve, 1000 * Number(response.headers.get("retry-after") ?? 1)));
  }
}
