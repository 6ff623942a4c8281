// Numbers and names as people say them.

const ORDINALS = ["1st", "2nd", "3rd", "4th"];

export const ordinal = (number) => ORDINALS[number - 1] ?? `${number}th`;

/** "field_goal" as "field goal". */
export const plain = (name) => name.replaceAll("_", " ");

export const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);

/** Yards to go: "goal", "inches", "7"; to a tenth when asked for. */
export function distance(game, tenths = false) {
  if (game.goal_to_go) return "goal";
  if (game.distance_yd < 0.5) return "inches";
  return tenths ? String(Math.round(10 * game.distance_yd) / 10) : String(Math.max(1, Math.round(game.distance_yd)));
}

/** "2nd & 7", or the kick that is due. */
export function downAndDistance(game, tenths = false) {
  if (game.phase === "over") return "final";
  if (game.due !== "scrimmage") return plain(game.due);
  return `${ordinal(game.down)} & ${distance(game, tenths)}`;
}

/** A spot as given, "B 34.2", or on the whole yard, "B 34"; never yard 0. */
export function spot(text, tenths = false) {
  return tenths ? text : text.replace(/\d+(\.\d+)?/, (yards) => String(Math.max(1, Math.round(Number(yards)))));
}

/** Seconds as "4:07", and below a minute as "0:42.3" while somebody counts them. */
export function clockText(seconds) {
  const whole = Math.max(0, Math.ceil(seconds - 1e-9));
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, "0")}`;
}

/** Which period it is: "Q2", "OT" after the last; halves where there are two. */
export function periodText(period, periods = 4) {
  if (period > periods) return period === periods + 1 ? "OT" : `OT${period - periods}`;
  return periods === 2 ? `H${period}` : `Q${period}`;
}

export const percent = (share) =>
  share > 0.99 && share < 1 ? ">99 %" : share < 0.01 && share > 0 ? "<1 %" : `${Math.round(100 * share)} %`;

/** A margin as "+0.31 mm"; a count without decimals. */
export function withUnit(value, unit) {
  const digits = unit === "count" ? 0 : unit === "deg" ? 1 : 2;
  const sign = value < 0 ? "−" : "+";
  return `${sign}${Math.abs(value).toFixed(digits)}${unit && unit !== "count" ? ` ${unit === "deg" ? "°" : unit}` : ""}`;
}

/** What a call is, in one or two words, for the tab over it. */
export function verdictText(call) {
  const ruled = { confirmed: "confirmed", overturned: "overturned", manual: "by hand", gone: "withdrawn" }[call.standing];
  if (ruled) return ruled;
  return { called: "call", too_close: "too close to call", proposed: "proposed", reported: "noted" }[call.verdict];
}

/** A roster id as it is said: "dark 28". */
export const player = (id) => (id ? id.replace("-", " ") : "nobody");

/** A call's text with roster ids as they are said, and without the verdict that is shown beside it. */
export const spoken = (text) => text.replace(/^too close to call: /, "").replace(/\b(dark|light)-(\d+)/g, "$1 $2");
