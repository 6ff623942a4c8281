// Whose numbers can be tapped now, and what a tap declares.

import { dress } from "/assets/color.js";
import { el, refresh } from "/assets/dom.js";

/** Those who handle the ball come first. */
const ROLES = ["QB", "RB", "FB", "HB", "WR", "TE", "K", "P", "KR", "PR", "DB", "CB", "S", "LB", "DL", "DE", "DT", "NT", "C", "G", "T"];

let chosen = null;
let picked = [];

/** Fill the section with the side's numbers and what a tap on one means. */
export function players(section, game, ball, lineUp, verbs) {
  if (!verbs.some((verb) => verb.id === chosen)) {
    chosen = verbs[0]?.id ?? null;
    picked = [];
  }
  const verb = verbs.find((one) => one.id === chosen);
  const everybody = lineUp?.players ?? [];
  const side = verb === undefined ? null : game[verb.side];
  const held = ball?.player ?? null;
  const of = (player) => player.jersey === side?.jersey && (player.id !== held || verb.id === "carrier");
  const team = everybody.filter(of).sort(byRole);
  refresh(section, [verbs, chosen, team, side, held, ball?.text], () => {
    const again = (change) => {
      change();
      players(section, game, ball, lineUp, verbs);
    };
    return [
      el("p", { class: "holder" }, ball?.text ?? ""),
      verbs.length > 1 &&
        el(
          "div",
          { class: "verbs", role: "radiogroup", "aria-label": "What a number means" },
          verbs.map((one) => verbButton(one, () => again(() => ([chosen, picked] = [one.id, []])))),
        ),
      verb && el("p", { class: "soft verb" }, verbs.length > 1 ? "" : verb.label),
      verb && el("div", { class: "numbers" }, team.map((player) => numberButton(player, verb, side, held))),
      verb?.most > 1 && el("button", { type: "button", class: "main several", disabled: true }, verb.label),
    ];
  });
}

function verbButton(verb, choose) {
  return el(
    "button",
    { type: "button", class: "small", role: "radio", "aria-checked": String(verb.id === chosen), onclick: choose },
    verb.label,
  );
}

function numberButton(player, verb, side, held) {
  const says = verb.most > 1 ? { onclick: pick(player.id, verb), "aria-pressed": "false" } : declares(verb, [player.id]);
  const button = el(
    "button",
    {
      type: "button",
      "data-player": player.id,
      class: `number${player.id === held ? " held" : ""}`,
      "aria-label": `${verb.label} ${player.id.replace("-", " ")}${player.role ? `, ${player.role}` : ""}`,
      ...says,
    },
    el("b", {}, player.number || player.id),
    player.role && el("small", {}, player.role),
  );
  dress(button, side);
  return button;
}

/** Several players are picked first and declared together. */
function pick(id, verb) {
  return (event) => {
    const button = event.currentTarget;
    picked = picked.includes(id) ? picked.filter((one) => one !== id) : [...picked, id].slice(-verb.most);
    for (const one of button.parentElement.children) one.setAttribute("aria-pressed", String(picked.includes(one.dataset.player)));
    const together = button.parentElement.parentElement.querySelector(".several");
    together.disabled = picked.length === 0;
    together.textContent = `${verb.label} ${picked.map((one) => one.split("-").at(-1)).join(" and ")}`;
    Object.assign(together.dataset, { post: "/api/declarations", body: JSON.stringify({ declaration: verb.declare(picked) }) });
  };
}

const declares = (verb, ids) => ({
  "data-post": "/api/declarations",
  "data-body": JSON.stringify({ declaration: verb.declare(ids) }),
});

function byRole(a, b) {
  const place = (player) => (ROLES.indexOf(player.role) + ROLES.length + 1) % (ROLES.length + 1);
  return place(a) - place(b) || Number(a.number) - Number(b.number);
}
