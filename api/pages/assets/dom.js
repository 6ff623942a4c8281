// Making elements, in one line each.

/** An element: `el("p", { class: "note", "aria-live": "polite" }, "text", child, ...)`; null children are left out. */
export function el(name, attributes = {}, ...children) {
  return filled(document.createElement(name), attributes, children);
}

const SVG = "http://www.w3.org/2000/svg";

/** An SVG element, made likewise. */
export function svg(name, attributes = {}, ...children) {
  return filled(document.createElementNS(SVG, name), attributes, children);
}

function filled(element, attributes, children) {
  for (const [key, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else element.setAttribute(key, value === true ? "" : value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

/** Replace what is in an element, unless it would stay the same: what did not change keeps its focus and its place. */
export function show(parent, ...children) {
  const made = el("div", {}, ...children);
  if (parent.innerHTML === made.innerHTML) return;
  parent.replaceChildren(...made.childNodes);
}

/** Set an element's text if it differs. */
export function say(element, text) {
  if (element.textContent !== text) element.textContent = text;
}
