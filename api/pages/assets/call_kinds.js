// The kinds of calls that a person makes, the common ones first.

import { capitalize, humanize } from "./format.js";

const KINDS = [
  "tackle", "out_of_bounds", "touchdown", "first_down", "incomplete", "reception", "interception", "down_by_fall",
  "fumble", "sack", "stopped", "safety", "touchback", "field_goal", "extra_point", "two_point", "turnover_on_downs",
  "penalty",
];

/** Kinds as options [value, text]; one more than these where it is given. */
export const kindOptions = (more = null) => [...(more === null || KINDS.includes(more) ? [] : [more]), ...KINDS].map((name) => [name, capitalize(humanize(name))]);

/** What a call of a kind says, in favor of a team or of none. */
export const kindText = (kind, team = "") => `${capitalize(humanize(kind))}${team && `, ${team}`}`;
