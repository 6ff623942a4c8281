// Redeem a pairing code, then go to the page for the device's role: `data-next` of the body, where it is not the panel.
// A viewer is shown the addresses for OBS: `data-addresses`, where they are not a rig's.

import { el, elementsOf, find, fragment } from "./dom.js";
import { holder, isInvitation, isPass } from "./grant.js";
import { errorText, send } from "./send.js";

const at = elementsOf("pair");
const form = find(document, "form", HTMLFormElement);
const [code, name, message] = [at("code"), at("name"), at("message")];

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  message.textContent = "";
  try {
    const given = code.value.trim();
    if (isInvitation(given) || isPass(given)) {
      await redeem(given);
      return;
    }
    const body = { code: given, ...(name.value.trim() ? { name: name.value.trim() } : {}) };
    /** @type {Service.SessionDetails} */
    const session = await send("api/session", body);
    if (session.role === "viewer") await showAddresses(session.token ?? "");
    else location.replace(document.body.dataset.next ?? (session.role === "producer" ? "producer" : "panel"));
  } catch (error) {
    message.textContent = errorText(error);
  }
});

/**
 * Open an invitation of the tournament's desk, or a table by a pass; the desk's own page then shows the phone's tables.
 *
 * @param {string} given
 */
async function redeem(given) {
  const { grants, next } = document.body.dataset;
  const { role } = await send("api/session", isInvitation(given) ? { code: given, holder: await holder() } : { code: given });
  location.replace(grants ?? (role === "viewer" ? "./" : (next ?? "panel")));
}

/** A viewer may be OBS, which has no cookie: show its token once, in the addresses. @param {string} token */
async function showAddresses(token) {
  const names = document.body.dataset.addresses?.split(" ") ?? (await ownAddresses());
  const addresses = names.map((path) => new URL(`${path}?key=${token}`, document.baseURI).href);
  form.replaceWith(
    el("p", {}, "This device can now watch. To use OBS, copy these addresses now; they are shown only once."),
    el("ul", { class: "addresses" }, addresses.map(addressItem)),
    el("a", { class: "button main", href: "./" }, "Start page"),
  );
}

/** The rig's addresses; without those of overlays where they don't come: the token is not shown a second time. */
async function ownAddresses() {
  /** @type {Service.Overlay[]} */
  const overlays = await send("api/overlays", null, { method: "GET" }).catch(() => []);
  return [...overlays.map(({ name }) => `overlay/${name}`), "program", "program.m3u8", "camera.mjpeg"];
}

/** @param {string} address */
const addressItem = (address) =>
  el("li", {}, el("input", { readonly: true, "aria-label": "Address", value: address, onfocus: (event) => event.currentTarget.select() }));

if (location.hash.length > 1) {
  code.value = fragment();
  history.replaceState(null, "", location.pathname); // a code can be used once; it need not stay in the history
  form.requestSubmit();
} else {
  code.focus();
}
