// How everything on air looks: colors and letters of the overlays, what the program paints, and both under a name.

import { el, refreshKeepingFocus } from "./dom.js";
import { checkbox, field, select } from "./panel_fields.js";
import { errorText, read, send } from "./send.js";

/** @typedef {import("./producer.js").Desk} Desk */
/** @typedef {import("./panel_fields.js").SelectOption} SelectOption */

/** @type {SelectOption[]} */
const THEMES = [["", "As each address says"], ["dark", "Dark"], ["light", "Light"]];
/** @type {SelectOption[]} */
const FONTS = [["", "Archivo, or as each style says"], ["archivo", "Archivo"], ["system", "The computer's own"], ["serif", "With serifs"], ["rounded", "Rounded"], ["mono", "All letters of one width"]];
/** @type {SelectOption[]} */
const CORNERS = [["", "As they are"], ["round", "Round"], ["square", "Square"]];
/** @type {SelectOption[]} */
const SCALES = [["", "As each address says"], ["0.75", "Smaller"], ["1", "Normal"], ["1.2", "Larger"], ["1.5", "Very large"]];

/** @param {Desk} desk @returns {HTMLElement[]} */
export function lookSection({ air, act }) {
  const [theme, font, corners, scale] = [select(THEMES), select(FONTS), select(CORNERS), select(SCALES)];
  const [plate, accent] = [colorField("Plates"), colorField("Calls and headings")];
  const form = el("form", { class: "grid" }, field("Theme", theme), field("Letters", font), field("Corners", corners), field("Size", scale), plate.element, accent.element);
  /** @param {Service.OnAirStyle} style */
  const fill = (style) => {
    [theme.value, font.value, corners.value, scale.value] = [style.theme ?? "", style.font ?? "", style.corners ?? "", String(style.scale ?? "")];
    if (scale.value === "" && style.scale !== null) scale.append(el("option", { value: style.scale, selected: true }, `${style.scale} times`));
    plate.use(style.plate);
    accent.use(style.accent);
  };
  followForm(form, air, () => fill(air.wanted.style), () => {
    const style = { theme: theme.value || null, font: font.value || null, corners: corners.value || null, scale: Number(scale.value) || null, plate: plate.value(), accent: accent.value() };
    return air.use({ style: /** @type {Service.OnAirStyle} */ (style) });
  }, act);
  return [form];
}

/** A color, or none. @param {string} label */
function colorField(label) {
  const { box, label: own } = checkbox(`${label}: a color of its own`);
  const input = el("input", { type: "color", "aria-label": `Color of: ${label}` });
  box.addEventListener("input", () => (input.hidden = !box.checked));
  return {
    element: el("div", { class: "color-field" }, own, input),
    value: () => (box.checked ? input.value : null),
    /** @param {?string} color */
    use: (color) => {
      box.checked = color !== null;
      input.hidden = color === null;
      if (color !== null) input.value = color;
    },
  };
}

/** @type {SelectOption[]} */
const VIEWS = [["camera", "As the camera sees it"], ["field", "From straight above"]];
/** @type {SelectOption[]} */
const TAGS = [["carrier", "The ball carrier's"], ["all", "Everybody's"], ["off", "None"]];
/** @type {SelectOption[]} */
const PAINTS = [["broadcast", "Broadcast"], ["chalk", "Chalk"], ["contrast", "High contrast"]];

/** What can be painted, what lies lowest first. @type {[Service.ProgramOptions["elements"][number], string][]} */
const PAINTED = [
  ["red_zone", "The red zone"],
  ["drive", "The drive so far"],
  ["scrimmage", "The line of scrimmage"],
  ["to_gain", "The line to gain"],
  ["trails", "The carrier's way"],
  ["carrier", "A ring around the carrier"],
];

/** @param {Desk} desk @returns {HTMLElement[]} */
export function programSection({ air, act }) {
  const [view, tags, theme] = [Object.assign(select(VIEWS), { name: "view" }), Object.assign(select(TAGS), { name: "tags" }), select(PAINTS)];
  const boxes = PAINTED.map(([name, words]) => ({ name, ...checkbox(words) }));
  const message = el("p", { class: "muted" }, "Chosen here it is seen in the picture once it is taken.");
  const form = el(
    "form",
    { class: "grid" },
    field("View", view, "wide"),
    el("fieldset", { class: "wide" }, el("legend", {}, "Painted on the board"), boxes.map(({ label }) => label)),
    field("Name tags", tags, "wide"),
    field("Colors", theme, "wide"),
  );
  /** @param {Service.ProgramOptions} program */
  const fill = (program) => {
    [view.value, tags.value, theme.value] = [program.view, program.tags, program.theme];
    for (const { name, box } of boxes) box.checked = program.elements.includes(name);
  };
  followForm(form, air, () => fill(air.wanted.program), () => {
    const program = { view: view.value, tags: tags.value, theme: theme.value, elements: boxes.filter(({ box }) => box.checked).map(({ name }) => name) };
    return air.use({ program: /** @type {Service.ProgramOptions} */ (program) });
  }, act);
  read("api/program").catch((error) => {
    form.hidden = true; // such as without a camera
    message.textContent = errorText(error);
  });
  return [message, form];
}

/**
 * Keep a form in step with what is on air or waits; a change in it waits to be taken.
 *
 * @param {HTMLFormElement} form
 * @param {import("./producer_air.js").Air} air
 * @param {() => void} fill
 * @param {() => Promise<unknown>} use what the form says
 * @param {Desk["act"]} act
 */
function followForm(form, air, fill, use, act) {
  air.follow(fill);
  form.addEventListener("change", () => act(form, use));
  form.addEventListener("submit", (event) => event.preventDefault());
}

/** @param {Desk} desk @returns {HTMLElement[]} */
export function presetSection({ feed, air, act }) {
  const list = el("ol", { class: "list" });
  const name = el("input", { maxlength: 40, required: true, "aria-label": "Name of the preset", placeholder: "such as Halftime" });
  const keep = el("button", { type: "submit", class: "small" }, "Keep");
  const form = el("form", { class: "row keep" }, el("span", {}, "Keep what is chosen now as"), name, keep);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    act(keep, async () => {
      const { elements, style, program, presets } = air.wanted;
      const own = { name: name.value.trim(), elements, style, program };
      await send("api/on-air", { presets: [...presets.filter((one) => one.name !== own.name), own] });
      form.reset();
    });
  });
  feed.on("on_air", (now) => {
    const presets = now?.presets ?? [];
    refreshKeepingFocus(list, presets, () =>
      presets.map((preset) =>
        el(
          "li",
          {},
          el("span", { dir: "auto" }, preset.name),
          el(
            "span",
            { class: "row" },
            el("button", { type: "button", class: "small", "aria-label": `Use ${preset.name}`, onclick: ({ currentTarget }) => act(currentTarget, () => air.usePreset(preset)) }, "Use"),
            el("button", { type: "button", class: "small", "aria-label": `Remove ${preset.name}`, onclick: ({ currentTarget }) => act(currentTarget, () => send("api/on-air", { presets: air.now.presets.filter((one) => one.name !== preset.name) })) }, "✕"),
          ),
        ),
      ),
    );
  });
  return [list, form];
}
