// How the event's times, games and rounds are written.

const STAGES = { pool: "Pool", winners: "Winners", losers: "Losers", final: "Final", consolation: "Consolation", third_place: "Third place" };

/** "Sat 9:00" of a local time; empty for none. @param {string} iso @param {{ day?: boolean }} [options] */
export function timeText(iso, { day = true } = {}) {
  if (!iso) return "";
  const at = new Date(iso);
  const time = `${at.getHours()}:${String(at.getMinutes()).padStart(2, "0")}`;
  return day ? `${at.toLocaleDateString("en-US", { weekday: "short" })} ${time}` : time;
}

/**
 * The round a game belongs to, such as "Pool A, round 2" or "Semifinal".
 *
 * @param {Desk.MatchView} match
 * @param {Desk.MatchView[]} matches
 */
export function roundText(match, matches) {
  if (match.stage === "pool") return match.pool === "Swiss" ? `Swiss round ${match.round}` : `Pool ${match.pool}, round ${match.round}`;
  if (match.stage === "final") return match.id === "FINAL2" ? "Final, second game" : "Final";
  if (match.stage === "third_place") return "Third place";
  const rounds = matches.filter((other) => other.stage === match.stage).map((other) => other.round);
  const elimination = matches.some((other) => other.stage === "losers");
  const last = Math.max(...rounds);
  if (match.stage === "winners" && !elimination) {
    const left = last - match.round;
    if (left === 0) return "Semifinal";
    if (left === 1) return "Quarterfinal";
    return `Round ${match.round}`;
  }
  return `${STAGES[match.stage]}, round ${match.round}`;
}

/** "1st", "2nd", "3rd", ... @param {number} number */
export function ordinal(number) {
  const tail = number % 100 >= 11 && number % 100 <= 13 ? "th" : (["th", "st", "nd", "rd"][number % 10] ?? "th");
  return `${number}${tail}`;
}

/** "21–14", "21–14 OT", "forfeit"; empty while it is open. @param {Desk.MatchView} match */
export function resultText(match) {
  const { result } = match;
  if (result === null) return "";
  if (result.forfeited_by !== null) return "forfeit";
  return `${result.home}–${result.away}${result.overtime ? " OT" : ""}`;
}

/** The winning side of a game: "home", "away" or null. @param {Desk.MatchView} match @returns {?Side} */
export function winner({ result }) {
  if (result === null) return null;
  if (result.forfeited_by !== null) return result.forfeited_by === "home" ? "away" : "home";
  if (result.home === result.away) return result.overtime_winner;
  return result.home > result.away ? "home" : "away";
}

/** Games that are to be played or in play, in the order in which they begin. @param {Desk.MatchView[]} matches */
function upcoming(matches) {
  return matches
    .filter(({ state }) => state === "ready" || state === "open" || state === "in_play" || state === "stopped")
    .sort((a, b) => (a.slot ?? Infinity) - (b.slot ?? Infinity));
}

/**
 * What is played now, what should be over and is not, and what comes later. A forgotten result holds up nothing: the round of the games that were begun or
 * played last is now, or the one after it once all of its games are over.
 *
 * @param {Desk.EventView} event
 */
export function turns({ matches }) {
  const left = upcoming(matches);
  const begun = Math.max(-1, ...matches.filter(({ state, result }) => state === "in_play" || (state === "played" && result?.forfeited_by === null)).map(({ slot }) => slot ?? -1));
  const slots = [...new Set(left.map(({ slot }) => slot).filter((slot) => slot !== null))].sort((a, b) => a - b);
  const slot = slots.find((one) => one >= begun) ?? slots.at(-1) ?? null;
  const now = left.filter((match) => match.state === "in_play" || (slot === null ? match.state === "ready" : match.slot === slot));
  const overdue = left.filter((match) => slot !== null && match.slot !== null && match.slot < slot && !now.includes(match));
  return { slot, now, overdue, later: left.filter((match) => !now.includes(match) && !overdue.includes(match)) };
}
