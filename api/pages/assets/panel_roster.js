// The figures on the board as text, for a game that no camera follows: "7 QB, 22 RB" for either jersey.

import { el } from "./dom.js";
import { field } from "./panel_fields.js";
import { savedTeams } from "./panel_schedule.js";

/** @type {Service.Player["jersey"][]} */
const JERSEYS = ["dark", "light"];

/**
 * Two inputs with the numbers and roles of the dark and the light figures; they read as the players of a line-up. Where none are
 *  known yet, those of the saved teams of the same names are filled in.
 *
 * @param {Service.Player[]} players
 * @param {Service.GameView | undefined} game
 */
export function rosterInput(players, game) {
  const boxes = JERSEYS.map((jersey) =>
    el("input", { name: jersey, placeholder: "7 QB, 22 RB, 80 WR", value: players.filter((one) => one.jersey === jersey).map(asText).join(", ") }),
  );
  const labels = JERSEYS.map((jersey, at) => field(`Numbers and roles, ${jersey} jerseys`, boxes[at], "wide"));
  savedTeams().then((teams) => {
    for (const { name, jersey } of game === undefined ? [] : [game.home, game.away]) {
      const box = boxes[JERSEYS.indexOf(jersey)];
      if (box.value === "") box.value = (teams.find((team) => team.name === name)?.players ?? []).map(asText).join(", ");
    }
  });
  const known = new Map(players.map((one) => [one.id, one]));
  return { labels, read: () => ({ players: JERSEYS.flatMap((jersey, at) => asPlayers(boxes[at].value, jersey, known)) }) };
}

/** @param {Service.Player} player */
const asText = ({ number, id, role }) => `${number || id.split("-").at(-1)} ${role}`.trim();

/**
 * Whatever else is known of a figure, such as its base, stays as it is.
 *
 * @param {string} text
 * @param {string} jersey
 * @param {Map<string, Service.Player>} known
 */
function asPlayers(text, jersey, known) {
  /** @type {Set<string>} */
  const taken = new Set();
  return text.split(",").map((entry) => entry.trim().split(/\s+/)).filter(([number]) => number).map(([number, role = ""]) => {
    const id = [..." bcdefghijk"].map((letter) => `${jersey}-${number}${letter.trim()}`).find((name) => !taken.has(name)) ?? `${jersey}-${number}`;
    taken.add(id); // two figures with one number are two figures
    return { ...known.get(id), id, jersey, number, role: role.toUpperCase() };
  });
}
