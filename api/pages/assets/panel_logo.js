// The choice of a team's logo in a form: a file of the phone, uploaded as it is chosen, or none.

import { el } from "./dom.js";
import { logoImage, uploadLogo } from "./logos.js";
import { errorText } from "./send.js";

const ACCEPTED = "image/png,image/jpeg,image/webp";

/**
 * A field for a logo.
 *
 * @param {string} label
 * @param {?string} logo its name so far
 * @returns {{ element: HTMLElement, input: { value: ?string }, use: (logo: ?string) => void }} `value` is its name now; the element sends "input" when it changes
 */
export function logoField(label, logo) {
  const input = { value: logo };
  const file = el("input", { type: "file", accept: ACCEPTED, "aria-label": label });
  const preview = el("span", { class: "logo-preview" });
  const remove = el("button", { type: "button", class: "small" }, "Remove logo");
  const problem = el("span", { class: "problem", role: "alert" });
  const element = el("div", { class: "logo-field wide" }, el("label", {}, label, file), preview, remove, problem);

  /** @param {?string} name */
  function use(name) {
    input.value = name;
    preview.replaceChildren(...(name === null ? [] : [logoImage(name)]));
    remove.hidden = name === null;
    element.dispatchEvent(new Event("input", { bubbles: true }));
  }

  file.addEventListener("change", async () => {
    const [picture] = file.files ?? [];
    if (picture === undefined) return;
    problem.textContent = "";
    try {
      use(await uploadLogo(picture));
    } catch (error) {
      problem.textContent = errorText(error);
    }
    file.value = "";
  });
  remove.addEventListener("click", () => use(null));
  use(logo);
  return { element, input, use };
}
