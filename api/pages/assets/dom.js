// Creating elements in one line each, and updating only what has changed.

/** An element: `el("p", { class: "note", "aria-live": "polite" }, "text", child, ...)`; null children are left out. */
export function el(name, attributes = {}, ...children) {
  return fill(document.createElement(name), attributes, children);
}

const SVG = "http://www.w3.org/2000/svg";

/** An SVG element, created likewise. */
export function svg(name, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, name), attributes, children);
}

function fill(element, attributes, children) {
  for (const [key, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else element.setAttribute(key, value === true ? "" : value);
  }
  element.append(...children.flat(2).filter((child) => child !== null && child !== undefined && child !== false).map(isolateNames));
  return element;
}

/** Set an element's text if it differs. */
export function setText(element, text) {
  const shown = isolateNames(text);
  if (element.textContent !== shown) element.textContent = shown;
}

const RTL = "\\u0590-\\u08ff\\ufb1d-\\ufdff\\ufe70-\\ufefc";
const RTL_NAME = new RegExp(`[${RTL}]+(?:[\\s'’"״׳.-]+[${RTL}]+)*`, "g");

/**
 * A text in which every name written from right to left is isolated, as numbers beside it would move to its other side
 * and a score would read as the other team's; as it is where it is nothing else, or no text.
 */
function isolateNames(text) {
  return typeof text === "string" ? text.replace(RTL_NAME, (name) => (name === text ? name : `\u2068${name}\u2069`)) : text;
}

const rendered = new WeakMap();

/** Build an element's children anew if the data they show has changed; otherwise they keep focus and selections. */
export function refresh(parent, data, build) {
  const key = JSON.stringify(data ?? null);
  if (rendered.get(parent)?.key === key) return;
  rendered.set(parent, { key, at_ms: performance.now() });
  parent.replaceChildren(...[build()].flat(2).filter((child) => child instanceof Node));
}

/** When an element or what contains it was last built anew, on the page's clock; -Infinity if never. */
export function changedAt(element) {
  let last = -Infinity;
  for (let node = element; node; node = node.parentElement) last = Math.max(last, rendered.get(node)?.at_ms ?? -Infinity);
  return last;
}

/** Keep a list's children in step with items that have ids: only those that differ are built anew. */
export function refreshList(parent, items, build) {
  const before = new Map([...parent.children].map((child) => [child.dataset.id, child]));
  items.forEach((item, index) => {
    const child = before.get(item.id) ?? el("li", { "data-id": item.id });
    before.delete(item.id);
    if (parent.children[index] !== child) parent.insertBefore(child, parent.children[index] ?? null);
    refresh(child, item, () => build(item, child));
  });
  for (const child of before.values()) child.remove();
}
