// The teams' logos: shown on a plate of their own, so that a dark one can be seen on a dark team color.

import { el } from "./dom.js";
import { RefusedError, fetchOnce } from "./send.js";

/** A team's logo as an element; it is gone where the picture can't be loaded. @param {string} logo */
export function logoImage(logo) {
  const image = el("img", { class: "logo", src: logoAddress(logo), alt: "" });
  image.addEventListener("error", () => image.remove());
  return image;
}

/** @param {string} logo */
export const logoAddress = (logo) => new URL(`logos/${logo}.png`, document.baseURI).href;

/** Upload a picture file. @param {File} file @returns {Promise<string>} the name of the logo @throws RefusedError, NoResponseError */
export async function uploadLogo(file) {
  const response = await fetchOnce("api/logos", { method: "POST", body: file });
  const answer = await response.json().catch(() => ({}));
  if (!response.ok) throw new RefusedError({ status: response.status, title: response.statusText, ...answer });
  return answer.logo;
}
