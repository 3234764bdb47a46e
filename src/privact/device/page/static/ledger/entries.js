// What a ledger says: a chain of entries, each bound to the one before it -> what was allowed, drawn, spent and answered.
//
// An entry never changes. Its kind is one of
//   joined    the first: whose ledger this is, its limits, and what a lost one had spent
//   lost      a round that a lost ledger answered
//   limited   stricter limits
//   drawn     the one report of a round: noise was drawn. It costs nothing as long as it stays here.
//   answered  that report was given to be sent, and is paid for. It comes before the first byte leaves.

import { blake2b, fromHex, joinBytes, sameBytes, toHex, utf8 } from "../core/bytes.js";
import { LedgerError, RefusedError } from "../core/errors.js";
import { readReport } from "../core/report.js";
import { parseRound } from "../core/round.js";
import { amount, inWords } from "./amounts.js";
import { checkRules, tightened } from "./rules.js";

const FIELDS = ["number", "kind", "made", "round_id", "epsilon", "statement", "parameters", "report", "delay", "send_at"];
const EMPTY = { round_id: null, epsilon: "0", statement: null, parameters: null, report: null, delay: null, send_at: null };

const MOST_REPORTS = 10_000; // that are kept, whatever rounds an aggregator makes up
const MOST_BYTES = 2 ** 24; // of all reports together

// An entry after the one with the given link, with its own link. Bytes are hexadecimal, so that a row is also a line of a backup.
export function makeEntry(fields, previous) {
  const entry = { ...EMPTY, ...fields };
  return { ...entry, link: linkOf(entry, previous) };
}

function linkOf(entry, previous) {
  const plain = JSON.stringify(FIELDS.map((name) => entry[name]));
  return toHex(blake2b(joinBytes(fromHex(previous), utf8(plain)), 32));
}

// Everything that the rows of a ledger say, checked from the first to the last.
export function readBook(rows) {
  try {
    return checkedBook(rows);
  } catch (error) {
    throw new LedgerError(error instanceof LedgerError ? error.message : "an entry of the ledger cannot be read");
  }
}

function checkedBook(rows) {
  const book = { id: "", aggregator: "", user: "", rules: null, spent: 0n, drawn: new Map(), answers: new Map(), lost: new Set(), links: [] };
  rows.forEach((row, place) => {
    const follows = row.number === place + 1 && row.link === linkOf(row, book.links.at(-1) ?? "") && (row.kind === "joined") === (place === 0);
    if (!follows) throw new LedgerError(`entry ${place + 1} of the ledger does not follow from the one before it`);
    book.links.push(row.link);
    book.spent += amount(row.epsilon);
    READ[row.kind](book, row);
  });
  if (!book.links.length) throw new LedgerError("the ledger is empty");
  const left = amount(book.rules.budget) - book.spent;
  return Object.freeze({ ...book, left: left > 0n ? left : 0n, head: book.links.at(-1), nEntries: book.links.length });
}

const READ = {
  joined(book, row) {
    const said = JSON.parse(row.statement);
    Object.assign(book, { id: said.id, aggregator: said.aggregator, user: said.user, rules: checkRules(said.rules) });
  },
  lost: (book, row) => void book.lost.add(row.round_id),
  limited: (book, row) => void (book.rules = tightened(book.rules, JSON.parse(row.statement).rules)),
  drawn(book, row) {
    const round = parseRound(fromHex(row.parameters));
    if (round.id !== row.round_id || book.drawn.has(row.round_id)) throw new LedgerError(`round ${round.id} was drawn twice`);
    const numbers = readReport(fromHex(row.report), round, book.user);
    book.drawn.set(round.id, Object.freeze({ round, report: fromHex(row.report), numbers, delay: row.delay, made: row.made }));
  },
  answered(book, row) {
    const drawn = book.drawn.get(row.round_id);
    const rightly = drawn && !book.answers.has(row.round_id) && amount(row.epsilon) === amount(drawn.round.epsilon);
    if (!rightly) throw new LedgerError(`the answer to round ${row.round_id} does not fit what was drawn`);
    book.answers.set(row.round_id, Object.freeze({ ...drawn, sendAt: row.send_at, answered: row.made }));
  },
};

// A ledger among the others of this browser: all of them share one lifetime budget, the strictest.
export function amongOthers(book, others) {
  const all = [book, ...others];
  const budget = Math.min(...all.map((each) => each.rules.budget));
  const spent = all.reduce((sum, each) => sum + each.spent, 0n);
  const left = amount(budget) - spent;
  const everywhere = all.flatMap((each) => [...each.drawn.values()].map((drawn) => ({ ...drawn, aggregator: each.aggregator })));
  return Object.freeze({ ...book, rules: Object.freeze({ ...book.rules, budget }), spent, left: left > 0n ? left : 0n, everywhere });
}

// What was drawn for this round, if it was; refused if another draw of noise would tell more than the budget allows: a round of the
// same name that was another one then, the same round at another address, or another round over the same seed and bins.
export function drawnFor(book, round) {
  if (book.lost.has(round.id)) throw new RefusedError(`round ${round.id} was answered from a device whose memory was lost since: it is not answered again`);
  const found = book.drawn.get(round.id);
  if (found && toHex(found.round.digest) !== toHex(round.digest)) {
    throw new RefusedError(`round ${round.id} was changed after you answered it: it is not answered again, tell the operator`);
  }
  if (found) return found;
  const same = book.everywhere.find(({ round: other }) => other.nBins === round.nBins && sameBytes(sourceOf(other), sourceOf(round)));
  if (same) throw new RefusedError(`round ${round.id} asks the same as round ${same.round.id}, which you answered at ${same.aggregator}: it is not answered again`);
  return null;
}

const sourceOf = (round) => (round.bins === "random" ? round.seed : round.labelsDigest);

// The series that a round belongs to as it was agreed to, or null: who has paid for one of its rounds has agreed to all of them.
export function agreedSeries(book, round) {
  if (!round.series) return null;
  return [...book.answers.values()].find((answer) => answer.round.series?.name === round.series.name)?.round.series ?? null;
}

// Refuse a round of a series that is not as agreed to, or a series whose remaining rounds cost more than is left.
export function checkSeries(book, round) {
  if (!round.series) return;
  const { name, number, rounds, epsilon } = round.series;
  const agreed = agreedSeries(book, round);
  if (agreed && (agreed.rounds !== rounds || agreed.epsilon !== epsilon)) {
    throw new RefusedError(`you agreed to series ${name} with ${agreed.rounds} rounds and ${inWords(agreed.epsilon)} in all, and now it says ${rounds} rounds and ${inWords(epsilon)}: it is not answered, tell the operator`);
  }
  if (!agreed && amount(epsilon) * BigInt(rounds - number + 1) > book.left * BigInt(rounds)) {
    throw new RefusedError(`series ${name} costs up to ${inWords(epsilon)} in ${rounds} rounds, but only ${inWords(book.left)} of your ${inWords(book.rules.budget)} is left`);
  }
}

// Refuse a round that costs more than is left, or whose report there is no room for, or that is not as its series was agreed to.
export function checkBudget(book, round) {
  checkSeries(book, round);
  if (amount(round.epsilon) > book.left) {
    throw new RefusedError(`round ${round.id} costs ${inWords(round.epsilon)}, but only ${inWords(book.left)} of your ${inWords(book.rules.budget)} is left`);
  }
  const kept = book.everywhere.reduce((sum, { report }) => sum + report.length, 0);
  if (book.everywhere.length >= MOST_REPORTS || kept + 57 + 4 * round.nBins > MOST_BYTES) {
    throw new RefusedError(`round ${round.id} has ${round.nBins} numbers, more than this browser keeps room for`);
  }
}
