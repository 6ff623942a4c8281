// Numbers, names and times as text for people.

const ORDINALS = ["1st", "2nd", "3rd", "4th"];

/** Capture times above this are ns since 1970; below, ns since the start of a recording. */
const WALL_CLOCK_NS = 1e17;

export const ordinal = (number) => ORDINALS[number - 1] ?? `${number}th`;

/** "field_goal" as "field goal". */
export const humanize = (name) => name.replaceAll("_", " ");

export const capitalize = (text) => text.charAt(0).toUpperCase() + text.slice(1);

/** A number with what it counts: "1 play", "2 plays", "0 plays". */
export const counted = (number, noun) => `${number} ${noun}${number === 1 ? "" : "s"}`;

/** Yards to go: "goal", "inches", "7"; to a tenth of a yard on request. */
export function formatDistance(game, tenths = false) {
  if (game.goal_to_go) return "goal";
  if (game.distance_yd < 0.5) return "inches";
  return tenths ? String(Math.round(10 * game.distance_yd) / 10) : String(Math.max(1, Math.round(game.distance_yd)));
}

/** "2nd & 7", or the kick that comes next. */
export function downAndDistance(game, tenths = false) {
  if (game.phase === "over") return "final";
  if (game.due !== "scrimmage") return humanize(game.due);
  return `${ordinal(game.down)} & ${formatDistance(game, tenths)}`;
}

/** A spot to a tenth of a yard, "B 34.2", or to the yard, "B 34"; never yard 0. */
export function formatSpot(text, tenths = false) {
  return tenths ? text : text.replace(/\d+(\.\d+)?/, (yards) => String(Math.max(1, Math.round(Number(yards)))));
}

/** Seconds left on a clock as "4:07". */
export function formatClock(seconds) {
  const whole = Math.max(0, Math.ceil(seconds - 1e-9));
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, "0")}`;
}

/** A capture time: the time of day with a live camera, "0:12.43 into the recording" with a recording. */
export function formatTime(t_ns) {
  if (t_ns > WALL_CLOCK_NS) {
    return new Date(t_ns / 1e6).toLocaleTimeString("en-US", { hour: "numeric", minute: "2-digit", second: "2-digit", fractionalSecondDigits: 2 });
  }
  const seconds = t_ns / 1e9;
  return `${Math.floor(seconds / 60)}:${(seconds % 60).toFixed(2).padStart(5, "0")} into the recording`;
}

/** The period: "Q2", "OT" after the last one; "H1" where there are halves. */
export function formatPeriod(period, periods = 4) {
  if (period > periods) return period === periods + 1 ? "OT" : `OT${period - periods}`;
  return periods === 2 ? `H${period}` : `Q${period}`;
}

/** A probability in percent; never 100% or 0%: one that a number rounds to 1 was measured all the same. */
export const formatPercent = (share) => (share > 0.99 ? ">99%" : share < 0.01 ? "<1%" : `${Math.round(100 * share)}%`);

/** A call's verdict in one or two words; a ruling replaces it. */
export function formatVerdict(call) {
  const ruled = { confirmed: "confirmed", overturned: "overturned", struck: "struck", manual: "by hand", withdrawn: "withdrawn" }[call.standing];
  if (ruled) return ruled;
  return { called: "call", too_close: "too close to call", proposed: "proposed", reported: "noted" }[call.verdict];
}

const RULED = { confirm: "Confirmed", overturn: "Overturned", strike: "Removed", manual: "Called" };

/** A person's ruling on a call: "Overturned by Ann: seen on the film". */
export const formatRuling = ({ decision, by, note }) => `${RULED[decision] ?? capitalize(decision)} by ${by}${note ? `: ${note}` : ""}`;

/** A roster id as a name: "dark 28". */
export const formatPlayer = (id) => id.replace("-", " ");

/** A call's text with names for roster ids, and without the verdict that is shown beside it. */
export const formatCallText = (text) => text.replace(/^too close to call: /, "").replace(/\b(dark|light)-(\d+)/g, "$1 $2");
