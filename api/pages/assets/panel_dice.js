// The dice for each purpose (see docs/dice.md), so that results can be tapped instead of typed.

const D6x2 = { dice: [6, 6] };
const D10 = { dice: [10] };
const PERCENTILE = { low: 1, high: 100 };

/** By purpose; only the kicks differ between rulebooks. */
const BY_PURPOSE = {
  onside_length: D6x2,
  onside_place: D6x2,
  field_goal: D6x2,
  extra_point: D6x2,
  kickoff: D6x2,
  punt: D6x2,
  kicker: { dice: [10, 10] },
  punter: { dice: [10, 10] },
  punt_length: { dice: [10, 10, 10, 10] },
  pass: PERCENTILE,
  pitch: PERCENTILE,
  injury_downs: { dice: [10, 10] },
  injury_games: D10,
  fumble: PERCENTILE,
  fumble_return: PERCENTILE,
  interception_return: PERCENTILE,
  review: PERCENTILE,
};

/** Kicks under Lion's Den. */
const LIONS_DEN = {
  kickoff: { dice: [10, 10, 10, 10] },
  punt: PERCENTILE,
  field_goal: PERCENTILE,
  extra_point: PERCENTILE,
};

/** `{dice: sides}`, `{low, high}` for one number, or null if any dice are accepted. */
export function diceFor(system, purpose) {
  if (/^career_/.test(purpose)) return { dice: [4] };
  if (/^quarterback_/.test(purpose)) return { dice: [10, 10] };
  const table = system === "lions-den" ? { ...BY_PURPOSE, ...LIONS_DEN } : BY_PURPOSE;
  return table[purpose] ?? null;
}
