const start_ms = Date.now() - performance.now();

/** This device's time, ms since 1970 as its clock was when the page was loaded: setting the clock later moves nothing. */
export function steadyNow() {
  return start_ms + performance.now();
}
