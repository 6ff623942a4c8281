// Keeps the panel's files on the device, so that the page opens where no network is. BUILD and FILES are filled in by the
// service: with another build all files are fetched again, and a page never mixes those of two builds.

const BUILD = "BUILD_ID";
/** @type {string[]} */
const FILES = [];

/** What this script runs as, which the compiler takes for a worker of another kind. */
const worker = /** @type {ServiceWorkerGlobalScope} */ (/** @type {unknown} */ (self));

const PREFIX = "downfield-panel-";
const CACHE = PREFIX + BUILD;

/** A network that has not answered by then is no network. */
const ANSWER_MS = 3_000;

/** Once the page came from the cache, its files come from there as well. */
const SAME_LOAD_MS = 15_000;

const kept = new Set(FILES.map((file) => new URL(file, location.href).pathname));
let offlineAt = -Infinity;

worker.addEventListener("install", (event) => {
  const requests = FILES.map((file) => new Request(file, { cache: "no-cache" }));
  event.waitUntil(caches.open(CACHE).then((cache) => cache.addAll(requests)).then(() => worker.skipWaiting()));
});

worker.addEventListener("activate", (event) => {
  /** @param {string} name */
  const old = (name) => name.startsWith(PREFIX) && name !== CACHE;
  event.waitUntil(caches.keys().then((names) => Promise.all(names.filter(old).map((name) => caches.delete(name)))).then(() => worker.clients.claim()));
});

worker.addEventListener("fetch", (event) => {
  const { request } = event;
  if (request.method === "GET" && kept.has(new URL(request.url).pathname)) event.respondWith(answer(request));
});

/** A file from the network, or from the cache where no network answers. @param {Request} request */
async function answer(request) {
  const cached = await (await caches.open(CACHE)).match(request, { ignoreSearch: true });
  if (cached !== undefined && performance.now() - offlineAt < SAME_LOAD_MS) return cached;
  try {
    return await fetch(request, { signal: AbortSignal.timeout(ANSWER_MS) });
  } catch (error) {
    if (cached === undefined) throw error;
    offlineAt = performance.now();
    return cached;
  }
}
