// The tournament's games at this table, and the teams that its desk has sent.

import { el, refresh } from "./dom.js";
import { errorText, send } from "./send.js";

/**
 * Follow the schedule in a section's body: the game in play is marked, those before it are left out.
 *
 * @param {HTMLElement} details
 * @param {HTMLElement} body
 * @param {Feed} feed
 */
export function scheduleSection(details, body, feed) {
  /** @type {string | undefined} */
  let said;
  const show = () => {
    const [schedule, game] = [feed.value("schedule"), feed.value("game")];
    details.hidden = schedule === undefined;
    if (schedule === undefined) return;
    const place = schedule.games.findIndex((row) => row.home === game?.home.name && row.away === game?.away.name);
    const rows = schedule.games.slice(Math.max(0, place));
    refresh(body, [schedule, place], () => [
      ...schedule.said.map((text) => el("p", {}, el("b", {}, text))),
      el("p", { class: "muted" }, schedule.event),
      rows.length > 0 ? el("ol", { class: "schedule" }, rows.map((row, at) => item(row, place >= 0 && at === 0))) : el("p", {}, "No game is to be played at this table."),
    ]);
    if (schedule.said[0] !== said) details.setAttribute("open", ""); // an announcement is seen, also where the page is opened later
    said = schedule.said[0];
  };
  feed.on("schedule", show);
  feed.on("game", show);
}

/** @param {Service.ScheduledGameView} game @param {boolean} now */
const item = ({ id, begins, home, away, ticket }, now) =>
  el("li", {}, el("b", {}, now ? "Now" : time(begins)), ` ${home} – ${away} `, el("span", { class: "muted" }, id), ticket && !now ? el("button", { type: "button", class: "small", onclick: () => start({ id, ticket }) }, "Start it") : null);

/** Start a game of the event, as its desk would. @param {{ id: string, ticket: Service.MatchTicket }} game */
async function start({ id, ticket }) {
  const [home, away] = ticket.names;
  if (!confirm(`Start ${id}, ${home} against ${away}? The game at this table ends.`)) return;
  const teams = await savedTeams();
  /** @param {string} name */
  const sheet = (name) => {
    const { short, color, ink } = teams.find((team) => team.name === name) ?? { short: name.slice(0, 3).toUpperCase(), color: undefined, ink: undefined };
    return { name, short, color, ink };
  };
  try {
    await send("api/games", { command: "new_game", home: sheet(home), away: sheet(away), title: id, match: ticket });
  } catch (error) {
    alert(errorText(error));
  }
}

/** @param {string} begins */
const time = (begins) => (begins === "" ? "" : new Date(begins).toLocaleString([], { weekday: "short", hour: "2-digit", minute: "2-digit" }));

/** The saved teams; none where they can't be had now. @returns {Promise<Service.TeamDetails[]>} */
export async function savedTeams() {
  const response = await fetch("api/teams", { credentials: "same-origin" }).catch(() => null);
  return response?.ok ? response.json() : [];
}

/**
 * A choice of a saved team, which fills in the inputs of a form; hidden while there is none.
 *
 * @param {string} label
 * @param {Record<"name" | "short" | "color" | "ink", { value: string }>} inputs
 */
export function teamChoice(label, inputs) {
  const select = el("select", {}, el("option", { value: "" }, "as below"));
  const element = el("label", { class: "wide", hidden: true }, label, select);
  savedTeams().then((teams) => {
    element.hidden = teams.length === 0;
    select.append(...teams.map((team, at) => el("option", { value: String(at) }, team.name)));
    select.addEventListener("change", () => {
      const team = teams[Number(select.value)];
      if (select.value === "" || team === undefined) return;
      for (const name of /** @type {const} */ (["name", "short", "color", "ink"])) inputs[name].value = team[name];
    });
  });
  return element;
}
