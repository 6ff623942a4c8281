// Creating elements in one line each, and updating only what has changed.

/**
 * A function that returns the elements of a page by id, typed as the page's file has them.
 *
 * @template {keyof Page.Elements} P
 * @param {P} page the name of its file
 * @returns {<K extends keyof Page.Elements[P] & string>(id: K) => Page.Elements[P][K]} throws where the page has no such element
 */
export function elementsOf(page) {
  return (id) => {
    const element = document.getElementById(id);
    if (element === null) throw new Error(`${page}.html has no element #${id}`);
    return /** @type {any} */ (element); // its type is read from the page's file, which the compiler does not see
  };
}

/**
 * The first element in a part of a page that a selector finds; of HTML, where no class says otherwise.
 *
 * @template {Element} [E=HTMLElement]
 * @param {ParentNode} root
 * @param {string} selector
 * @param {new () => E} [type]
 * @returns {E}
 */
export function find(root, selector, type) {
  const [found] = findAll(root, selector, type);
  if (found === undefined) throw new Error(`There is no element ${selector}`);
  return found;
}

/**
 * All elements in a part of a page that a selector finds; of HTML, where no class says otherwise.
 *
 * @template {Element} [E=HTMLElement]
 * @param {ParentNode} root
 * @param {string} selector
 * @param {new () => E} [type]
 * @returns {E[]}
 */
export function findAll(root, selector, type) {
  const wanted = /** @type {new () => E} */ (type ?? HTMLElement);
  return [...root.querySelectorAll(selector)].flatMap((element) => (element instanceof wanted ? [element] : []));
}

/** An element's HTML elements. @param {Element} parent */
export const childrenOf = (parent) => [...parent.children].filter((child) => child instanceof HTMLElement);

/**
 * The element around where an event happened that a selector finds; null if there is none. Of HTML, where no class says otherwise.
 *
 * @template {Element} [E=HTMLElement]
 * @param {Event} event
 * @param {string} selector
 * @param {new () => E} [type]
 * @returns {?E}
 */
export function around(event, selector, type) {
  const wanted = /** @type {new () => E} */ (type ?? HTMLElement);
  const found = event.target instanceof Element ? event.target.closest(selector) : null;
  return found instanceof wanted ? found : null;
}

/** A field of a form's data as text, without spaces around it; "" for none. @param {FormData} data @param {string} name */
export const dataText = (data, name) => String(data.get(name) ?? "").trim();

/** A form's field as text; "" for none, and for radio buttons of which none is chosen. @param {HTMLFormElement} form @param {string} name */
export const fieldText = (form, name) => dataText(new FormData(form), name);

/** What draws on a canvas. @param {HTMLCanvasElement} canvas */
export function context2d(canvas) {
  const context = canvas.getContext("2d");
  if (context === null) throw new Error("This browser can't draw on a canvas.");
  return context;
}

/**
 * An element: `el("p", { class: "note", "aria-live": "polite" }, "text", child, ...)`; null children are left out.
 *
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} name
 * @param {Attributes<HTMLElementTagNameMap[K]>} attributes
 * @param {Child[]} children
 */
export function el(name, attributes = {}, ...children) {
  return fill(document.createElement(name), attributes, children);
}

const SVG = "http://www.w3.org/2000/svg";

/**
 * An SVG element, created likewise.
 *
 * @template {keyof SVGElementTagNameMap} K
 * @param {K} name
 * @param {Record<string, string | number | boolean | null | undefined>} attributes
 * @param {Child[]} children
 */
export function svg(name, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, name), attributes, children);
}

/** @template {Element} E @param {E} element @param {object} attributes @param {Child[]} children @returns {E} */
function fill(element, attributes, children) {
  for (const [key, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else element.setAttribute(key, value === true ? "" : String(value));
  }
  element.append(...flatten(children).map((child) => (typeof child === "string" ? isolateNames(child) : child)));
  return element;
}

/** All that lists within lists hold, without what is left out. @param {Child} child @returns {(Node | string)[]} */
function flatten(child) {
  if (child === null || child === undefined || child === false) return [];
  if (child instanceof Node) return [child];
  return typeof child === "object" ? child.flatMap(flatten) : [String(child)];
}

/** Set an element's text if it differs. @param {Element} element @param {string} text */
export function setText(element, text) {
  const shown = isolateNames(text);
  if (element.textContent !== shown) element.textContent = shown;
}

const RTL = "\\u0590-\\u08ff\\ufb1d-\\ufdff\\ufe70-\\ufefc";
const RTL_NAME = new RegExp(`[${RTL}]+(?:[\\s'’"״׳.-]+[${RTL}]+)*`, "g");

/**
 * A text in which every name written from right to left is isolated, as numbers beside it would move to its other side
 * and a score would read as the other team's; unchanged where it is nothing but such a name.
 *
 * @param {string} text
 */
function isolateNames(text) {
  return text.replace(RTL_NAME, (name) => (name === text ? name : `\u2068${name}\u2069`));
}

/** What each element was built from last, and when. @type {WeakMap<Element, { key: string, at_ms: number }>} */
const rendered = new WeakMap();

/**
 * Rebuild an element's children if the data they show has changed; otherwise they keep focus and selections.
 *
 * @param {Element} parent
 * @param {unknown} data
 * @param {() => Child} build
 */
export function refresh(parent, data, build) {
  const key = JSON.stringify(data ?? null);
  if (rendered.get(parent)?.key === key) return;
  rendered.set(parent, { key, at_ms: performance.now() });
  parent.replaceChildren(...flatten(build()).filter((child) => child instanceof Node));
}

/**
 * Rebuild an element's children as `refresh` does; what has the name of the one that had the focus has it afterwards.
 *
 * @param {Element} parent
 * @param {unknown} data
 * @param {() => Child} build
 */
export function refreshKeepingFocus(parent, data, build) {
  const focused = parent.contains(document.activeElement) ? document.activeElement?.getAttribute("aria-label") : null;
  refresh(parent, data, build);
  if (focused && !parent.contains(document.activeElement)) findAll(parent, "[aria-label]").find((one) => one.getAttribute("aria-label") === focused)?.focus();
}

/** When an element or what contains it was last rebuilt, on the page's clock; -Infinity if never. @param {Element} element */
export function changedAt(element) {
  let last = -Infinity;
  for (let node = /** @type {?Element} */ (element); node; node = node.parentElement) last = Math.max(last, rendered.get(node)?.at_ms ?? -Infinity);
  return last;
}

/**
 * Keep a list's children in step with items that have ids: only those that differ are rebuilt.
 *
 * @template {{ id: string }} T
 * @param {HTMLElement} parent
 * @param {readonly T[]} items
 * @param {(item: T, element: HTMLElement) => Child} build
 */
export function refreshList(parent, items, build) {
  const children = /** @type {Iterable<HTMLElement>} */ (parent.children);
  const before = new Map(Array.from(children, (child) => [child.dataset.id, child]));
  items.forEach((item, index) => {
    const child = before.get(item.id) ?? el("li", { "data-id": item.id });
    before.delete(item.id);
    if (parent.children[index] !== child) parent.insertBefore(child, parent.children[index] ?? null);
    refresh(child, item, () => build(item, child));
  });
  for (const child of before.values()) child.remove();
}

/**
 * Show how the rig is, in one line: of several problems the first, and the others on demand.
 *
 * @param {HTMLElement} parent
 * @param {string} level
 * @param {string} text problems are parted by semicolons
 */
export function showState(parent, level, text) {
  const [first, ...others] = text.split("; ");
  refresh(parent, [level, text], () => {
    const open = parent.querySelector("details")?.open ?? false;
    const more = () => el("details", { open }, el("summary", {}, `${first} (and ${others.length} more)`), ...others.map((other) => el("p", {}, other)));
    return [el("span", { class: `dot ${level}` }), others.length ? more() : el("span", {}, text)];
  });
}

/** Say once, at the top of the page, that the device is not paired, and lead to where it is; not where the page says so itself. */
export function offerPairing() {
  if (document.querySelector("#unpaired, #pairing, #access")) return;
  document.body.prepend(
    el("p", { id: "unpaired", role: "alert" }, "This device is not paired yet, so nothing can be shown. ", el("a", { class: "button small", href: "pair" }, "Pair this device")),
  );
}

/** What follows "#" in the address; as it is written where it can't be decoded, such as after a copy that was cut. */
export function fragment() {
  const text = location.hash.slice(1);
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
