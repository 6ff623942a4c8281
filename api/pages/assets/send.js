// Saying something to the service so that it counts once, however often a finger or the network repeats it.

/** Tries while no answer comes at all, and the waits before them: a phone that changes its access point needs one. */
const RETRY_MS = [300, 900, 2_000];

/** The longest delay the service takes account of. */
const MOST_AGO_MS = 2_000;

const KEY_BYTES = 12;

/** The service has an answer, and it is no. */
export class Refusal extends Error {
  /** @param {object} problem as RFC 9457 has it */
  constructor(problem) {
    const wrong = (problem.errors ?? []).map((one) => `${one.field}: ${one.problem}`).join("; ");
    super([problem.detail ?? problem.title ?? "refused", wrong].filter(Boolean).join(" – "));
    this.status = problem.status;
    this.code = problem.code;
  }
}

/** No answer came: it may have been taken or not. `again()` asks once more without risk of saying it twice. */
export class Unanswered extends Error {
  constructor(again) {
    super("No answer from the rig: it may have been taken or not");
    this.again = again;
  }
}

/**
 * Send a body to a path, with one idempotency key for all tries.
 *
 * @param {?number} pressed_ms when the finger came down, as `event.timeStamp` has it; told as `ago_ms`
 * @returns the answer's JSON
 * @throws Refusal, Unanswered
 */
export function send(path, body, { method = "POST", pressed_ms = null } = {}) {
  const ago_ms = pressed_ms === null ? null : Math.round(Math.max(0, performance.now() - pressed_ms));
  const said = ago_ms === null ? body : { ...body, ago_ms: Math.min(MOST_AGO_MS, ago_ms) };
  const request = {
    method,
    credentials: "same-origin",
    headers: { "Content-Type": "application/json", "Idempotency-Key": newKey() },
    body: method === "GET" || method === "DELETE" ? undefined : JSON.stringify(said),
  };
  const attempt = async () => {
    for (const wait_ms of [...RETRY_MS, null]) {
      try {
        return await answered(await fetch(path, request));
      } catch (error) {
        if (error instanceof Refusal) throw error;
        if (wait_ms === null) throw new Unanswered(attempt);
        await new Promise((resolve) => setTimeout(resolve, wait_ms));
      }
    }
  };
  return attempt();
}

async function answered(response) {
  const text = await response.text();
  const body = text && /json/.test(response.headers.get("content-type") ?? "") ? JSON.parse(text) : {};
  if (!response.ok) throw new Refusal({ status: response.status, title: response.statusText, ...body });
  return body;
}

/** A key nobody else has; by getRandomValues, since randomUUID is missing on a page without TLS. */
function newKey() {
  const bytes = crypto.getRandomValues(new Uint8Array(KEY_BYTES));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
