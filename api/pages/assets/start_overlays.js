// A card for each overlay: its address with options, to copy, and a loader file for OBS.

import { el } from "./dom.js";
import { overlayOptions } from "./overlay_options.js";
import { saveFile } from "./clip_saving.js";
import { capitalize } from "./format.js";
import { errorText, send } from "./send.js";

/** What shows the board itself, by address. */
const PICTURES = {
  program: ["Program", "The board with graphics painted on it, under the figures: as H.264, as a browser source or on any screen."],
  "program.m3u8": ["Program as HLS", "The same for media sources and players: OBS, vMix, VLC, Safari."],
  "camera.mjpeg": ["Camera picture", "The picture with what Downfield sees drawn on it, as a browser source. OBS can’t open the camera while Downfield uses it."],
};

/** Where the addresses lead: on this computer as it stands in this page's own address, on others with a token to watch. */
export const target = { base: document.baseURI, key: "", changed: new EventTarget() };

/** @param {string} base @param {string} key */
function aim(base, key) {
  Object.assign(target, { base, key });
  target.changed.dispatchEvent(new Event("change"));
}

/** A row that makes all addresses ones for another computer, and back. */
export function elsewhereRow() {
  const message = el("p", { role: "status" });
  const button = el("button", { type: "button", class: "small" }, "OBS is on another computer");
  /** @type {?Service.WatcherDetails} one device for all addresses of this page */
  let granted = null;
  const aimHere = () => {
    aim(document.baseURI, "");
    button.textContent = "OBS is on another computer";
    message.textContent = "";
  };
  document.addEventListener("device-removed", (event) => {
    if (granted?.id !== /** @type {CustomEvent<string>} */ (event).detail) return;
    granted = null;
    aimHere();
  });
  button.addEventListener("click", async () => {
    if (target.key) {
      aimHere();
      return;
    }
    try {
      const { url, token } = (granted ??= /** @type {Service.WatcherDetails} */ (await send("api/devices", { name: "OBS on another computer" })));
      document.dispatchEvent(new CustomEvent("device-added"));
      aim(url, token);
    } catch (error) {
      message.textContent = errorText(error);
      return;
    }
    button.textContent = "OBS is on this computer";
    message.textContent = "Every address below now works on any computer of this network as it is. It can only watch; if one was seen on the stream, remove it under “Paired devices” (Set up) and press this again.";
  });
  return el("div", { class: "elsewhere" }, button, message);
}

/** An address of this page's service, for the computer that is aimed at. @param {string} path @param {string} [query] */
export function addressOf(path, query = "") {
  const address = new URL(path, target.base);
  address.search = [query, target.key && `key=${target.key}`].filter(Boolean).join("&");
  return address.href;
}

/** @template {object} T @param {T} table @returns {(keyof T)[]} */
const namesOf = (table) => /** @type {(keyof T)[]} */ (Object.keys(table));

export async function overlayCards() {
  /** @type {Service.Overlay[]} */
  const overlays = await send("api/overlays", null, { method: "GET" });
  return [...overlays.map(overlayCard), ...namesOf(PICTURES).map(pictureCard)];
}

/** @param {Service.Overlay} declared */
function overlayCard(declared) {
  const { name, title, about, width, height } = declared;
  const options = overlayOptions(declared);
  const inputs = Object.entries(options).map(([option, spec]) => ({ option, spec, input: optionInput(option, spec) }));
  const address = addressBox();
  const frame = el("div", { class: "preview" });
  const query = () => {
    const chosen = inputs.filter(({ spec, input }) => input.value !== String(spec.fallback) && input.value !== "");
    return chosen.map(({ option, input }) => `${option}=${encodeURIComponent(input.value.replace("#", ""))}`).join("&");
  };
  const url = () => addressOf(`overlay/${name}`, query());
  const preview = el("details", {}, el("summary", {}, "Preview"), frame);
  const update = () => {
    address.value = url();
    frame.replaceChildren();
    const here = new URL(`overlay/${name}?${query()}`, document.baseURI).href;
    if (preview.open) frame.append(el("iframe", { src: here, title: `Preview of ${title}`, width, height }));
  };
  preview.addEventListener("toggle", update);
  const form = el("form", { class: "options" }, inputs.map(({ option, spec, input }) => el("label", { title: capitalize(spec.allowed) }, `${capitalize(option)}: ${spec.help}`, input)));
  form.addEventListener("change", update);
  form.addEventListener("submit", (event) => event.preventDefault());
  target.changed.addEventListener("change", update);
  update();
  return el(
    "article",
    { class: "plate overlay" },
    el("h3", {}, title),
    el("p", { class: "muted" }, about),
    el("div", { class: "address" }, address, copyButton(address), loaderButton(name, url)),
    el("details", {}, el("summary", {}, "Options"), form),
    preview,
  );
}

/** @param {keyof typeof PICTURES} name */
function pictureCard(name) {
  const [title, about] = PICTURES[name];
  const address = addressBox();
  const update = () => (address.value = addressOf(name));
  target.changed.addEventListener("change", update);
  update();
  return el(
    "article",
    { class: "plate overlay" },
    el("h3", {}, title),
    el("p", { class: "muted" }, about),
    el("div", { class: "address" }, address, copyButton(address)),
  );
}

export const addressBox = (label = "Address") => el("input", { readonly: true, "aria-label": label, onfocus: (event) => event.currentTarget.select() });

/** @param {string} name @param {import("./options.js").Option<any>} spec */
function optionInput(name, spec) {
  if (spec.allowed.startsWith("one of ")) {
    const words = spec.allowed.slice("one of ".length).split(", ");
    return el("select", { name }, words.map((value) => el("option", { value }, value)));
  }
  return el("input", { name, value: String(spec.fallback) });
}

/** Copy text; falls back to execCommand, since a page without TLS has no clipboard API. @param {HTMLInputElement} address */
export function copyButton(address) {
  const button = el("button", { type: "button", class: "small" }, "Copy");
  button.addEventListener("click", async () => {
    address.select();
    const copied = navigator.clipboard ? await navigator.clipboard.writeText(address.value).then(() => true, () => false) : document.execCommand("copy");
    button.textContent = copied ? "Copied" : "Press Ctrl+C";
    setTimeout(() => (button.textContent = "Copy"), 2_000);
  });
  return button;
}

/**
 * A file for OBS to open from disk, which waits for Downfield and then loads the overlay.
 *
 * @param {string} name
 * @param {() => string} url
 */
function loaderButton(name, url) {
  const button = el("button", { type: "button", class: "small", title: "Use this if OBS may start before Downfield" }, "Loader file");
  button.addEventListener("click", async () => {
    const page = await (await fetch("assets/loader.html")).text();
    const loader = page.replace("OVERLAY_ADDRESS", url().replaceAll("&", "&amp;"));
    saveFile(new Blob([loader], { type: "text/html" }), `downfield-${name}.html`);
  });
  return button;
}
