// The kinds of calls that a person makes, the common ones first.

import { capitalize, humanize } from "./format.js";

const KINDS = [
  "tackle", "out_of_bounds", "touchdown", "first_down", "incomplete", "reception", "interception", "down_by_fall",
  "fumble", "sack", "stopped", "safety", "touchback", "field_goal", "extra_point", "two_point", "turnover_on_downs",
  "penalty",
];

/**
 * Kinds as options; one more than these where it is given.
 *
 * @param {?string} [more]
 * @returns {import("./panel_fields.js").SelectOption[]}
 */
export const kindOptions = (more = null) => [...(more === null || KINDS.includes(more) ? [] : [more]), ...KINDS].map((name) => [name, capitalize(humanize(name))]);

/** What a call of a kind says, in favor of a team or of none. @param {string} kind @param {string} [team] */
export const kindText = (kind, team = "") => `${capitalize(humanize(kind))}${team && `, ${team}`}`;
