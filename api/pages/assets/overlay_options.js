// The options of each overlay's URL; the start page lists them from here.

import { color, number, token, word } from "./options.js";

const POSITIONS = ["top-left", "top", "top-right", "bottom-left", "bottom", "bottom-right"];

/** @param {string} first */
const position = (first) => word("place in the picture", first, ...POSITIONS.filter((place) => place !== first));

const COMMON = {
  scale: number("size", 1, 0.3, 3),
  theme: word("dark or light", "dark", "light"),
  background: color("color behind it, for mixers that key it out", "transparent"),
  key: token("token of a paired viewer, if OBS runs on another computer"),
};

export const OVERLAY_OPTIONS = {
  scorebug: {
    position: position("bottom"),
    ...COMMON,
    teams: word("short or full team names", "short", "full"),
    clock: word("game clock", "show", "hide"),
    timeouts: word("time-outs left", "show", "hide"),
    status: word("line with phase, review and camera status", "show", "hide"),
    yards: word("spot and distance in whole yards or tenths", "whole", "tenths"),
  },
  calls: {
    position: position("top"),
    ...COMMON,
    seconds: number("seconds a call stays", 8, 2, 60),
    margin: word("margin with its error, and probability", "show", "hide"),
    clause: word("rulebook clause", "text", "id", "hide"),
    sound: word("a short tone with each call", "off", "on"),
    noted: word("noted events, such as stoppages and formations", "hide", "show"),
  },
  scene: {
    position: word("place of the score bug", ...POSITIONS.filter((place) => place.startsWith("bottom")).sort()),
    ...COMMON,
    scorebug: word("score bug", "show", "hide"),
    calls: word("call banner", "show", "hide"),
    replay: word("instant replay", "show", "hide"),
    cards: word("cards", "show", "hide"),
    sponsors: word("corner of the sponsors’ logos", "top-right", "top-left", "hide"),
  },
  sponsors: {
    position: position("top-right"),
    ...COMMON,
  },
  graphics: {
    position: position("bottom-left"),
    ...COMMON,
    lift: number("pixels above its place, such as over the score bug", 0, 0, 600),
  },
  replay: {
    position: word("place in the picture", "full", ...POSITIONS),
    ...COMMON,
    caption: word("the call in words", "show", "hide"),
  },
  field: {
    position: position("bottom-right"),
    ...COMMON,
    numbers: word("figures' numbers", "show", "hide"),
    hands: word("hands over the board", "show", "hide"),
    rotate: word("rotate the field, for a camera on the other side", "no", "yes"),
  },
};
