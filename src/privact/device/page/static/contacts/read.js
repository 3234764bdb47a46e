// Contact lists of one person: the text of a file -> the normalised ids of the person's contacts. As privact.device.contacts.
//
// The format is told by what is in the file, not by its name. Entries without an id that can be read are skipped and counted:
// whether a device answers must not depend on one contact. What is read here never leaves the device.

import { InputError } from "../core/errors.js";
import { normaliseUserId } from "../core/users.js";
import { looksLikeMastodon, readMastodon } from "./mastodon.js";
import { readList } from "./plain_list.js";
import { readCards } from "./vcard.js";

const LONGEST_ID = 320; // the longest e-mail address

// ids: normalised, each once, in order, never the person's own. format: how the file was read.
// duplicates, oneself, withoutId: how many entries were left out, and why. skipped: place and reason of those without an id.
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
  const skipped = [];
  let [duplicates, oneself, number] = [0, 0, 0];
  for (const spelled of entries) {
    number += 1;
    const contact = typeof spelled === "string" ? normalOrNull(spelled) : null;
    if (contact === null) skipped.push(spelled?.reason ? spelled : { place: `entry ${number}`, reason: "there is no id that can be read" });
    else if (contact === own) oneself += 1;
    else if (seen.has(contact)) duplicates += 1;
    else seen.add(contact);
  }
  return { ids: [...seen].sort(), format, duplicates, oneself, withoutId: skipped.length, skipped };
}

function normalOrNull(spelled) {
  if (spelled === null || spelled.length > LONGEST_ID || spelled.includes("\ufffd")) return null;
  try {
    return normaliseUserId(spelled);
  } catch {
    return null;
  }
}
