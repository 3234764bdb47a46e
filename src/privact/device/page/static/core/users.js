// User ids, written one way: any spelling of an id -> its normal form -> its digest. docs/protocol.md, "User ids".

import { GROWN, RUNS } from "../vendor/unicode/case_folding.js";
import { blake2b, utf8 } from "./bytes.js";
import { InputError } from "./errors.js";

const USER_DIGEST_SIZE = 16;
export const LONGEST_USER_ID = 320; // characters of the longest normal form that a user can have
// JavaScript's \s is another set than the protocol's: it has U+FEFF and lacks U+001C-U+001F and U+0085.
const WHITE = "\\u0009-\\u000d\\u001c-\\u0020\\u0085\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000";
const BEFORE = new RegExp(`^[${WHITE}@]+`);
const BLANK = new RegExp(`^[${WHITE}]$`);
const PLAIN = /^[\x00-\x7f]*$/;
const LONE_SURROGATE = /\p{Surrogate}/u;

const FOLDED = new Map(GROWN);
for (const [first, last, step, distance] of RUNS) {
  for (let code = first; code <= last; code += step) FOLDED.set(code, String.fromCodePoint(code + distance));
}

// Full case folding, as Python's str.casefold.
export function casefold(text) {
  let folded = "";
  for (const letter of text) folded += FOLDED.get(letter.codePointAt(0)) ?? letter;
  return folded;
}

// The one spelling under which a user is counted, hashed and compared.
export function normaliseUserId(written) {
  if (typeof written !== "string") throw new InputError("an id must be text");
  if (LONE_SURROGATE.test(written)) throw new InputError("an id is not valid text: save the file as UTF-8");
  const folded = PLAIN.test(written) ? written.toLowerCase() : casefold(written.normalize("NFD")).normalize("NFC");
  const normal = stripEnd(folded.replace(BEFORE, ""));
  if (!normal) throw new InputError("an id is empty: give at least one character besides blanks and @");
  return normal;
}

// A text without the blanks at its end: a pattern would take the square of their number.
function stripEnd(text) {
  let end = text.length;
  while (end > 0 && BLANK.test(text[end - 1])) end -= 1;
  return text.slice(0, end);
}

// The 16 bytes that stand for a user in a report.
export const userDigest = (written) => blake2b(utf8(normaliseUserId(written)), USER_DIGEST_SIZE);
