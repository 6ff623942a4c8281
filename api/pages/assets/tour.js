// A guided tour of a page: a card that explains one part of the page after another, and rings the part it is about.

import { el } from "./dom.js";

/**
 * A step of a tour: `target` is a selector, `link` where to go on; with `cardAtTop` the card stands at the top of the window, as the
 * target is at its bottom. Where nothing on the page is what the selector `needs` says, it says `otherwise` in place of `text`: nobody
 * is asked to tap what can't be tapped now.
 *
 * @typedef {{ target: string, title: string, text: string, needs?: string, otherwise?: string, part?: string, link?: { href: string, text: string }, cardAtTop?: boolean }} Step
 */

/**
 * Begin a tour.
 *
 * Steps whose target is not on the page, or empty, are left out. It ends with Escape, Close, or after its last step.
 *
 * @param {Step[]} steps
 * @param {(part?: string) => void} [reveal] shows the part of the page that a step is about, or the one from before
 */
export function startTour(steps, reveal = () => {}) {
  document.getElementById("tour")?.remove();
  // Asked anew at each step: what the page has not received yet may be there at the next one.
  const present = () =>
    steps.filter(({ target, part }) => {
      reveal(part);
      return isVisible(document.querySelector(target));
    });
  const before = document.activeElement;
  const card = el("aside", { id: "tour", class: "plate", role: "dialog", "aria-label": "Tour of this page", tabindex: "-1" });
  /** @type {Step | undefined} */
  let step;

  /** @param {number} by */
  const go = (by) => {
    const shown = present();
    const index = Math.min(Math.max(shown.findIndex((each) => each === step) + by, 0), shown.length - 1);
    step = shown[index];
    if (step === undefined) return;
    const { target, title, text, needs, otherwise, part, link, cardAtTop } = step;
    reveal(part);
    const said = needs === undefined || isVisible(document.querySelector(needs)) ? text : (otherwise ?? text);
    card.classList.toggle("top", cardAtTop === true);
    ring(document.querySelector(target));
    const last = index === shown.length - 1;
    const next = last ? el("button", { type: "button", class: "small", onclick: end }, "Done") : el("button", { type: "button", class: "small", onclick: () => go(1) }, "Next");
    card.replaceChildren(
      el("p", { class: "muted" }, `${index + 1} of ${shown.length}`),
      el("h2", {}, title),
      el("p", {}, said),
      el(
        "div",
        { class: "row" },
        index > 0 && el("button", { type: "button", class: "small", onclick: () => go(-1) }, "Back"),
        next,
        link && el("a", { class: "button small", href: link.href }, link.text),
        !last && el("button", { type: "button", class: "small quiet", onclick: end }, "Close"),
      ),
    );
    card.focus({ preventScroll: true });
  };
  const end = () => {
    card.remove();
    reveal();
    ring(null);
    document.removeEventListener("keydown", onKey);
    if (before instanceof HTMLElement) before.focus({ preventScroll: true });
  };
  /** @param {KeyboardEvent} event */
  const onKey = (event) => {
    if (event.key === "Escape") end();
    if (event.key === "ArrowRight") go(1);
    if (event.key === "ArrowLeft") go(-1);
  };
  if (present().length === 0) return;
  document.body.append(card);
  document.addEventListener("keydown", onKey);
  go(1);
}

/** @param {?Element} element */
function ring(element) {
  for (const ringed of document.querySelectorAll(".tour-target")) ringed.classList.remove("tour-target");
  if (element === null) return;
  element.classList.add("tour-target");
  const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
  const block = element.getBoundingClientRect().height > innerHeight / 2 ? "start" : "center"; // of what is high, its head
  element.scrollIntoView({ block, behavior: calm ? "instant" : "smooth" });
}

/** @param {?Element} element */
function isVisible(element) {
  return element !== null && element.getClientRects().length > 0 && element.getBoundingClientRect().height > 0;
}
