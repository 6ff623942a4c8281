// What can be asked of each overlay in its URL; the start page lists them from here.

import { color, number, token, word } from "/assets/options.js";

const PLACES = ["top-left", "top", "top-right", "bottom-left", "bottom", "bottom-right"];

const placed = (first) => word("where on the picture", first, ...PLACES.filter((place) => place !== first));

const COMMON = {
  scale: number("size", 1, 0.3, 3),
  theme: word("dark or light plates", "dark", "light"),
  background: color("behind everything, for mixers that key a color out", "transparent"),
  key: token("the token of a paired viewer, where OBS runs on another computer"),
};

export const OVERLAY_OPTIONS = {
  scorebug: {
    position: placed("bottom"),
    ...COMMON,
    teams: word("short or full names", "short", "full"),
    clock: word("the game clock", "show", "hide"),
    timeouts: word("time-outs left", "show", "hide"),
    status: word("the line about phase, review and camera", "show", "hide"),
    yards: word("spot and distance on whole yards or to a tenth", "whole", "tenths"),
  },
  calls: {
    position: placed("top"),
    ...COMMON,
    seconds: number("how long a call stays", 8, 2, 60),
    measure: word("margin, error and how sure it is", "show", "hide"),
    clause: word("the clause that decided", "text", "id", "hide"),
    noted: word("what is only noted, such as stoppages and formations", "hide", "show"),
  },
  field: {
    position: placed("bottom-right"),
    ...COMMON,
    numbers: word("the figures' numbers", "show", "hide"),
    hands: word("hands over the board", "show", "hide"),
    turn: word("turn the field round, for a camera on the other side", "no", "yes"),
  },
};
