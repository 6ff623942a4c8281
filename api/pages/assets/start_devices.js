// How phones and other computers reach the rig: its addresses, a code for a phone, and what was paired so far.

import { around, el, elementsOf } from "./dom.js";
import { errorText, send } from "./send.js";

const at = elementsOf("index");

/** A code that is shown is looked after this often, so that the page says when it was used. */
const WATCH_MS = 2_000;

/** A second press within this time removes a device. */
const SURE_MS = 5_000;

/** @type {Record<string, string>} */
const ROLES = { viewer: "can watch", producer: "producer", operator: "operator", referee: "referee", admin: "admin", camera: "the camera" };

let watching = 0;

/** Fill the section, for the admin; for others it stays hidden. */
export async function showDevices() {
  at("pairing").addEventListener("click", (event) => {
    const role = around(event, "[data-role]")?.dataset.role;
    if (role) makeCode(role);
  });
  await Promise.all([listAddresses(), listDevices()]);
  at("elsewhere").hidden = false;
  addEventListener("focus", () => Promise.all([listAddresses(), listDevices()]).catch(() => {})); // both may have changed
  document.addEventListener("device-added", () => listDevices().catch(() => {}));
}

async function listAddresses() {
  try {
    /** @type {Service.AddressDetails} */
    const { urls, note } = await send("api/addresses", null, { method: "GET" });
    at("addresses").replaceChildren(...urls.map((url) => el("li", {}, el("a", { href: url }, url))));
    at("addresses-note").textContent = note || "Any of these, on a device in the same network:";
  } catch (error) {
    at("addresses").replaceChildren();
    at("addresses-note").textContent = errorText(error);
  }
}

/** @returns {Promise<Service.DeviceDetails[]>} */
async function listDevices() {
  const devices = await send("api/devices", null, { method: "GET" });
  at("devices").replaceChildren(...devices.toReversed().map(deviceItem));
  return devices;
}

/** @param {Service.DeviceDetails} device */
function deviceItem(device) {
  const since = new Date(device.paired_ms).toLocaleString([], { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" });
  const button = el("button", { type: "button", class: "small" }, "Remove");
  let sure = false;
  button.setAttribute("aria-label", `Remove ${device.name}`);
  button.addEventListener("click", async () => {
    if (!sure) {
      sure = true;
      button.textContent = "Really?";
      setTimeout(() => ((sure = false), (button.textContent = "Remove")), SURE_MS);
      return;
    }
    try {
      await send(`api/devices/${device.id}`, null, { method: "DELETE" });
      document.dispatchEvent(new CustomEvent("device-removed", { detail: device.id }));
      await listDevices();
    } catch (error) {
      button.textContent = errorText(error);
    }
  });
  return el("li", {}, el("span", {}, el("b", {}, device.name), el("br"), `${ROLES[device.role] ?? device.role}, since ${since}`), button);
}

/** @param {string} role */
async function makeCode(role) {
  clearTimeout(watching);
  try {
    const before = new Set((await listDevices()).map(({ id }) => id));
    showCode(await send("api/pairings", { role }), before);
  } catch (error) {
    at("code").replaceChildren(el("p", {}, errorText(error)));
  }
}

/** @param {Service.PairingDetails} pairing @param {Set<string>} before the devices' ids before it was made */
function showCode(pairing, before) {
  const picture = el("img", { class: "qr" });
  const place = el("b");
  /** @param {number} index */
  const aim = (index) => {
    picture.src = `api/pairings/${pairing.id}/qr.svg?place=${index}`;
    picture.alt = `QR code of ${pairing.urls[index]}`;
    place.textContent = pairing.urls[index].split("#")[0];
  };
  aim(0);
  const others = el("select", { "aria-label": "Address in the code", onchange: (event) => aim(Number(event.currentTarget.value)) },
    pairing.urls.map((url, index) => el("option", { value: index }, new URL(url).host)));
  at("code").replaceChildren(
    picture,
    el("p", {}, el("b", { class: "code" }, pairing.code), el("br"), "Scan it, or enter this code at ", place, ` within ${Math.round(pairing.expires_s / 60)} minutes.`),
    pairing.urls.length > 1 ? el("label", {}, "The phone can’t open it? Try another address:", others) : "",
  );
  const until = performance.now() + pairing.expires_s * 1_000;
  const check = async () => {
    const devices = await listDevices().catch(() => []);
    const paired = devices.find(({ id }) => !before.has(id));
    if (paired) at("code").replaceChildren(el("p", {}, `Paired: ${paired.name}, ${ROLES[paired.role] ?? paired.role}.`));
    else if (performance.now() > until) at("code").replaceChildren(el("p", {}, "The code has expired. Make another one."));
    else watching = setTimeout(check, WATCH_MS);
  };
  watching = setTimeout(check, WATCH_MS);
}
