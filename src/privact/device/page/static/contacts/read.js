// Contact lists of one person: the text of a file -> the normalised ids of the person's contacts. As privact.device.contacts.
//
// The format is told by what is in the file, not by its name. What is read here never leaves the device: errors name a line, not what is in it.

import { InputError } from "../core/errors.js";
import { casefold, normaliseUserId } from "../core/users.js";
import { splitLines } from "./lines.js";
import { looksLikeMastodon, readMastodon } from "./mastodon.js";
import { readCards } from "./vcard.js";

const HEADINGS = new Set(
  ("user users contact contacts id ids source target from to follower following followee friend friends owner account name handle").split(" "),
);
const LONGEST_ID = 320; // an e-mail address has at most so many characters

// ids: normalised, each once, in order, never the person's own. format: how the file was read.
// duplicates, oneself, withoutId: how many entries were left out, and why.
export function readContacts(text, owner) {
  const bare = text.replace(/^\ufeff/, "");
  const start = bare.trimStart();
  if (/^BEGIN:VCARD/i.test(start)) {
    const { lines, withoutId } = readCards(bare);
    return distinct(lines, owner, "address book", withoutId);
  }
  if (looksLikeMastodon(start)) return distinct(readMastodon(bare, owner), owner, "Mastodon export", 0);
  return distinct(readList(bare, owner), owner, "list", 0);
}

// The text of a file that a person chose; what is not UTF-8 text is refused.
export async function readFileText(file) {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(await file.arrayBuffer());
  } catch (error) {
    if (error instanceof TypeError) throw new InputError("this file is not text: export your contacts as CSV, vCard or a plain list");
    throw new InputError("this file cannot be read: choose it again");
  }
}

function distinct(lines, owner, format, withoutId) {
  const own = normaliseUserId(owner);
  const seen = new Set();
  let [duplicates, oneself] = [0, 0];
  for (const [number, spelled] of lines) {
    const contact = normalOrLine(spelled, number);
    if (contact === own) oneself += 1;
    else if (seen.has(contact)) duplicates += 1;
    else seen.add(contact);
  }
  return { ids: [...seen].sort(), format, duplicates, oneself, withoutId };
}

// The contact on each line: the only id, or the one of two beside the owner's. Empty lines and # comments are skipped.
function* readList(text, owner) {
  const own = normaliseUserId(owner);
  let first = true;
  for (const [index, line] of splitLines(text).entries()) {
    const [number, bare] = [index + 1, line.trim()];
    if (!bare || bare.startsWith("#")) continue;
    const cells = splitCells(bare).map((cell) => cell.trim().replace(/^"+|"+$/g, ""));
    const heading = first && cells.every((cell) => !cell || HEADINGS.has(casefold(cell)));
    first = false;
    if (heading) continue;
    if (cells.length === 1) {
      yield [number, cells[0]];
      continue;
    }
    if (cells.length > 2 || !cells.every(Boolean)) throw new InputError(`line ${number} has ${cells.length} columns: give one contact per line`);
    const sides = cells.map((cell) => normalOrLine(cell, number));
    if (!sides.includes(own)) throw new InputError(`line ${number} has two names, and neither is yours (${own}): give only your own contacts`);
    yield [number, sides[0] === own ? cells[1] : cells[0]];
  }
}

function splitCells(line) {
  const separator = ["\t", ",", ";"].find((each) => line.includes(each));
  return separator ? line.split(separator) : line.split(/\s+/);
}

function normalOrLine(spelled, number) {
  try {
    if (spelled.length > LONGEST_ID) throw new InputError("too long");
    return normaliseUserId(spelled);
  } catch {
    throw new InputError(`line ${number} has no contact that can be read: give one contact per line`);
  }
}
