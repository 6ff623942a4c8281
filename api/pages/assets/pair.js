// Redeem a pairing code, then go where the device's role belongs.

import { Refusal, send } from "/assets/send.js";

const form = document.querySelector("form");
const [code, name, told] = ["code", "name", "told"].map((id) => document.getElementById(id));

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  told.textContent = "";
  try {
    const body = { code: code.value.trim().toUpperCase(), ...(name.value.trim() ? { name: name.value.trim() } : {}) };
    const session = await send("/api/session", body);
    location.replace(session.role === "viewer" ? "/" : "/panel");
  } catch (error) {
    told.textContent = error instanceof Refusal ? error.message : "The rig does not answer: try again.";
  }
});

if (location.hash.length > 1) {
  code.value = decodeURIComponent(location.hash.slice(1));
  history.replaceState(null, "", location.pathname); // the code is good once; it need not stay in the history
  form.requestSubmit();
} else {
  code.focus();
}
