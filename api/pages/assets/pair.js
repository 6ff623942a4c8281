// Redeems a pairing code: the one behind the # of a scanned address, or one typed in by hand.

const form = document.getElementById("form");
const told = document.getElementById("told");
const button = form.querySelector("button");

const LANDING = { viewer: "/", operator: "/panel", admin: "/panel" };

async function pair(code, name) {
  button.disabled = true;
  told.textContent = "Pairing.";
  try {
    const answer = await fetch("/api/session", {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(name ? { code, name } : { code }),
    });
    const said = await answer.json();
    if (answer.ok) {
      told.textContent = `Paired as ${said.role}.`;
      location.replace(LANDING[said.role] ?? "/");
      return;
    }
    told.textContent = said.detail;
  } catch {
    told.textContent = "The service does not answer: is this device in the same network?";
  }
  button.disabled = false;
}

form.addEventListener("submit", event => {
  event.preventDefault();
  pair(form.code.value.trim(), form.name.value.trim());
});

const scanned = decodeURIComponent(location.hash.slice(1));
if (scanned) {
  history.replaceState(null, "", "/pair"); // the code is good once and need not stay in the address
  form.code.value = scanned;
  pair(scanned, "");
}
