// Report: noisy counts bound to a round and a user, with one encoding. docs/protocol.md, "Report".

import { joinBytes, sameBytes, utf8 } from "./bytes.js";
import { ProtocolError } from "./errors.js";
import { DIGEST_SIZE } from "./round.js";
import { userDigest } from "./users.js";

const HEAD = 57;
const ENTRY_MIN = -(2n ** 31n);
const ENTRY_MAX = 2n ** 31n - 1n;

// The bytes to send; a noisy count beyond four bytes becomes the nearest that fits.
//
// round: the round that is answered. user: who answers. noisy: one BigInt per bin; exact counts must never come here.
export function encodeReport(round, user, noisy) {
  if (noisy.length !== round.nBins) throw new ProtocolError(`a report to round ${round.id} has ${round.nBins} numbers, not ${noisy.length}`);
  const entries = new DataView(new ArrayBuffer(4 * noisy.length));
  noisy.forEach((entry, bin) => {
    const fits = entry < ENTRY_MIN ? ENTRY_MIN : entry > ENTRY_MAX ? ENTRY_MAX : entry;
    entries.setInt32(4 * bin, Number(fits));
  });
  const length = new DataView(new ArrayBuffer(4));
  length.setUint32(0, noisy.length);
  return joinBytes(utf8("PCRP"), [1], new Uint8Array(length.buffer), round.digest, userDigest(user), new Uint8Array(entries.buffer));
}

// The noisy counts that a stored report holds; refused unless it is a report of this user to this round.
export function readReport(bytes, round, user) {
  const head = joinBytes(bytes.slice(9, 9 + DIGEST_SIZE), bytes.slice(9 + DIGEST_SIZE, HEAD));
  if (bytes.length !== HEAD + 4 * round.nBins || !sameBytes(head, joinBytes(round.digest, userDigest(user)))) {
    throw new ProtocolError(`the stored report is not one to round ${round.id}`);
  }
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return Array.from({ length: round.nBins }, (_, bin) => view.getInt32(HEAD + 4 * bin));
}
