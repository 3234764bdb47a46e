// The marker beside a ledger: how far it had come, in another storage of the browser than the ledger itself.

import { keepText } from "./database.js";

const PREFIX = "privact ledger ";
const name = (key) => PREFIX + key;

// The keys of all ledgers that have a marker.
export const markedKeys = () => Object.keys(localStorage).filter((each) => each.startsWith(PREFIX)).map((each) => each.slice(PREFIX.length));

// ledger: its id. entries: how many there are. head: the link of the last. Null if there is no marker, or none that can be read.
export function readMarker(key) {
  try {
    const { ledger, entries, head } = JSON.parse(localStorage.getItem(name(key)));
    return Number.isInteger(entries) && entries > 0 ? { ledger, entries, head } : null;
  } catch {
    return null;
  }
}

export const writeMarker = (key, marker) => keepText(name(key), JSON.stringify(marker));

export const removeMarker = (key) => localStorage.removeItem(name(key));
