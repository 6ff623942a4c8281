// Redeem a pairing code, then go where the device's role belongs.

import { el } from "/assets/dom.js";
import { OVERLAY_OPTIONS } from "/assets/overlay_options.js";
import { Refusal, send } from "/assets/send.js";

const form = document.querySelector("form");
const [code, name, told] = ["code", "name", "told"].map((id) => document.getElementById(id));

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  told.textContent = "";
  try {
    const body = { code: code.value.trim().toUpperCase(), ...(name.value.trim() ? { name: name.value.trim() } : {}) };
    const session = await send("/api/session", body);
    if (session.role === "viewer") showAddresses(session.token);
    else location.replace("/panel");
  } catch (error) {
    told.textContent = error instanceof Refusal ? error.message : "The rig does not answer: try again.";
  }
});

/** A viewer may be OBS, which has no cookie: its token goes into the addresses, and is shown this once. */
function showAddresses(token) {
  const names = [...Object.keys(OVERLAY_OPTIONS).map((name) => `overlay/${name}`), "camera.mjpeg"];
  const addresses = names.map((name) => `${location.origin}/${name}?key=${token}`);
  form.replaceWith(
    el("p", {}, "This device may watch now. For OBS, copy these addresses; they are not shown again."),
    el("ul", { class: "addresses" }, addresses.map((one) => el("li", {}, el("input", { readonly: true, "aria-label": "Address", value: one, onfocus: (event) => event.currentTarget.select() })))),
    el("a", { class: "button main", href: "/" }, "Start page"),
  );
}

if (location.hash.length > 1) {
  code.value = decodeURIComponent(location.hash.slice(1));
  history.replaceState(null, "", location.pathname); // the code is good once; it need not stay in the history
  form.requestSubmit();
} else {
  code.focus();
}
