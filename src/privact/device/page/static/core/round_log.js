// The log of rounds: every round that an operator ever opened, signed, in a list to which entries can only be added.
// As privact.protocol.round_log. A round that is not in the log was shown to some people only.

import { blake2b, joinBytes, sameBytes, toHex, utf8 } from "./bytes.js";
import { ProtocolError, RefusedError } from "./errors.js";
import { DIGEST_SIZE, parseRound } from "./round.js";

const HEAD = 41; // bytes before the first entry
const START = 37; // of them, those that the first link is over
const SIGNATURE = 64;
const MOST_ENTRIES = 10_000;
export const LONGEST_LOG = 2 ** 22;

// The log that these bytes encode; refused unless every round is well formed, listed once, and signed.
//
// key: the operator's public key, hexadecimal. rounds: the bytes of each round. links: the link after 0, 1, ... rounds, hexadecimal.
export async function parseLog(bytes) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (bytes.length < HEAD || !sameBytes(bytes.slice(0, 4), utf8("PCLG")) || bytes[4] !== 1 || view.getUint32(START) > MOST_ENTRIES) {
    throw new ProtocolError("the log of rounds cannot be read: tell the operator");
  }
  const key = bytes.slice(5, START);
  const [rounds, ids] = [[], new Set()];
  let link = blake2b(bytes.slice(0, START), DIGEST_SIZE);
  const links = [toHex(link)];
  const checks = [];
  let place = HEAD;
  for (let number = 1; number <= view.getUint32(START); number++) {
    const begin = place + 2;
    const length = begin <= bytes.length ? view.getUint16(place) : 0;
    place = begin + length + SIGNATURE;
    if (!length || place > bytes.length) throw new ProtocolError("the log of rounds is cut off: tell the operator");
    const parameters = bytes.slice(begin, begin + length);
    const { id } = parseRound(parameters);
    if (ids.has(id)) throw new ProtocolError(`the log of rounds lists ${id} twice: tell the operator`);
    ids.add(id);
    rounds.push(parameters);
    link = blake2b(joinBytes(link, parameters), DIGEST_SIZE);
    links.push(toHex(link));
    checks.push([signedBytes(number, link), bytes.slice(begin + length, place)]);
  }
  if (place !== bytes.length) throw new ProtocolError("the log of rounds has bytes after its end: tell the operator");
  if (!(await areSigned(key, checks))) throw new ProtocolError("the log of rounds is not signed by its operator: nothing is answered");
  return { key: toHex(key), rounds, links };
}

// What to remember of a log, if it continues the one that was seen before; refused if it does not.
//
// log: what the aggregator shows now, or null. kept: what was remembered: key, entries and head; or null.
export function acceptLog(log, kept) {
  if (!log) {
    if (kept) throw new RefusedError("this server showed a signed log of its rounds and shows none now: nothing is answered, ask the operator");
    return null;
  }
  if (kept && kept.key !== log.key) throw new RefusedError("this server signs its rounds with another key than before: nothing is answered, ask the operator");
  if (kept && log.links[kept.entries] !== kept.head) throw new RefusedError("the log of rounds was rewritten: nothing is answered, tell others");
  return { key: log.key, entries: log.rounds.length, head: log.links.at(-1) };
}

// Refuse a round that is not in the log.
export function checkListed(log, round) {
  if (log && !log.rounds.some((parameters) => sameBytes(parameters, round.bytes))) {
    throw new RefusedError(`round ${round.id} is not in the public log of rounds, so others may not see it: it is not answered`);
  }
}

function signedBytes(number, link) {
  const counted = new DataView(new ArrayBuffer(8));
  counted.setBigUint64(0, BigInt(number));
  return joinBytes(utf8("PCLH"), [1], new Uint8Array(counted.buffer), link);
}

async function areSigned(key, checks) {
  let imported;
  try {
    imported = await crypto.subtle.importKey("raw", key, { name: "Ed25519" }, false, ["verify"]);
  } catch (error) {
    if (error.name === "NotSupportedError") throw new RefusedError("this browser cannot check signatures: use a newer one");
    return false;
  }
  for (const [signed, signature] of checks) {
    if (!(await crypto.subtle.verify("Ed25519", imported, signature, signed))) return false;
  }
  return true;
}
