// Answering rounds: check what is announced, count, draw once, store; when the person says so pay, and send the stored bytes.

import { degreeVector } from "./core/degrees.js";
import { AggregatorError, LedgerError, ProtocolError, RefusedError } from "./core/errors.js";
import { randomize, uniformBelow } from "./core/noise.js";
import { encodeReport } from "./core/report.js";
import { amount, toNumber } from "./ledger/amounts.js";
import { acceptLog, checkListed } from "./core/round_log.js";
import { checkBudget, drawnFor } from "./ledger/entries.js";
import { checkRound } from "./ledger/rules.js";

export const WINDOW = 60_000; // milliseconds over which sending is spread
export const LOOPBACK_WINDOW = 2_000; // the same for an aggregator on this machine
const RESERVE = 30; // seconds before the close of a round in which nothing is drawn or paid for
const LOOPBACK_RESERVE = 1; // the same for an aggregator on this machine

const reserveOf = (client) => (client.address.loopback ? LOOPBACK_RESERVE : RESERVE);

const OUTCOMES = {
  200: ["accepted", ""],
  201: ["accepted", ""],
  401: ["refused", "your invitation is not valid any more: ask for a new one"],
  409: ["conflict", "you already answered this round from another device: that answer counts"],
  410: ["closed", "the round had closed when your numbers came: they are not counted"],
  425: ["early", "the round has not opened yet: your numbers are sent later"],
};

const FINAL = new Set(["accepted", "closed", "conflict", "refused"]);

// What an aggregator said to a report, for a person; empty if all is well.
export const reasonFor = (outcome) => Object.values(OUTCOMES).find(([name]) => name === outcome)?.[1] ?? "your numbers were refused";

// The rounds that concern this person now: announced ones that may be answered, or whose report waits here.
//
// Every request is made here, before contacts are chosen: also for the whole table of groups.
// Each has its notice, the round (null if it is malformed), its table of groups and their names (or null), late, refusal (why it is not answered, or ""), and what the ledger holds:
// drawn, answer (paid for) and delivery (what the aggregator said to it last, or null).
//
// home: where the head of the log of rounds is kept.
export async function proposeRounds(home, account, client, ledger, now) {
  const me = await client.me();
  if (me.user !== account.user) throw new AggregatorError(`${client.address.url} takes you for ${me.user}: tell the operator`);
  const log = await client.log();
  await home.keepLog(account.key, (kept) => acceptLog(log, kept));
  const book = await ledger.read();
  const unknown = me.rounds.find(({ id, answered }) => answered && !book.answers.has(id) && !book.lost.has(id));
  if (unknown) throw new LedgerError(`you answered round ${unknown.id} from another device, or this browser lost its memory of it: go on there, or restore your newest backup`);
  const deliveries = await ledger.deliveries();
  const proposals = [];
  for (const notice of me.rounds) {
    const delivery = deliveries.get(notice.id) ?? (notice.answered ? "accepted" : null);
    const waits = book.answers.has(notice.id) && !FINAL.has(delivery);
    if (notice.mayAnswer || waits) proposals.push({ ...(await propose(notice, book, log, client, now)), delivery });
  }
  return { me, book, proposals: proposals.sort((one, other) => (one.round?.closes ?? 0) - (other.round?.closes ?? 0)) };
}

async function propose(notice, book, log, client, now) {
  const late = notice.mayAnswer && (notice.late || notice.state === "released");
  const proposal = { notice, late, round: null, table: null, names: null, drawn: null, answer: null, refusal: "" };
  try {
    proposal.round = await client.round(notice);
    proposal.names = await client.labelNames(proposal.round);
    proposal.drawn = drawnFor(book, proposal.round);
    proposal.answer = book.answers.get(notice.id) ?? null;
    if (!proposal.answer) {
      checkListed(log, proposal.round);
      checkRound(proposal.round, book.rules, now, late, reserveOf(client));
      checkBudget(book, proposal.round);
      if (!proposal.drawn) proposal.table = await client.labels(proposal.round);
    }
  } catch (error) {
    if (!(error instanceof RefusedError || error instanceof ProtocolError)) throw error;
    proposal.refusal = error.message;
  }
  return proposal;
}

// What the rounds that this user answered cost together, according to the aggregator: for a person whose browser forgot.
export async function sumAnswered(client, notices) {
  let sum = 0n;
  for (const notice of notices.filter((each) => each.answered)) sum += amount((await client.round(notice)).epsilon);
  return toNumber(sum);
}

// How many of the contacts are in each bin.
export const countContacts = (account, { round, table }, contacts) => degreeVector(contacts, round, account.user, table);

// The one report of a round, with noise drawn now unless it was drawn before.
export function drawReport(account, client, ledger, { round, late }, counts, now) {
  const window = client.address.loopback ? LOOPBACK_WINDOW : WINDOW;
  return ledger.drawOnce(round, {
    now,
    late,
    reserve: reserveOf(client),
    drawDelay: () => Number(uniformBelow(BigInt(window))),
    randomize: () => encodeReport(round, account.user, randomize(counts, round.epsilonReport)),
  });
}

// Pay for the report that was drawn; only then may it be sent.
export const payReport = (client, ledger, { round, late }, now) => ledger.payOnce(round, { now, late, reserve: reserveOf(client) });

// Send the stored bytes of an answer that was paid for, and remember what the aggregator said.
export async function sendReport(client, ledger, { round, report }) {
  ledger.reached("sending");
  const { status, late, line } = await client.put(round.id, report);
  ledger.reached("sent");
  const [outcome, reason] = OUTCOMES[status] ?? ["refused", `your numbers were refused: ${line}`];
  await ledger.tellDelivery(round.id, outcome);
  return { outcome, reason, late };
}
