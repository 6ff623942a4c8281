// Short tones, made here: no sound file is needed, and none has an owner.

/** Hertz and seconds of each tone. @type {Record<string, [number, number][]>} */
const CUES = {
  called: [[880, 0.09], [1175, 0.16]],
  too_close: [[660, 0.12], [660, 0.12]],
  overturned: [[587, 0.12], [440, 0.22]],
  question: [[784, 0.1], [988, 0.1], [784, 0.14]],
  tap: [[1320, 0.03]],
};

const VOLUME = 0.16;

/** A tone that the browser holds back this long is left out: it would sound with the next tap, and mean nothing then. */
const LATE_MS = 400;

/** @type {?AudioContext} */
let context = null;

// Browsers let a page play once it was touched, some only what was begun by a touch: an iPhone, and again after each call or lock.
for (const touch of ["click", "touchend"]) {
  addEventListener(touch, () => wake().catch(() => {}), { capture: true, passive: true });
}

/** The sound of the page, once the browser lets it play. */
async function wake() {
  context ??= new AudioContext();
  if (context.state !== "running") await context.resume();
  return context;
}

/** Play a cue; silent where the browser does not let a page play before it was touched. @param {string} name */
export async function playCue(name) {
  const notes = CUES[name];
  if (notes === undefined) return;
  const from = performance.now();
  try {
    const playing = await wake();
    if (performance.now() - from < LATE_MS) playNotes(playing, notes);
  } catch {
    // a page without sound is a page all the same
  }
}

/** @param {AudioContext} playing @param {number[][]} notes hertz and seconds of each */
function playNotes(playing, notes) {
  let at = playing.currentTime + 0.01;
  for (const [hertz, seconds] of notes) {
    const tone = playing.createOscillator();
    const volume = playing.createGain();
    tone.type = "triangle";
    tone.frequency.value = hertz;
    volume.gain.setValueAtTime(0, at);
    volume.gain.linearRampToValueAtTime(VOLUME, at + 0.008);
    volume.gain.exponentialRampToValueAtTime(0.001, at + seconds);
    tone.connect(volume).connect(playing.destination);
    tone.start(at);
    tone.stop(at + seconds + 0.02);
    at += seconds;
  }
}

/** The cue of a call; empty for none. @param {Pick<ShownCall, "standing" | "verdict">} call */
export const cueOf = (call) =>
  ["overturned", "struck"].includes(call.standing) ? "overturned" : call.verdict === "too_close" && call.standing === "open" ? "too_close" : call.verdict === "reported" ? "" : "called";
