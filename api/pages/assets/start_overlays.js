// One card for each overlay: its address with the options chosen, to copy, and a loader file for OBS.

import { el } from "/assets/dom.js";
import { OVERLAY_OPTIONS } from "/assets/overlay_options.js";
import { capital } from "/assets/words.js";

const ABOUT = {
  scorebug: ["Score bug", "Score, down and distance, spot, clock, possession, time-outs."],
  calls: ["Call banner", "Each call with its margin, how sure it is, and the clause."],
  field: ["Field map", "Everybody moving, the line of scrimmage and the line to gain."],
};

export function overlayCards() {
  return [...Object.keys(ABOUT).map(overlayCard), cameraCard()];
}

function overlayCard(name) {
  const [title, about] = ABOUT[name];
  const options = OVERLAY_OPTIONS[name];
  const inputs = Object.entries(options).map(([option, spec]) => [option, spec, input(option, spec)]);
  const address = addressBox();
  const frame = el("div", { class: "preview" });
  const url = () => {
    const chosen = inputs.filter(([, spec, one]) => one.value !== String(spec.fallback) && one.value !== "");
    const query = chosen.map(([option, , one]) => `${option}=${encodeURIComponent(one.value.replace("#", ""))}`).join("&");
    return `${location.origin}/overlay/${name}${query ? `?${query}` : ""}`;
  };
  const preview = el("details", {}, el("summary", {}, "Preview"), frame);
  const update = () => {
    address.value = url();
    frame.replaceChildren();
    if (preview.open) frame.append(el("iframe", { src: url(), title: `${title}, as it looks`, width: 1920, height: 1080 }));
  };
  preview.addEventListener("toggle", update);
  const form = el("form", { class: "options" }, inputs.map(([option, spec, one]) => el("label", { title: spec.allowed }, `${capital(option)}: ${spec.help}`, one)));
  form.addEventListener("change", update);
  form.addEventListener("submit", (event) => event.preventDefault());
  update();
  return el(
    "article",
    { class: "plate overlay" },
    el("h3", {}, title),
    el("p", { class: "soft" }, about),
    el("div", { class: "address" }, address, copyButton(address), loaderButton(name, url)),
    el("details", {}, el("summary", {}, "Options"), form),
    preview,
  );
}

function cameraCard() {
  const address = addressBox();
  address.value = `${location.origin}/camera.mjpeg`;
  return el(
    "article",
    { class: "plate overlay" },
    el("h3", {}, "The camera’s picture"),
    el("p", { class: "soft" }, "With what Downfield sees drawn on it, since OBS can’t open a camera that is in use. A browser source too."),
    el("div", { class: "address" }, address, copyButton(address)),
  );
}

const addressBox = () => el("input", { readonly: true, "aria-label": "Address", onfocus: (event) => event.currentTarget.select() });

function input(name, spec) {
  if (spec.allowed.startsWith("one of ")) {
    const words = spec.allowed.slice("one of ".length).split(", ");
    return el("select", { name }, words.map((one) => el("option", { value: one }, one)));
  }
  return el("input", { name, value: String(spec.fallback) });
}

/** Copying by the old way too: the clipboard is closed to a page without TLS. */
function copyButton(address) {
  const button = el("button", { type: "button", class: "small" }, "Copy");
  button.addEventListener("click", async () => {
    address.select();
    const copied = navigator.clipboard ? await navigator.clipboard.writeText(address.value).then(() => true, () => false) : document.execCommand("copy");
    button.textContent = copied ? "Copied" : "Press Ctrl-C";
    setTimeout(() => (button.textContent = "Copy"), 2_000);
  });
  return button;
}

/** A file OBS opens from the disk, which waits for Downfield and then goes on to the overlay. */
function loaderButton(name, url) {
  const button = el("button", { type: "button", class: "small", title: "For OBS that may start before Downfield" }, "Loader file");
  button.addEventListener("click", async () => {
    const page = await (await fetch("/assets/loader.html")).text();
    const made = page.replace("OVERLAY_ADDRESS", url().replaceAll("&", "&amp;"));
    const link = el("a", { href: URL.createObjectURL(new Blob([made], { type: "text/html" })), download: `downfield-${name}.html` });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
  });
  return button;
}
