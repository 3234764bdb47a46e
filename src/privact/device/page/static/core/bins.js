// Which bin a user falls in: user id + round -> 0 .. nBins - 1, or -1 for none. docs/protocol.md, "Bins".

import { blake2b, readU64, sameBytes, utf8 } from "./bytes.js";
import { ProtocolError } from "./errors.js";
import { labelOf } from "./labels.js";
import { DIGEST_SIZE } from "./round.js";
import { normaliseUserId } from "./users.js";

export function binOf(user, round, table = null) {
  if (round.bins === "labels") return labelOf(user, table);
  return Number(readU64(blake2b(utf8(normaliseUserId(user)), 8, round.seed)) % BigInt(round.nBins));
}

// Refuse a table of groups that is not the round's, or one where the round has none.
export function checkTable(round, table) {
  if ((round.bins === "labels") !== (table !== null)) throw new ProtocolError(`round ${round.id} and its table of groups do not belong together`);
  if (table === null) return;
  if (!sameBytes(blake2b(table.bytes, DIGEST_SIZE), round.labelsDigest) || table.nLabels !== round.nBins) {
    throw new ProtocolError(`this table of groups is not that of round ${round.id}: it is not used`);
  }
}
