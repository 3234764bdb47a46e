// A ledger as a file: to keep it safe, or to go on in another browser.
//
// A backup that is older than what this browser wrote is refused: it would forget what was spent.

import { aggregatorAddress } from "../core/address.js";
import { InputError, LedgerError } from "../core/errors.js";
import { userDigest } from "../core/users.js";
import { toHex } from "../core/bytes.js";
import { rowsOf, transact } from "./database.js";
import { readBook } from "./entries.js";
import { readMarker, writeMarker } from "./marker.js";

const FORMAT = "PrivaCT ledger";
const VERSION = 1;

// The backup of an account as text: the account with its token, every entry, and what the aggregator said.
export async function exportLedger(database, account) {
  const rows = (name) => transact(database, "readonly", [name, rowsOf(account.key)], (found) => found.map(({ aggregator, ...row }) => row));
  const entries = await rows("entries");
  readBook(entries);
  return JSON.stringify({ format: FORMAT, version: VERSION, account, entries, deliveries: await rows("deliveries") }, null, 1);
}

// Take over a backup; gives its account.
export async function importLedger(database, text) {
  const { account, entries, deliveries, book } = readBackup(text);
  await transact(database, "readwrite", ["entries", rowsOf(account.key)], (rows, store) => {
    const marker = readMarker(account.key);
    const extendsRows = rows.every((row, place) => row.link === entries[place]?.link);
    const extendsMarker = !marker || (marker.ledger === book.id && book.links[marker.entries - 1] === marker.head);
    const damaged = rows.length > 0 && !isSound(rows);
    if (!(extendsRows || damaged) || !extendsMarker) throw new InputError("this backup is older than what this browser remembers: nothing was changed");
    for (const row of rows) store("entries").delete([row.aggregator, row.number]);
    for (const entry of entries) store("entries").add({ ...entry, aggregator: account.key });
    for (const row of deliveries) store("deliveries").put({ ...row, aggregator: account.key });
    store("accounts").put(account);
  });
  writeMarker(account.key, { ledger: book.id, entries: book.nEntries, head: book.head });
  return account;
}

function readBackup(text) {
  let told;
  try {
    told = JSON.parse(text);
  } catch {
    throw new InputError("this is not a backup of this page: choose the file that it saved");
  }
  if (told?.format !== FORMAT || told.version !== VERSION || !Array.isArray(told.entries) || !Array.isArray(told.deliveries)) {
    throw new InputError("this is not a backup of this page: choose the file that it saved");
  }
  const book = readBook(told.entries);
  const { url, user, token } = told.account ?? {};
  const address = aggregatorAddress(String(url));
  if (book.aggregator !== address.key || book.user !== user || !String(token).startsWith(`${toHex(userDigest(user))}.`)) {
    throw new LedgerError("this backup is damaged: its parts do not belong together");
  }
  const deliveries = told.deliveries.map(({ round_id, outcome, told: when }) => ({ round_id: String(round_id), outcome: String(outcome), told: Number(when) }));
  const log = told.account.log ?? null;
  if (log && !(typeof log.key === "string" && Number.isInteger(log.entries) && typeof log.head === "string")) throw new LedgerError("this backup is damaged");
  return { account: { key: address.key, url: address.url, user, token, log }, entries: told.entries, deliveries, book };
}

function isSound(rows) {
  try {
    readBook(rows);
    return true;
  } catch {
    return false;
  }
}
