// What the producer's page calls the elements that can be on air, and the cards.

/** @type {Record<Service.OnAirView["elements"][number], string>} */
export const ELEMENT_WORDS = {
  bug: "Score bug",
  banner: "Call banner",
  splash: "Splash",
  replay: "Replay",
  cards: "Cards",
  sponsors: "Sponsors",
  map: "Field map",
  lines: "Yellow lines",
  tags: "Name tags",
  names: "Players’ names",
};

/** In the order of a game. @type {[Service.GraphicRequest["kind"], string][]} */
export const CARD_WORDS = [
  ["message", "Message or sponsor"],
  ["lower_third", "Lower third"],
  ["starting_soon", "Starting soon"],
  ["line_up", "Starting line-up"],
  ["drive", "Drive summary"],
  ["player", "Player with statistics"],
  ["teams", "Both teams"],
  ["standings", "Standings"],
  ["review", "Under review, with the picture"],
  ["halftime", "Halftime"],
  ["final", "Final"],
];
