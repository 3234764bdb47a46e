// Who takes part from this browser: one account per aggregator, each with its ledger.

import { InputError, LedgerError } from "../core/errors.js";
import { amount, inWords } from "./amounts.js";
import { asideKey, rowsOf, transact } from "./database.js";
import { readBook } from "./entries.js";
import { checkLedger, Ledger } from "./ledger.js";
import { readMarker, removeMarker } from "./marker.js";
import { DEFAULT_RULES } from "./rules.js";

export class Home {
  // ledger: the class of its ledgers; tests put one in that stops.
  constructor(database, ledger = Ledger) {
    this.database = database;
    this.ledgerOf = (key) => new ledger(database, key);
  }

  // Every account: key, url, user and token.
  accounts() {
    return transact(this.database, "readonly", ["accounts", null], (rows) => rows);
  }

  // Keep an account; its ledger is begun unless there is one.
  //
  // address, token, user: as the aggregator confirmed them. answered: rounds that it has answers to from this user.
  // spent: what was spent from a ledger that was lost; a damaged or outdated one is set aside and a new one begun.
  async join(address, token, user, answered, spent = null) {
    const ledger = this.ledgerOf(address.key);
    const rows = await transact(this.database, "readonly", ["entries", rowsOf(address.key)], (found) => found);
    const known = rows.length > 0 || readMarker(address.key) !== null;
    if (spent !== null) await this.#beginAgain(ledger, rows, user, new Set(answered), spent);
    else if (known) checkOwner(await ledger.mark(), user);
    else if (answered.length) {
      throw new LedgerError(`you took part in ${answered.length === 1 ? "a round" : `${answered.length} rounds`} before, from another device or browser`);
    } else await ledger.create(user, DEFAULT_RULES);
    const account = { key: address.key, url: address.url, user, token };
    await transact(this.database, "readwrite", ["accounts", address.key], ([before], store) => {
      store("accounts").put({ ...account, log: before?.log ?? null });
    });
    ledger.reached("joined");
    return account;
  }

  // Remember how far the log of rounds of an aggregator has come.
  //
  // accept: called with what was remembered, or null; gives what to remember, or refuses.
  keepLog(key, accept) {
    return transact(this.database, "readwrite", ["accounts", key], ([account], store) => {
      store("accounts").put({ ...account, log: accept(account?.log ?? null) });
    });
  }

  // Set a damaged or outdated ledger aside and begin a new one that has spent what the person says; a sound one stays.
  async #beginAgain(ledger, rows, user, answered, spent) {
    const book = soundOrNull(rows);
    let rules = DEFAULT_RULES;
    const lost = new Set(answered);
    if (book) {
      checkOwner(book, user);
      const knows = [...answered].every((id) => book.answers.has(id) || book.lost.has(id));
      if (knows && isTrusted(ledger.key, rows)) throw new InputError("this browser knows what you sent: there is nothing to begin again");
      if (amount(spent) < book.spent) throw new InputError(`at least ${inWords(book.spent)} was spent: say so much or more`);
      rules = book.rules;
      for (const id of [...book.drawn.keys(), ...book.lost]) lost.add(id);
    }
    const aside = asideKey(ledger.key);
    await transact(this.database, "readwrite", ["entries", rowsOf(ledger.key)], (found, store) => {
      for (const row of found) {
        store("entries").add({ ...row, aggregator: aside });
        store("entries").delete([row.aggregator, row.number]);
      }
      removeMarker(ledger.key);
    });
    await ledger.create(user, rules, { spent, lost });
  }
}

function soundOrNull(rows) {
  try {
    return readBook(rows);
  } catch {
    return null;
  }
}

// Whether a ledger itself is sound, whatever became of those of other addresses.
function isTrusted(key, rows) {
  try {
    checkLedger(key, rows);
    return true;
  } catch (error) {
    if (error instanceof LedgerError) return false;
    throw error;
  }
}

function checkOwner(book, user) {
  if (book.user !== user) throw new InputError(`this browser takes part as ${book.user}, not as ${user}: use another browser or another profile`);
}
