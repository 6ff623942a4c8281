// Making elements in one line each, and keeping them as long as they say the same.

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
  element.append(...children.flat(2).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

/** Set an element's text if it differs. */
export function say(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

const shown = new WeakMap();

/** Make an element's children anew when what they show is another; else they keep focus, picks and place. */
export function refresh(parent, about, build) {
  const key = JSON.stringify(about ?? null);
  if (shown.get(parent)?.key === key) return;
  shown.set(parent, { key, at_ms: performance.now() });
  parent.replaceChildren(...[build()].flat(2).filter((child) => child instanceof Node));
}

/** When what an element stands in was last made anew, on the page's clock; -Infinity if never. */
export function changedAt(element) {
  let last = -Infinity;
  for (let one = element; one; one = one.parentElement) last = Math.max(last, shown.get(one)?.at_ms ?? -Infinity);
  return last;
}

/** Keep a list's children in step with items that have ids: only those that differ are made anew. */
export function refreshList(parent, items, build) {
  const before = new Map([...parent.children].map((child) => [child.dataset.id, child]));
  items.forEach((item, place) => {
    const child = before.get(item.id) ?? el("li", { "data-id": item.id });
    before.delete(item.id);
    if (parent.children[place] !== child) parent.insertBefore(child, parent.children[place] ?? null);
    refresh(child, item, () => build(item, child));
  });
  for (const child of before.values()) child.remove();
}
