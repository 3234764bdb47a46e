// Contact lists of one person: the text of a file -> the normalised ids of the person's contacts. As privact.device.contacts.
//
// The format is told by what is in the file, not by its name. Entries without an id that can be read are skipped and counted:
// whether a device answers must not depend on one contact. What is read here never leaves the device.

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
    return distinct(readCards(bare), owner, "address book");
  }
  if (looksLikeMastodon(start)) return distinct(readMastodon(bare, owner), owner, "Mastodon export");
  return distinct(readList(bare, owner), owner, "list");
}

// The text of a file that a person chose; what is not UTF-8 makes only its own entry unreadable.
export async function readFileText(file) {
  try {
    return new TextDecoder("utf-8").decode(await file.arrayBuffer());
  } catch {
    throw new InputError("this file cannot be read: choose it again");
  }
}

function distinct(entries, owner, format) {
  const own = normaliseUserId(owner);
  const seen = new Set();
  let [duplicates, oneself, withoutId] = [0, 0, 0];
  for (const spelled of entries) {
    const contact = normalOrNull(spelled);
    if (contact === null) withoutId += 1;
    else if (contact === own) oneself += 1;
    else if (seen.has(contact)) duplicates += 1;
    else seen.add(contact);
  }
  return { ids: [...seen].sort(), format, duplicates, oneself, withoutId };
}

// The contact on each line: the only id, or the one of two beside the owner's; null for any other line. Empty lines and # comments
// are skipped.
function* readList(text, owner) {
  const own = normaliseUserId(owner);
  let first = true;
  for (const line of splitLines(text)) {
    const bare = line.trim();
    if (!bare || bare.startsWith("#")) continue;
    const cells = splitCells(bare).map((cell) => cell.trim().replace(/^"+|"+$/g, ""));
    const heading = first && cells.every((cell) => !cell || HEADINGS.has(casefold(cell)));
    first = false;
    if (heading) continue;
    const sides = cells.map(normalOrNull);
    if (cells.length === 1) yield cells[0];
    else if (cells.length !== 2 || sides.includes(null) || !sides.includes(own)) yield null;
    else yield sides[0] === own ? cells[1] : cells[0];
  }
}

function splitCells(line) {
  const separator = ["\t", ",", ";"].find((each) => line.includes(each));
  return separator ? line.split(separator) : line.split(/\s+/);
}

function normalOrNull(spelled) {
  if (spelled === null || spelled.length > LONGEST_ID || spelled.includes("\ufffd")) return null;
  try {
    return normaliseUserId(spelled);
  } catch {
    return null;
  }
}
