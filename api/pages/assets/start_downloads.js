// What a streamer loads once: all scenes as one file for OBS, the producer's page as a dock, buttons for a Stream Deck,
// and what OBS needs to be the camera.

import { saveFile } from "./clip_saving.js";
import { companionPage } from "./companion_page.js";
import { el } from "./dom.js";
import { sceneCollection } from "./obs_scenes.js";
import { errorText, read, send } from "./send.js";
import { addressBox, addressOf, copyButton, target } from "./start_overlays.js";

/** Programs of one page each have one token, however often their file is saved. @type {Map<string, Promise<Service.WatcherDetails>>} */
const tokens = new Map();
document.addEventListener("device-removed", () => tokens.clear());

/** @param {string} name @param {"viewer" | "producer" | "camera"} role @returns {Promise<Service.WatcherDetails>} */
function tokenFor(name, role) {
  const given = tokens.get(name) ?? send("api/devices", { name, role });
  tokens.set(name, given);
  given.then(
    () => document.dispatchEvent(new CustomEvent("device-added")),
    () => tokens.delete(name),
  );
  return given;
}

/** The card above the overlays. @param {boolean} isAdmin who alone gives programs their tokens */
export function downloadsCard(isAdmin) {
  const message = el("p", { role: "status" });
  const dock = addressBox("The dock");
  const update = () => (dock.value = new URL("producer", target.key ? target.base : document.baseURI).href);
  target.changed.addEventListener("change", update);
  update();
  const [server, bearer] = [addressBox("Server"), addressBox("Bearer token")];
  const camera = el("div", { hidden: true }, ...[server, bearer].map((box) => el("label", {}, box.ariaLabel ?? "", el("div", { class: "address" }, box, copyButton(box)))));
  const showCamera = async () => {
    bearer.value = (await tokenFor("OBS as the camera", "camera")).token;
    server.value = new URL("api/phone/whip", document.baseURI).href;
    camera.hidden = false;
  };
  /** @param {string} label @param {string} done @param {() => Promise<void>} save */
  const button = (label, done, save) => {
    const made = el("button", { type: "button", class: "small" }, label);
    made.addEventListener("click", () => {
      made.disabled = true;
      save()
        .then(() => (message.textContent = done), (error) => (message.textContent = errorText(error)))
        .finally(() => (made.disabled = false));
    });
    return made;
  };
  return el(
    "article",
    { class: "plate overlay", id: "downloads" },
    el("h3", {}, "Ready for OBS"),
    el("p", { class: "muted" }, "Five scenes with their sources: starting soon, game, replay, halftime, final. In OBS: Scene Collection, Import."),
    el("div", { class: "row" }, button("Scenes for OBS", "Saved. In OBS choose Scene Collection, Import, and this file; then choose “Downfield” there.", saveScenes)),
    el("p", { class: "muted" }, "The producer’s page puts bug, banner, cards, replays and sponsors on air. In OBS it can be a dock: Docks, Custom Browser Docks, with this address."),
    el("div", { class: "address" }, dock, copyButton(dock), el("a", { class: "button small", href: "producer" }, "Producer’s page")),
    isAdmin && el("p", { class: "muted" }, "For a Stream Deck with Bitfocus Companion: a page of buttons for replays, cards, elements and your presets, whose key changes what is on air and nothing else."),
    isAdmin && el("div", { class: "row" }, button("Buttons for Companion", "Saved. In Companion choose Import / Export, Import, and this file. Whoever has the file can use the buttons.", saveButtons)),
    isAdmin && el("p", { class: "muted" }, "OBS, or any program that sends WHIP, can be the camera of a table that was started with “downfield run --phone”: Settings, Stream, service WHIP, with a server and a bearer token."),
    isAdmin && el("div", { class: "row" }, button("OBS as the camera", "Copy both into OBS. The token sends pictures and does nothing else.", showCamera)),
    isAdmin && camera,
    message,
  );
}

async function saveScenes() {
  let { key } = target;
  if (!key && (await isStranger())) key = (await tokenFor("OBS on this computer", "viewer")).token;
  const collection = sceneCollection((path, query) => {
    const address = new URL(addressOf(path, query));
    if (key) address.searchParams.set("key", key);
    return address.href;
  });
  save(collection, "downfield-obs-scenes.json");
}

/** Whether this computer's other programs, which lack this browser's cookie, may not watch without a key. */
async function isStranger() {
  const response = await fetch("api/session", { credentials: "omit" });
  return response.ok && /** @type {Service.SessionDetails} */ (await response.json()).role === null;
}

async function saveButtons() {
  const { token, url } = await tokenFor("Companion", "producer");
  /** @type {Service.OnAirView} */
  const { presets } = await read("api/on-air");
  save(companionPage(target.key ? url : new URL(".", document.baseURI).href, token, presets), "downfield.companionconfig");
}

/** @param {object} content @param {string} name */
const save = (content, name) => saveFile(new Blob([JSON.stringify(content, null, 2)], { type: "application/json" }), name);
