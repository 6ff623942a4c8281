// Shared by all overlays: read options, follow the feed, hide when the content may be stale.

import { readable } from "./color.js";
import { el, find } from "./dom.js";
import { Feed, reloadOnUpgrade } from "./feed.js";
import { readOptions } from "./options.js";
import { overlayOptions } from "./overlay_options.js";

/**
 * Start an overlay: `build(stage, options, feed)` fills the stage. If the URL is wrong, the page shows the error.
 *
 * The page holds what the overlay's file `NAME.overlay.toml` declares: its options, and the topics that it follows.
 *
 * @template {keyof Overlays.Options} N
 * @param {N} name
 * @param {(stage: HTMLElement, options: Overlays.Options[N], feed: Feed) => void} build
 */
export function overlay(name, build) {
  const declared = /** @type {Service.Overlay} */ (JSON.parse(find(document, "#overlay").textContent ?? ""));
  const { values: read, problems } = readOptions(location.search, overlayOptions(declared));
  const values = /** @type {Overlays.Options[N]} */ (read);
  const stage = find(document, "#stage");
  fitWindow(declared);
  addEventListener("resize", () => fitWindow(declared));
  if (problems.length) {
    document.body.append(urlErrors(name, problems));
    return;
  }
  document.documentElement.dataset.theme = values.theme;
  document.documentElement.style.setProperty("--scale", String(values.scale));
  document.body.style.background = values.background;
  stage.dataset.position = values.position;
  document.head.append(el("link", { rel: "stylesheet", href: "user.css" })); // after all others, so that it wins
  document.fonts.load("700 20px Archivo").catch(() => {}); // before the first text, which would be an empty plate for half a second
  const feed = new Feed(/** @type {(keyof Service.Topics)[]} */ ([...declared.topics, "on_air"]), values.key);
  build(stage, values, feed);
  feed.on("on_air", (now) => {
    if (now === undefined) return;
    const { dataset } = document.documentElement;
    dataset.onAir = now.elements.join(" "); // for overlays that show several elements
    dataset.off = String(declared.on_air !== null && !now.elements.includes(declared.on_air));
    applyStyle(now.style, values);
  });
  feed.onLink((link) => {
    document.documentElement.dataset.link = link;
  });
  reloadOnUpgrade(feed);
  feed.start();
  if (window.top !== window) followPreview(feed);
  checkKey(values.key).catch(() => {}); // the rig does not answer yet; the feed goes on trying
}

/** Fonts of the producer's choice, such as every computer has. @type {Record<string, string>} */
const FONTS = {
  system: "system-ui, sans-serif",
  serif: 'Georgia, "Times New Roman", "DejaVu Serif", serif',
  rounded: 'ui-rounded, "Arial Rounded MT Bold", "Varela Round", Nunito, system-ui, sans-serif',
  mono: "ui-monospace, Consolas, Menlo, monospace",
};

/**
 * The producer's look, for everything that the address itself does not say.
 *
 * @param {Service.OnAirStyle} style
 * @param {{ theme: string, scale: number }} values of the address' options
 */
function applyStyle({ theme, font, plate, accent, corners, scale }, values) {
  const said = new URLSearchParams(location.search);
  const { dataset, style } = document.documentElement;
  dataset.theme = said.has("theme") ? values.theme : (theme ?? values.theme);
  dataset.corners = corners ?? "round";
  style.setProperty("--scale", String(said.has("scale") ? values.scale : (scale ?? values.scale)));
  document.body.style.fontFamily = FONTS[font ?? ""] ?? "";
  const ink = plate && readable("#f4f7fa", plate);
  /** @type {Record<string, string | null>} */
  const colors = {
    "--plate": plate,
    "--plate-2": plate && `color-mix(in srgb, ${plate} 88%, ${ink})`,
    "--plate-ink": ink,
    "--plate-muted": plate && `color-mix(in srgb, ${ink} 74%, ${plate})`,
    "--hair": plate && `color-mix(in srgb, ${ink} 14%, transparent)`,
    "--call": accent,
    "--call-ink": accent && readable("#14100a", accent),
  };
  for (const [property, value] of Object.entries(colors)) {
    if (value === null) style.removeProperty(property);
    else style.setProperty(property, value);
  }
}

/**
 * Show in a frame of the producer's page what would be on air: it sends the topics' values, now and as they change.
 *
 * @param {Feed} feed
 */
function followPreview(feed) {
  addEventListener("message", ({ origin, data }) => {
    if (origin === location.origin && data?.preview) feed.override(data.preview);
  });
  window.top?.postMessage({ preview: "wanted" }, location.origin);
}

/**
 * Draw everything in the window's size, which is that of the browser source: what is laid out for 1920 x 1080 pixels
 * becomes smaller or larger, and nothing of it is cut.
 *
 * @param {Service.Overlay} declared
 */
function fitWindow({ width, height }) {
  const fit = Math.min(innerWidth / width, innerHeight / height);
  const { style } = document.body;
  [style.width, style.height] = [`${innerWidth / fit}px`, `${innerHeight / fit}px`];
  style.transform = fit === 1 ? "" : `scale(${fit})`;
}

/** Show an error on an overlay whose address has no valid key: it would stay empty without a reason. @param {string} key */
async function checkKey(key) {
  const response = await fetch(`api/session${key && `?key=${key}`}`, { credentials: "same-origin" });
  if (!response.ok || (await response.json()).role !== null) return;
  document.body.append(
    el(
      "section",
      { class: "url-errors", role: "alert" },
      el("h1", {}, "This address can’t watch"),
      el("p", {}, key ? "Its key is wrong, older than 90 days, or was removed." : "It has no key, and this computer is not paired."),
      el("p", {}, "On Downfield’s start page press “OBS is on another computer” and copy the address again."),
    ),
  );
}

/** @param {string} name @param {string[]} problems */
function urlErrors(name, problems) {
  return el(
    "section",
    { class: "url-errors", role: "alert" },
    el("h1", {}, `Check the address of the ${name} overlay`),
    el("ul", {}, problems.map((problem) => el("li", {}, problem))),
    el("p", {}, `Options follow “?” and are joined by “&”: /overlay/${name}?scale=1.2&theme=light`),
  );
}

/**
 * Whether the audience should know that the camera makes no calls: people at the board between plays are part of the game.
 *
 * @param {Service.GameView | undefined} game
 * @param {Service.HealthStatus | undefined} health
 */
export function areCallsMissed(game, health) {
  const suspended = health === undefined ? (game?.suspended ?? []).length > 0 : health.calls === "suspended";
  const running = game?.board === "on" || ["live", "in_air", "kick"].includes(game?.phase ?? "");
  return suspended && (running || !health?.setting_up);
}
