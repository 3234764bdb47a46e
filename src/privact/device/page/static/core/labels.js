// Label table: the public group of every user, ten bytes a user, downloaded whole. docs/protocol.md, "Label table".

import { blake2b, readU64, sameBytes, utf8 } from "./bytes.js";
import { ProtocolError } from "./errors.js";
import { DIGEST_SIZE, MAX_BINS, MAX_USERS } from "./round.js";
import { normaliseUserId } from "./users.js";

const HEAD = 29;
const ENTRY = 10;
const MAGIC = [0x50, 0x43, 0x4c, 0x54]; // PCLT
const KEY = [13, 29];

// The table that these bytes encode; anything but a table's one encoding, or another table than the round's, is refused.
export function parseLabels(bytes, digest) {
  if (digest && !sameBytes(blake2b(bytes, DIGEST_SIZE), digest)) {
    throw new ProtocolError("the table of groups is not the one that the round names: it is not used");
  }
  if (bytes.length < HEAD || !MAGIC.every((byte, place) => bytes[place] === byte)) {
    throw new ProtocolError(`${bytes.length} bytes are not a table of groups`);
  }
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const [version, nLabels, nUsers] = [bytes[4], view.getUint32(5), view.getUint32(9)];
  if (version !== 1) throw new ProtocolError(`the table of groups has version ${version}, which is unknown here: update this page`);
  if (nLabels < 1 || nLabels > MAX_BINS || nUsers > MAX_USERS || bytes.length !== HEAD + ENTRY * nUsers) {
    throw new ProtocolError(`the table of groups says ${nLabels} groups, ${nUsers} users in ${bytes.length} bytes: it is damaged`);
  }
  for (let place = 0, last = -1n; place < nUsers; place++) {
    const hash = readU64(bytes, HEAD + ENTRY * place);
    if (hash <= last || view.getUint16(HEAD + ENTRY * place + 8) >= nLabels) throw new ProtocolError("the table of groups is damaged");
    last = hash;
  }
  return Object.freeze({ bytes, nLabels, nUsers, key: bytes.slice(...KEY) });
}

// The group of a user, or -1 for one in no group.
export function labelOf(user, table) {
  const wanted = readU64(blake2b(utf8(normaliseUserId(user)), 8, table.key));
  let [low, high] = [0, table.nUsers];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (readU64(table.bytes, HEAD + ENTRY * middle) < wanted) low = middle + 1;
    else high = middle;
  }
  const offset = HEAD + ENTRY * low;
  if (low === table.nUsers || readU64(table.bytes, offset) !== wanted) return -1;
  return 256 * table.bytes[offset + 8] + table.bytes[offset + 9];
}
