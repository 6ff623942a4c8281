// Numbers, names and times as text for people.

/** Both sides, as pairs of numbers in the service's answers have them. @type {readonly Side[]} */
export const SIDES = ["home", "away"];

/** Both sides as they are shown: "away at home". @type {readonly Side[]} */
export const AWAY_FIRST = ["away", "home"];

/** The other side. @param {Side} side @returns {Side} */
export const opponent = (side) => (side === "home" ? "away" : "home");

const ORDINALS = ["1st", "2nd", "3rd", "4th"];

/** Capture times above this are ns since 1970; below, ns since the start of a recording. */
const WALL_CLOCK_NS = 1e17;

/** @param {number} number */
export const ordinal = (number) => ORDINALS[number - 1] ?? `${number}th`;

/** "field_goal" as "field goal". @param {string} name */
export const humanize = (name) => name.replaceAll("_", " ");

/** @param {string} text */
export const capitalize = (text) => text.charAt(0).toUpperCase() + text.slice(1);

/** A text that somebody entered as a whole sentence, however it ends. @param {string} text */
export const sentence = (text) => capitalize(text.trim()).replace(/[^.!?…。]$/u, "$&.");

/** A number with what it counts: "1 play", "2 plays", "0 plays". @param {number} number @param {string} noun */
export const counted = (number, noun) => `${number} ${noun}${number === 1 ? "" : "s"}`;

/**
 * Yards to go: "goal", "inches", "7"; to a tenth of a yard on request.
 *
 * @param {Pick<Service.GameView, "goal_to_go" | "distance_yd">} game
 * @param {boolean} [tenths]
 */
export function formatDistance(game, tenths = false) {
  if (game.goal_to_go) return "goal";
  if (game.distance_yd < 0.5) return "inches";
  return tenths ? String(Math.round(10 * game.distance_yd) / 10) : String(Math.max(1, Math.round(game.distance_yd)));
}

/**
 * "2nd & 7", or the kick that comes next.
 *
 * @param {Pick<Service.GameView, "phase" | "due" | "down" | "goal_to_go" | "distance_yd">} game
 * @param {boolean} [tenths]
 */
export function downAndDistance(game, tenths = false) {
  if (game.phase === "over") return "final";
  if (game.due !== "scrimmage") return humanize(game.due);
  return `${ordinal(game.down)} & ${formatDistance(game, tenths)}`;
}

/** Who won an overtime that the score does not show, such as "Oakdale wins in overtime"; empty for none. @param {string} text the game on one line */
export const overtimeWinner = (text) => /\| [^|]*final, ([^|]* wins in overtime)/.exec(text)?.[1] ?? "";

/** A spot to a tenth of a yard, "B 34.2", or to the yard, "B 34"; never yard 0. @param {string} text @param {boolean} [tenths] */
export function formatSpot(text, tenths = false) {
  return tenths ? text : text.replace(/\d+(\.\d+)?/, (yards) => String(Math.max(1, Math.round(Number(yards)))));
}

/** Seconds left on a clock as "4:07". @param {number} seconds */
export function formatClock(seconds) {
  const whole = Math.max(0, Math.ceil(seconds - 1e-9));
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, "0")}`;
}

/** A capture time: the time of day with a live camera, "0:12.43 into the recording" with a recording. @param {number} t_ns */
export function formatTime(t_ns) {
  if (t_ns > WALL_CLOCK_NS) {
    return new Date(t_ns / 1e6).toLocaleTimeString("en-US", { hour: "numeric", minute: "2-digit", second: "2-digit", fractionalSecondDigits: 2 });
  }
  const seconds = t_ns / 1e9;
  return `${Math.floor(seconds / 60)}:${(seconds % 60).toFixed(2).padStart(5, "0")} into the recording`;
}

/** The period: "Q2", "OT" after the last one; "H1" where there are halves. @param {number} period @param {number} [periods] of the game */
export function formatPeriod(period, periods = 4) {
  if (period > periods) return period === periods + 1 ? "OT" : `OT${period - periods}`;
  return periods === 2 ? `H${period}` : `Q${period}`;
}

/** A probability in percent; never 100% or 0%: one that a number rounds to 1 was measured all the same. @param {number} share */
export const formatPercent = (share) => (share > 0.99 ? ">99%" : share < 0.01 ? "<1%" : `${Math.round(100 * share)}%`);

/** A call's verdict in one or two words; a ruling replaces it. @param {Pick<ShownCall, "standing" | "verdict">} call */
export function formatVerdict(call) {
  return STANDINGS[call.standing] ?? VERDICTS[call.verdict];
}

/** @type {Partial<Record<ShownCall["standing"], string>>} */
const STANDINGS = { confirmed: "confirmed", overturned: "overturned", struck: "struck", manual: "by hand", withdrawn: "withdrawn" };

const VERDICTS = { called: "call", too_close: "too close to call", proposed: "proposed", reported: "noted" };

const RULED = { confirm: "Confirmed", overturn: "Overturned", strike: "Removed", manual: "Called" };

/** A person's ruling on a call: "Overturned by Ann: seen on the film". @param {Service.RulingView} ruling */
export const formatRuling = ({ decision, by, note, replaced }) => `${RULED[decision]} by ${by}${replaced ? ", who called this instead" : ""}${note ? `: ${note}` : ""}`;

/** @type {Partial<Record<Service.Player["jersey"], { name: string, short: string }>>} by the color that the camera sees */
let teamOf = {};

/** From now on figures are called by their teams' names. @param {Service.GameView} game */
export const nameTeams = ({ home, away }) => (teamOf = { [home.jersey]: home, [away.jersey]: away });

/** The same for a game that is looked back at. @param {Service.ReviewedGame} game */
export function nameSides({ home, away, dark }) {
  if (!dark) return;
  const [first, second] = dark === "home" ? [home, away] : [away, home];
  teamOf = { dark: { name: first, short: first }, light: { name: second, short: second } };
}

/** A longer name leaves no room for what is said of it. */
const LONG_NAME = 16;

/** A team's name as it is called, or its jersey as long as none is known. @param {string} jersey */
function teamName(jersey) {
  const team = teamOf[/** @type {Service.Player["jersey"]} */ (jersey)];
  return team === undefined ? jersey : team.name.length > LONG_NAME ? team.short : team.name;
}

/** A roster id as a name: "Oakdale 28". @param {string} id */
export const formatPlayer = (id) => id.replace(/^(dark|light)-/, (_, jersey) => `${teamName(jersey)} `).replace("-", " ");

/** What of a roster id tells a figure from others of its jersey: "28" of "dark-28". @param {string} id */
const idTail = (id) => id.replace(/^[^-]*-/, "");

/**
 * A figure's number as it is shown beside others; of two with one number each has what tells its id from the other's.
 *
 * @param {Pick<Service.Player, "id" | "jersey" | "number">} player
 * @param {readonly Pick<Service.Player, "id" | "jersey" | "number">[]} players
 */
export function formatNumber(player, players) {
  /** @param {Pick<Service.Player, "id" | "number">} one */
  const numberOf = ({ id, number }) => number || idTail(id);
  const [own, tail] = [numberOf(player), idTail(player.id)];
  const isShared = players.some((other) => other.id !== player.id && other.jersey === player.jersey && numberOf(other) === own);
  return !isShared || tail === own ? own : tail.startsWith(own) ? tail : `${own} (${tail})`;
}

/** A call's text with names for roster ids, and without the verdict that is shown beside it. @param {string} text */
export const formatCallText = (text) => text.replace(/^too close to call: /, "").replace(/\b(dark|light)[- ](\d+)/g, (_, jersey, number) => `${teamName(jersey)} ${number}`);
