// Keeps the page at hand without a network. With one, the newest files are always asked for; nothing but the page's own files is kept.
"use strict";
const KEPT = "privact page";
const FILES = [
  "./", "index.html", "answer.js", "client.js", "icon.svg", "manifest.webmanifest", "page.css", "take_invitation.js",
  "contacts/content_lines.js", "contacts/lines.js", "contacts/mastodon.js", "contacts/matrix_account.js",
  "contacts/plain_list.js", "contacts/read.js", "contacts/vcard.js",
  "core/address.js", "core/bins.js", "core/bytes.js", "core/degrees.js", "core/errors.js", "core/labels.js", "core/noise.js",
  "core/report.js", "core/round.js", "core/round_log.js", "core/series.js", "core/users.js",
  "ledger/amounts.js", "ledger/backup.js", "ledger/database.js", "ledger/entries.js", "ledger/home.js", "ledger/ledger.js",
  "ledger/marker.js", "ledger/rules.js",
  "vendor/noble-hashes/_blake.js", "vendor/noble-hashes/_md.js", "vendor/noble-hashes/_u64.js", "vendor/noble-hashes/blake2.js",
  "vendor/noble-hashes/utils.js", "vendor/unicode/case_folding.js",
  "view/app.js", "view/curves.js", "view/elements.js", "view/invitation.js", "view/person.js", "view/picture.js",
  "view/result_card.js", "view/round_card.js", "view/words.js",
];
const ADDRESSES = new Set(FILES.map((file) => new URL(file, self.registration.scope).href));

self.addEventListener("install", (event) => {
  const keep = async () => {
    const kept = await caches.open(KEPT);
    await kept.addAll([...ADDRESSES].map((address) => new Request(address, { cache: "no-cache" })));
    await self.skipWaiting();
  };
  event.waitUntil(keep());
});

self.addEventListener("activate", (event) => event.waitUntil(self.clients.claim()));

self.addEventListener("fetch", (event) => {
  const address = event.request.url.split(/[?#]/)[0];
  if (event.request.method === "GET" && ADDRESSES.has(address)) event.respondWith(newestOrKept(address));
});

async function newestOrKept(address) {
  const kept = await caches.open(KEPT);
  try {
    const response = await fetch(address, { cache: "no-cache", credentials: "omit" });
    if (response.ok) await kept.put(address, response.clone());
    return response.ok ? response : ((await kept.match(address)) ?? response);
  } catch (error) {
    const found = await kept.match(address);
    if (found) return found;
    throw error;
  }
}
