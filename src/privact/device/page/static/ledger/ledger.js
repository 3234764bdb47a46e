// The ledger: what this device may still spend, and the one stored report of each round. The budget is one for all aggregators.
//
// It lives in IndexedDB. Drawing a report and storing it is one transaction, paying for it another, each on disk before the next step.
// Beside it, in another storage of the browser, lies a marker with the number of entries and the last link: a ledger that is missing,
// changed, or replaced by an older copy is noticed. A tab that is closed between the two leaves a ledger one entry ahead, which is fine.

import { toHex } from "../core/bytes.js";
import { LedgerError, RefusedError } from "../core/errors.js";
import { isAside, rowsOf, transact } from "./database.js";
import { amongOthers, checkBudget, drawnFor, makeEntry, readBook } from "./entries.js";
import { markedKeys, readMarker, writeMarker } from "./marker.js";
import { checkRound, closingTime, mustTighten } from "./rules.js";

const WAY_OUT = "so nothing is sent from here any more. Restore your newest backup";
const seconds = () => Math.floor(Date.now() / 1000);

export class Ledger {
  // key: the aggregator's, under which a budget is kept.
  constructor(database, key) {
    this.database = database;
    this.key = key;
  }

  // Called between any two steps; does nothing. Tests close the tab here.
  reached() {}

  // Begin a ledger; one that is there is never overwritten.
  async create(user, rules, { spent = 0, lost = [] } = {}) {
    await this.#write((rows) => {
      if (rows.some(({ aggregator }) => aggregator === this.key) || readMarker(this.key)) throw new LedgerError("there is a ledger for this aggregator already");
      const id = toHex(crypto.getRandomValues(new Uint8Array(16)));
      const statement = JSON.stringify({ id, aggregator: this.key, user, rules });
      const made = [{ kind: "joined", epsilon: String(spent), statement }, ...[...lost].sort().map((round_id) => ({ kind: "lost", round_id }))];
      return made;
    });
    this.reached("created");
    return this.mark();
  }

  // Everything that the ledger says; one that is lost, damaged, or older than its marker is refused.
  read() {
    return transact(this.database, "readonly", ["entries", null], (rows) => this.#checked(rows));
  }

  // Bring the marker up to the last entry, and say what the ledger says.
  async mark() {
    const book = await this.read();
    writeMarker(this.key, { ledger: book.id, entries: book.nEntries, head: book.head });
    this.reached("marked");
    return book;
  }

  // The one report of a round: the stored one, or else a new one, stored before it is returned.
  //
  // now: UTC seconds. late: whether this user may join late. reserve: seconds before the close that are kept for sending.
  // drawDelay: how many milliseconds to wait before sending; called before any noise is drawn, so that it cannot depend on it.
  // randomize: makes the bytes; called at most once in the life of a ledger for each round.
  async drawOnce(round, { now, late, reserve, drawDelay, randomize }) {
    await this.#write((rows) => {
      const book = this.#checked(rows);
      if (drawnFor(book, round)) return [];
      this.reached("begun");
      checkRound(round, book.rules, now, late, reserve);
      checkBudget(book, round);
      const delay = drawDelay();
      this.reached("delay drawn");
      const report = toHex(randomize());
      this.reached("randomized");
      return [{ kind: "drawn", round_id: round.id, parameters: toHex(round.bytes), report, delay }];
    });
    this.reached("drawn");
    return drawnFor(await this.mark(), round);
  }

  // Pay for the stored report of a round, once; only then may its bytes be sent. Gives the answer that is to be sent.
  async payOnce(round, { now, late, reserve }) {
    await this.#write((rows) => {
      const book = this.#checked(rows);
      const drawn = drawnFor(book, round);
      if (!drawn) throw new RefusedError(`nothing was drawn for round ${round.id} yet`);
      if (book.answers.has(round.id)) return [];
      this.reached("paying");
      checkRound(round, book.rules, now, late, reserve);
      checkBudget(book, round);
      const send_at = Math.floor(Math.min(1000 * now + drawn.delay, 1000 * (closingTime(round, late) - reserve)));
      return [{ kind: "answered", round_id: round.id, epsilon: String(round.epsilon), send_at }];
    });
    this.reached("paid");
    return (await this.mark()).answers.get(round.id);
  }

  // Make the limits stricter for ever.
  async restrict(rules) {
    await this.#write((rows) => {
      const book = this.#checked(rows);
      return [{ kind: "limited", statement: JSON.stringify({ rules: mustTighten(book.rules, rules) }) }];
    });
    return this.mark();
  }

  // Remember what the aggregator said to a report; nothing depends on it but what people are shown.
  tellDelivery(roundId, outcome) {
    const row = { aggregator: this.key, round_id: roundId, outcome, told: seconds() };
    return transact(this.database, "readwrite", ["deliveries", rowsOf(this.key)], (_, store) => void store("deliveries").put(row));
  }

  // What the aggregator said last to each report.
  async deliveries() {
    const rows = await transact(this.database, "readonly", ["deliveries", rowsOf(this.key)], (found) => found);
    return new Map(rows.map((row) => [row.round_id, row.outcome]));
  }

  // Append what decide(rows) gives: new entries without number, time and link.
  #write(decide) {
    return transact(this.database, "readwrite", ["entries", null], (rows, store) => {
      const own = rows.filter(({ aggregator }) => aggregator === this.key);
      let [number, previous] = [own.length, own.at(-1)?.link ?? ""];
      for (const fields of decide(rows)) {
        const entry = makeEntry({ number: ++number, made: seconds(), ...fields }, previous);
        store("entries").add({ aggregator: this.key, ...entry });
        previous = entry.link;
      }
      this.reached("written");
    });
  }

  // What this ledger says among all others, once each of them has been checked. rows: the entries of all ledgers.
  #checked(rows) {
    const keys = new Set([...rows.map(({ aggregator }) => aggregator), ...markedKeys()].filter((key) => key !== this.key && !isAside(key)));
    const [own, ...others] = [this.key, ...keys].map((key) => checkLedger(key, rows.filter(({ aggregator }) => aggregator === key)));
    return amongOthers(own, others);
  }
}

// What one ledger says, without the others; refused if it is missing, damaged, or older than its marker. The error has its key.
export function checkLedger(key, rows) {
  try {
    return checkAgainstMarker(key, rows);
  } catch (error) {
    throw Object.assign(error, { key });
  }
}

function checkAgainstMarker(key, rows) {
  const marker = readMarker(key);
  if (!rows.length) throw new LedgerError(`what this browser knew of your answers is gone, ${WAY_OUT}`);
  const book = readBook(rows);
  // Only a tab that was closed right after joining leaves no marker.
  if (!marker && book.drawn.size) throw new LedgerError(`this browser no longer knows how far it had come, ${WAY_OUT}`);
  if (marker && (marker.ledger !== book.id || book.links[marker.entries - 1] !== marker.head)) {
    throw new LedgerError(`what this browser remembers is older than what it wrote, ${WAY_OUT}`);
  }
  return book;
}
