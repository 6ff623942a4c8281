// What the tours of the start page and the panel say.

/** @type {import("./tour.js").Step[]} */
export const START_TOUR = [
  {
    part: "play",
    target: "#live",
    title: "What the camera sees",
    text: "Every base is outlined where Downfield measures it, to a fraction of a millimeter. The yellow line is the line to gain.",
  },
  {
    part: "play",
    target: "#now",
    title: "The game",
    text: "Score, down and distance follow from the calls, under your league's rulebook.",
  },
  {
    part: "play",
    target: ".calls",
    title: "The calls",
    text: "Each call says what happened, how close it was, and which rule decided it. Open its details, then the frames it was made from. One that is too close is never guessed: it asks.",
  },
  {
    part: "play",
    target: "#map",
    title: "The board from above",
    text: "Where every figure is, in field yards, and which way it faces.",
  },
  {
    part: "set-up",
    target: 'a[href="setup"]',
    title: "Your own table",
    text: "With a camera over your board, this page finds the printed field and saves the table. It takes about two minutes.",
  },
  {
    part: "set-up",
    target: "#pairing",
    title: "Your phone",
    text: "Scan a code, and the phone at the table becomes the operator's. The rig has to let the network in for that; the page says how.",
  },
  {
    part: "stream",
    target: "#overlays",
    title: "Your stream",
    text: "Score bug, calls and field for OBS: copy one address into a browser source.",
  },
  {
    part: "play",
    target: 'a[href="panel"]',
    title: "What you tap",
    text: "A camera cannot see who holds the ball at the snap, or that a pass was called. You declare it on the operator panel.",
    link: { href: "panel?tour", text: "Go on at the panel" },
  },
];

/** @type {import("./tour.js").Step[]} */
export const PANEL_TOUR = [
  {
    target: "#questions li",
    title: "It asks only what it must",
    text: "A question waits here: who has the ball, how a coin fell, or whether a call that was too close stands.",
  },
  {
    target: "#ball",
    title: "Who has the ball",
    text: "Tap the figure that gets it. While the board runs, the calls follow by themselves.",
    needs: "#ball [data-player]",
    otherwise: "Before a play you tap the figure here that gets the ball. While the board runs, the calls follow by themselves.",
  },
  {
    target: "#calls",
    title: "You have the last word",
    text: "Confirm, overturn or strike any call; everything after it is worked out again. Look at its frames first if in doubt.",
    needs: "#calls .call",
    otherwise: "Every call will stand here. You can confirm, overturn or strike each; everything after it is worked out again.",
  },
  {
    target: "#declared",
    title: "Nothing is lost",
    text: "What you tapped is listed here, and each line can be undone.",
    needs: "#declared li",
    otherwise: "What you tap will be listed here, and each line can be undone.",
  },
  {
    target: "#dock",
    cardAtTop: true,
    title: "What you declare",
    text: "Pass, set, stop, penalties, the clock: one tap each, and only what the rules allow now.",
    needs: "#dock button:enabled",
    otherwise: "Pass, set, stop, penalties, the clock will be here: one tap each, and only what the rules allow then.",
    link: { href: ".", text: "Back to the start page" },
  },
];
