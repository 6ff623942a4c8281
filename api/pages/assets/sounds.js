// Short tones, made here: no sound file is needed, and none has an owner.

const CUES = {
  called: [[880, 0.09], [1175, 0.16]],
  too_close: [[660, 0.12], [660, 0.12]],
  overturned: [[587, 0.12], [440, 0.22]],
  question: [[784, 0.1], [988, 0.1], [784, 0.14]],
  tap: [[1320, 0.03]],
};

const VOLUME = 0.16;

let context = null;

/** Play a cue; silent where the browser does not let a page play before it was touched. */
export function playCue(name) {
  const notes = CUES[name];
  if (notes === undefined) return;
  try {
    context ??= new AudioContext();
    if (context.state === "suspended") context.resume().catch(() => {});
    let at = context.currentTime + 0.01;
    for (const [hertz, seconds] of notes) {
      const tone = context.createOscillator();
      const volume = context.createGain();
      tone.type = "triangle";
      tone.frequency.value = hertz;
      volume.gain.setValueAtTime(0, at);
      volume.gain.linearRampToValueAtTime(VOLUME, at + 0.008);
      volume.gain.exponentialRampToValueAtTime(0.001, at + seconds);
      tone.connect(volume).connect(context.destination);
      tone.start(at);
      tone.stop(at + seconds + 0.02);
      at += seconds;
    }
  } catch {
    // a page without sound is a page all the same
  }
}

/** The cue of a call; empty for none. */
export const cueOf = (call) =>
  ["overturned", "struck"].includes(call.standing) ? "overturned" : call.verdict === "too_close" && call.standing === "open" ? "too_close" : call.verdict === "reported" ? "" : "called";
