// What is kept for the stream: the sponsors' logos, and the people's names and pictures.

import { el, refresh } from "./dom.js";
import { field, number } from "./panel_fields.js";
import { logoField } from "./panel_logo.js";
import { send } from "./send.js";

/** @typedef {import("./producer.js").Desk} Desk */

const MOST_SPONSORS = 24;

/** The sponsors: which, and how long each; whether they are shown is among the elements. @param {Desk} desk @returns {HTMLElement[]} */
export function sponsorSection({ feed, act }) {
  const list = el("div", { class: "grid wide" });
  const seconds = number("seconds", 10, 2, 600);
  const save = el("button", { type: "submit", class: "main wide" }, "Save the sponsors");
  /** @type {ReturnType<typeof logoField>[]} */
  let fields = [];
  /** @param {?string} logo */
  const add = (logo) => {
    const made = logoField(`Logo of sponsor ${fields.length + 1}`, logo);
    fields.push(made);
    list.append(made.element);
  };
  list.addEventListener("input", () => {
    if (fields.length < MOST_SPONSORS && fields.at(-1)?.input.value !== null) add(null); // always one more to fill
  });
  const form = el("form", { class: "grid" }, list, field("Seconds each", seconds, "wide"), save);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const shown = feed.value("sponsors")?.shown ?? true;
    const body = { shown, seconds: seconds.valueAsNumber, logos: fields.map(({ input }) => input.value).filter(Boolean) };
    act(save, () => send("api/sponsors", body, { method: "PUT" }));
  });
  const fill = (/** @type {Service.SponsorsView | undefined} */ now) =>
    refresh(list, [now?.logos, now?.seconds], () => {
      fields = [];
      seconds.value = String(now?.seconds ?? 10);
      const logos = now?.logos ?? [];
      fields = [...logos, ...(logos.length < MOST_SPONSORS ? [null] : [])].map((logo, index) => logoField(`Logo of sponsor ${index + 1}`, logo));
      return fields.map(({ element }) => element);
    });
  fill(undefined);
  feed.on("sponsors", fill);
  return [form];
}

/** Players by team and number, coaches and commentators: for lower thirds and name tags. @param {Desk} desk @returns {HTMLElement[]} */
export function peopleSection({ feed, air, act }) {
  const list = el("ol", { class: "list" });
  const name = el("input", { maxlength: 60, required: true });
  const role = el("input", { maxlength: 80, placeholder: "such as Head coach" });
  const team = el("input", { maxlength: 80, list: "team-names" });
  const figure = el("input", { maxlength: 4, inputmode: "numeric", placeholder: "a player’s" });
  const picture = logoField("Picture", null);
  const save = el("button", { type: "submit", class: "main wide" }, "Keep this person");
  const teams = el("datalist", { id: "team-names" });
  let edits = 0;
  const form = el("form", { class: "grid" }, field("Name", name, "wide"), field("Role", role, "wide"), field("Team", team), field("Number", figure), picture.element, save, teams);
  /** @param {Service.OnAirPerson} one */
  const isSame = (one) => one.name === name.value.trim() && one.team === team.value.trim();
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const person = { name: name.value.trim(), role: role.value.trim(), team: team.value.trim(), number: figure.value.trim(), picture: picture.input.value };
    const begun = edits;
    act(save, async () => {
      await send("api/on-air", { people: [...air.now.people.filter((one) => !isSame(one)), person] });
      if (begun !== edits) return; // somebody else is in the form by now
      name.value = figure.value = "";
      picture.use(null);
      name.focus();
    });
  });
  feed.on("game", (game) => refresh(teams, game && [game.home.name, game.away.name], () => [game?.home, game?.away].map((one) => one && el("option", { value: one.name }))));
  feed.on("on_air", (now) =>
    refresh(list, now?.people, () =>
      (now?.people ?? []).map((person, place) =>
        el(
          "li",
          {},
          el("span", { dir: "auto" }, [person.number, person.name, person.role, person.team].filter(Boolean).join(" · ")),
          el(
            "span",
            { class: "row" },
            el("button", { type: "button", class: "small", "aria-label": `Change ${person.name}`, onclick: () => edit(person) }, "Change"),
            el("button", { type: "button", class: "small", "aria-label": `Remove ${person.name}`, onclick: ({ currentTarget }) => act(currentTarget, () => send("api/on-air", { people: air.now.people.toSpliced(place, 1) })) }, "✕"),
          ),
        ),
      ),
    ),
  );
  /** @param {Service.OnAirPerson} person */
  function edit(person) {
    edits++;
    [name.value, role.value, team.value, figure.value] = [person.name, person.role, person.team, person.number];
    picture.use(person.picture);
    role.focus();
  }
  return [list, form];
}
