// Round: the public parameters of one round, validated, with one encoding and one digest. docs/protocol.md, "Round".

import { blake2b, joinBytes, sameBytes, toHex } from "./bytes.js";
import { ProtocolError } from "./errors.js";
import { checkSeriesRound, encodeSeries, readSeries, SERIES_BYTES } from "./series.js";

export const DIGEST_SIZE = 32;
export const MIN_EPSILON = 1e-6;
export const MAX_BINS = 2 ** 16;
export const MAX_USERS = 2 ** 31 - 1;
export const LAST_SECOND = 253402300799; // of the year 9999

const VERSION = 1;
const KINDS = ["random", "labels"];
const IN_SERIES = 2; // added to the kind of bins
const HEAD = 46; // bytes before the length of the id
const MAGIC = [0x50, 0x43, 0x52, 0x44]; // PCRD
const ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

export const isRoundId = (text) => typeof text === "string" && ID.test(text);

// The round that these bytes encode; anything but a round's one encoding is refused.
//
// bytes: what the aggregator sent.
// digest: the digest under which the round was announced; another round's bytes are refused.
export function parseRound(bytes, digest) {
  const found = blake2b(bytes, DIGEST_SIZE);
  if (digest && !sameBytes(found, digest)) throw new ProtocolError("this round is not the one that was announced: it is not answered");
  if (bytes.length < HEAD + 2 || !MAGIC.every((byte, place) => bytes[place] === byte)) {
    throw new ProtocolError(`${bytes.length} bytes are not a round: it is not answered`);
  }
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const inSeries = bytes[5] >= IN_SERIES;
  const kind = inSeries ? bytes[5] - IN_SERIES : bytes[5];
  const idLength = bytes[HEAD];
  const name = bytes.slice(HEAD + 1, HEAD + 1 + idLength);
  const source = bytes.slice(HEAD + 1 + name.length + 1, inSeries ? Math.max(bytes.length - SERIES_BYTES, 0) : bytes.length);
  const id = String.fromCharCode(...name);
  const round = {
    version: bytes[4],
    bins: KINDS[kind],
    epsilon: view.getFloat64(6),
    nBins: view.getUint32(14),
    nUsers: view.getUint32(18),
    opens: readSeconds(view, 22),
    closes: readSeconds(view, 30),
    joinerSeconds: readSeconds(view, 38),
    id,
    seed: kind === 0 ? source : new Uint8Array(0),
    labelsDigest: kind === 1 ? source : new Uint8Array(0),
    series: inSeries ? readSeries(view, id) : null,
  };
  check(round);
  if (!sameBytes(encodeRound(round), bytes)) throw new ProtocolError("this round is not in its one encoding: it is not answered");
  return Object.freeze({ ...round, epsilonReport: round.epsilon / 2, bytes, digest: found });
}

// The one encoding of a round.
export function encodeRound(round) {
  const source = round.bins === "random" ? round.seed : round.labelsDigest;
  const head = new Uint8Array(HEAD);
  const view = new DataView(head.buffer);
  head.set(MAGIC);
  head[4] = round.version;
  head[5] = KINDS.indexOf(round.bins) + (round.series ? IN_SERIES : 0);
  view.setFloat64(6, round.epsilon);
  view.setUint32(14, round.nBins);
  view.setUint32(18, round.nUsers);
  view.setBigUint64(22, BigInt(round.opens));
  view.setBigUint64(30, BigInt(round.closes));
  view.setBigUint64(38, BigInt(round.joinerSeconds));
  const name = Uint8Array.from(round.id, (letter) => letter.charCodeAt(0));
  return joinBytes(head, [name.length], name, [source.length], source, encodeSeries(round.series));
}

// Eight bytes as seconds; what is past the year 9999 becomes a number that no check lets through.
function readSeconds(view, offset) {
  const seconds = view.getBigUint64(offset);
  return seconds > BigInt(LAST_SECOND) ? Infinity : Number(seconds);
}

// Refuse every value outside the last column of the protocol's table.
function check(round) {
  within("version", round.version, VERSION, VERSION);
  if (round.bins === undefined) throw new ProtocolError("this round has bins of a kind that is unknown here: update this page");
  if (!isRoundId(round.id)) throw new ProtocolError("this round has a name that is none: it is not answered");
  within("epsilon", round.epsilon, MIN_EPSILON, Number.MAX_VALUE);
  within("number of users", round.nUsers, 1, MAX_USERS);
  within("number of bins", round.nBins, 1, Math.min(round.nUsers, MAX_BINS));
  within("opening time", round.opens, 0, LAST_SECOND - 1);
  within("closing time", round.closes, round.opens + 1, LAST_SECOND);
  within("time for late joiners", round.joinerSeconds, 0, LAST_SECOND - round.closes);
  if (round.bins === "random") within("length of the seed", round.seed.length, 16, 32);
  else within("length of the label digest", round.labelsDigest.length, DIGEST_SIZE, DIGEST_SIZE);
  if (round.series) checkSeriesRound(round);
}

function within(name, value, low, high) {
  if (!(value >= low && value <= high)) throw new ProtocolError(`the ${name} of this round is ${value}, not from ${low} to ${high}: it is not answered`);
}

export const shortDigest = (round) => `${toHex(round.digest).slice(0, 16)}...`;
