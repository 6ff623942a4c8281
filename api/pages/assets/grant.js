// How a phone is let in by a tournament's desk: an invitation, opened once with a key that never leaves the phone; and passes, used with a proof by that key.

const INVITATION = "dfi1.";
const PASS = "dfp1.";
const CURVE = { name: "ECDSA", namedCurve: "P-256" };
const SIGNING = { name: "ECDSA", hash: "SHA-256" };

/** @param {string} text */
export const isInvitation = (text) => text.startsWith(INVITATION);

/** @param {string} text */
export const isPass = (text) => text.startsWith(PASS);

/** @param {ArrayBuffer | Uint8Array} bytes */
const encode = (bytes) => btoa(String.fromCodePoint(...new Uint8Array(bytes))).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");

/** The phone's key pair at this desk, made once and kept in its browser, from which nothing can read the private key. @returns {Promise<CryptoKeyPair>} */
async function deviceKey() {
  if (!globalThis.crypto?.subtle) throw new Error("This browser makes keys on https pages only. Open the desk by its https address: the director starts it with --tls.");
  const base = await opened(indexedDB.open("downfield", 1), (request) => request.result.createObjectStore("keys"));
  const known = await opened(base.transaction("keys").objectStore("keys").get("device"));
  if (known) return known;
  const made = await crypto.subtle.generateKey(CURVE, false, ["sign"]);
  await opened(base.transaction("keys", "readwrite").objectStore("keys").put(made, "device"));
  return made;
}

/**
 * @template T
 * @param {IDBRequest<T>} request
 * @param {(request: IDBRequest<any>) => void} [upgrade]
 * @returns {Promise<T>}
 */
const opened = (request, upgrade = () => {}) =>
  new Promise((resolve, reject) => {
    if (request instanceof IDBOpenDBRequest) request.onupgradeneeded = () => upgrade(request);
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });

/** The public key of this phone, as the desk takes it. */
export async function holder() {
  return encode(await crypto.subtle.exportKey("raw", (await deviceKey()).publicKey));
}

/** A pass with this phone's proof, which its rig takes once. @param {string} given @param {string} rig */
export async function withProof(given, rig) {
  const text = new TextEncoder();
  const proof = encode(text.encode(JSON.stringify({ rig, at_ms: Date.now() })));
  const signed = text.encode(`downfield.proof\n${given.slice(PASS.length)}.${proof}`);
  const signature = await crypto.subtle.sign(SIGNING, (await deviceKey()).privateKey, signed);
  return `${given}.${proof}.${encode(signature)}`;
}
