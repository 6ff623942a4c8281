// The screen stays on while a game is in play, where the browser lets a page ask for that: over https and on the rig itself.

/** @type {?WakeLockSentinel} */
let lock = null;
let wanted = false;
let asking = false;

/** Keep the screen on from now on, or no longer. @param {boolean} on */
export function keepScreenOn(on) {
  wanted = on;
  if (!on) lock?.release().catch(() => {});
  else ask();
}

async function ask() {
  if (lock !== null || asking || document.hidden || !("wakeLock" in navigator)) return;
  asking = true;
  try {
    const got = await navigator.wakeLock.request("screen");
    lock = got;
    got.addEventListener("release", () => (lock = null));
    if (!wanted) got.release().catch(() => {});
  } catch {
    // the battery is low: it is asked for again when the page is seen again
  } finally {
    asking = false;
  }
}

/** What a person can do where pages can't keep the screen on; empty where they can. */
export const screenNote = () =>
  "wakeLock" in navigator ? "" : "Over http a browser lets the screen go dark: set this phone to keep it on, or open the panel over https.";

document.addEventListener("visibilitychange", () => wanted && ask()); // a page that was hidden has lost it
