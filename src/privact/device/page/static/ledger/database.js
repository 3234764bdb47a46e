// The browser's database of this device: accounts, the entries of their ledgers, and what aggregators said to reports.

import { InputError } from "../core/errors.js";

const NAME = "privact";
const VERSION = 1;

export function openDatabase() {
  return new Promise((resolve, reject) => {
    const request = indexedDB.open(NAME, VERSION);
    request.onupgradeneeded = () => {
      request.result.createObjectStore("accounts", { keyPath: "key" });
      request.result.createObjectStore("entries", { keyPath: ["aggregator", "number"] });
      request.result.createObjectStore("deliveries", { keyPath: ["aggregator", "round_id"] });
    };
    request.onsuccess = () => {
      request.result.onversionchange = () => request.result.close(); // a newer page in another tab goes first
      resolve(request.result);
    };
    request.onerror = () => reject(storageError(request.error));
    request.onblocked = () => reject(new InputError("another tab of this page is in the way: close it, then reload"));
  });
}

// The key under which a ledger is kept that was lost and begun again: nothing is read from it any more.
export const asideKey = (aggregator) => `${aggregator} lost ${Date.now()}`;
export const isAside = (key) => / lost \d+$/.test(key);

// Everything of one aggregator in a store.
export const rowsOf = (aggregator) => IDBKeyRange.bound([aggregator], [aggregator, []]);

// Read rows and write others in one transaction: all of it is on disk when the promise is kept, or none of it happened.
//
// reading: [store, range] of the rows that are read first.
// work: called with these rows and the stores; runs to its end without a pause, so no other tab comes between.
export function transact(database, mode, reading, work) {
  return new Promise((resolve, reject) => {
    const transaction = database.transaction(["accounts", "entries", "deliveries"], mode, { durability: "strict" });
    const store = (name) => transaction.objectStore(name);
    let [result, failure] = [undefined, null];
    transaction.oncomplete = () => resolve(result);
    transaction.onabort = () => reject(failure ?? storageError(transaction.error));
    const request = store(reading[0]).getAll(reading[1]);
    request.onsuccess = () => {
      try {
        result = work(request.result, store);
      } catch (error) {
        failure = error;
        transaction.abort();
      }
    };
  });
}

// Keep a small text in the other storage of the browser.
export function keepText(name, text) {
  try {
    localStorage.setItem(name, text);
  } catch (error) {
    throw storageError(error);
  }
}

function storageError(error) {
  if (error?.name === "QuotaExceededError") return new InputError("this browser has no room left to remember what you send: free some space. Nothing was sent");
  return new InputError(`this browser cannot remember anything here (${error?.name ?? "unknown"}): leave private browsing, or use another browser. Nothing was sent`);
}
