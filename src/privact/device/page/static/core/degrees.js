// Exact degree vector: contacts + round -> how many contacts fall in each bin. It never leaves this device.

import { binOf, checkTable } from "./bins.js";
import { normaliseUserId } from "./users.js";

// The number of a user's contacts in each bin: one contact more or less changes one entry by one.
//
// contacts: ids in any spelling; one who is listed twice counts once.
// owner: the user's own id; nobody is their own contact.
export function degreeVector(contacts, round, owner, table = null) {
  checkTable(round, table);
  const distinct = new Set(contacts.map(normaliseUserId));
  distinct.delete(normaliseUserId(owner));
  const counts = new Array(round.nBins).fill(0);
  for (const contact of distinct) {
    const bin = binOf(contact, round, table);
    if (bin >= 0) counts[bin] += 1;
  }
  return counts;
}
