// Requests that count once, however often a finger or the network repeats them.

import { offerPairing } from "./dom.js";

/** Wait before a read, or a request to judge a game, is repeated. */
const AGAIN_MS = 2_000;

/** Waits before each retry while no answer comes at all: a phone that changes its access point needs one. */
const RETRY_MS = [300, 900, AGAIN_MS];

/** The longest delay the service accepts: a day. */
const MAX_AGO_MS = 86_400_000;

/** No answer in this time is none: a network that is gone refuses nothing. */
const ANSWER_MS = 8_000;

/** What is only read may take this long, and is then read again. */
const READ_MS = 120_000;

/** Judging a game again is answered in this time, if only with a request to come back. */
const JUDGED_MS = 150_000;

/** After this time the user is shown that the rig is busy. */
const SLOW_MS = 4_000;

/** The service does not know the device. */
export const UNPAIRED = 401;

/** The service answers that it can't do it now. */
const BUSY = new Set([429, 503]);

const KEY_BYTES = 12;

/**
 * What is wrong with a request, as in RFC 9457.
 *
 * @typedef {{ status?: number, code?: string, title?: string, detail?: string, errors?: { field: string, problem: string }[] }} Problem
 */

/** The service answered that it refuses the request. */
export class RefusedError extends Error {
  /** @param {Problem} problem */
  constructor(problem) {
    const fields = (problem.errors ?? []).map(({ field, problem: text }) => `${field}: ${text}`).join("; ");
    super([problem.detail ?? problem.title ?? "Request refused.", fields].filter(Boolean).join(" – "));
    this.status = problem.status ?? 0;
    this.code = problem.code;
  }
}

/** No answer came; the request may have been accepted. `retry()` sends it again without risk of its counting twice. */
export class NoResponseError extends Error {
  /** @param {?(() => Promise<any>)} retry null where there is none */
  constructor(retry) {
    super("The rig does not answer. It may have received your input.");
    this.retry = retry;
  }
}

/**
 * An error as text for a person: of the service, of the network, or a fault of the page itself, which is reported to the browser.
 *
 * @param {unknown} error
 */
export function errorText(error) {
  if (error instanceof RefusedError) return error.message;
  if (error instanceof NoResponseError) return "The rig does not answer. Try again.";
  reportError(error); // or it would be in no log
  return `This page has a fault: ${messageOf(error)}. Load it again.`;
}

/** What an error says. @param {unknown} error */
export const messageOf = (error) => (error instanceof Error ? error.message : String(error));

/** Fetch something once, however long it takes. @param {string} path @param {RequestInit} [request] @throws NoResponseError */
export async function fetchOnce(path, request = {}) {
  try {
    return await fetch(path, { credentials: "same-origin", ...request });
  } catch {
    throw new NoResponseError(null);
  }
}

/**
 * Read something, however long it takes and however often the network is gone meanwhile.
 *
 * @param {ShowMessage} [onWait] receives what to show meanwhile
 * @param {string} path
 * @returns {Promise<any>} the response's JSON; the caller names the service's model of it
 * @throws RefusedError
 */
export async function read(path, onWait = () => {}) {
  for (;;) {
    const slow = setTimeout(() => onWait("The rig is busy. Still loading…"), SLOW_MS);
    try {
      return await readResponse(await fetch(path, { credentials: "same-origin", signal: AbortSignal.timeout(READ_MS) }));
    } catch (error) {
      if (error instanceof RefusedError && !BUSY.has(error.status)) throw error;
      onWait(error instanceof RefusedError ? `${error.message} Trying again…` : "The rig does not answer. Trying again…");
      await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
    } finally {
      clearTimeout(slow);
    }
  }
}

/**
 * Send a body to a path, with one idempotency key for all attempts.
 *
 * @param {string} path
 * @param {any} body by the service's model of it; null for none
 * @param {object} options
 * @param {string} [options.method]
 * @param {?number} [options.pressed_ms] when the finger came down, from `event.timeStamp`; sent as `ago_ms`, as long ago as it is then
 * @param {string} [options.key] of all attempts, where there were some before
 * @param {number[]} [options.retries] waits before each retry
 * @param {number} [options.answer_ms] how long each attempt waits for its answer
 * @param {Record<string, string>} [options.headers] more headers
 * @returns {Promise<any>} the response's JSON; the caller names the service's model of it
 * @throws RefusedError, NoResponseError
 */
export function send(path, body, { method = "POST", pressed_ms = null, key = newKey(), retries = RETRY_MS, answer_ms = ANSWER_MS, headers = {} } = {}) {
  /** @type {RequestInit} */
  const request = {
    method,
    credentials: "same-origin",
    headers: { ...headers, "Content-Type": "application/json", "Idempotency-Key": key },
  };
  // Each attempt computes how long ago the finger came down, or a repeated one would be dated late.
  const content = () => (pressed_ms === null ? body : { ...body, ago_ms: millisecondsSince(pressed_ms) });
  /** @returns {Promise<any>} */
  const attempt = async () => {
    for (let attempts = 0; ; attempts += 1) {
      const sent = method === "GET" || method === "DELETE" ? undefined : JSON.stringify(content());
      try {
        return await readResponse(await fetch(path, { ...request, body: sent, signal: AbortSignal.timeout(answer_ms) }));
      } catch (error) {
        if (error instanceof RefusedError) throw error;
        if (attempts >= retries.length) throw new NoResponseError(attempt);
        await new Promise((resolve) => setTimeout(resolve, retries[attempts]));
      }
    }
  };
  return attempt();
}

/**
 * Send what makes the rig judge a game again, which may take minutes: its answer is waited for, and while the rig is too
 * busy it is sent again, as the same request.
 *
 * @param {(text: string) => unknown} onWait receives what to show meanwhile; returns false to give up
 * @param {string} path
 * @param {object} body
 * @throws RefusedError, NoResponseError
 * @returns {Promise<any>} the response's JSON
 */
export async function sendAndWait(path, body, onWait) {
  const key = newKey();
  for (;;) {
    try {
      return await send(path, body, { key, answer_ms: JUDGED_MS });
    } catch (error) {
      if (!(error instanceof RefusedError && BUSY.has(error.status)) || onWait("The game is still being judged…") === false) throw error;
      await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
    }
  }
}

/** @param {number} pressed_ms */
function millisecondsSince(pressed_ms) {
  return Math.min(MAX_AGO_MS, Math.round(Math.max(0, performance.now() - pressed_ms)));
}

/** @param {Response} response */
async function readResponse(response) {
  const text = await response.text();
  const body = text && /json/.test(response.headers.get("content-type") ?? "") ? JSON.parse(text) : {};
  if (response.status === UNPAIRED) offerPairing();
  if (!response.ok) throw new RefusedError({ status: response.status, title: response.statusText, ...body });
  return body;
}

/** Offer pairing at the top of the page where this device is not paired; nothing while the rig does not answer. */
export function offerPairingIfNeeded() {
  send("api/session", null, { method: "GET" }).then(({ role }) => role === null && offerPairing(), () => {});
}

/** A random key; by getRandomValues, since randomUUID is missing on a page without TLS. */
export function newKey() {
  const bytes = crypto.getRandomValues(new Uint8Array(KEY_BYTES));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
