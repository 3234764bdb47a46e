// Byte strings: hexadecimal, UTF-8, comparison, and the one hash of the protocol.

import { blake2b as hash } from "../vendor/noble-hashes/blake2.js";
import { InputError } from "./errors.js";

const encoder = new TextEncoder();

export const utf8 = (text) => encoder.encode(text);

export const toHex = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");

export function fromHex(text) {
  if (typeof text !== "string" || !/^([0-9a-f]{2})*$/i.test(text)) throw new InputError("this is not hexadecimal: copy it again");
  return Uint8Array.from(text.match(/../g) ?? [], (pair) => parseInt(pair, 16));
}

export const sameBytes = (one, other) => one.length === other.length && one.every((byte, place) => byte === other[place]);

export function joinBytes(...parts) {
  const joined = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let offset = 0;
  for (const part of parts) {
    joined.set(part, offset);
    offset += part.length;
  }
  return joined;
}

// BLAKE2b (RFC 7693) with a digest of `size` bytes, keyed if a key is given.
export const blake2b = (data, size, key) => hash(data, key ? { dkLen: size, key } : { dkLen: size });

// Eight bytes as an unsigned big-endian integer.
export function readU64(bytes, offset = 0) {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength).getBigUint64(offset);
}
