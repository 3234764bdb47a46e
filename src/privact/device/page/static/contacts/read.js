// Contact lists of one person: the text of a file -> the normalised ids of the person's contacts. As privact.device.contacts.
//
// The format is told by what is in the file, not by its name. Entries without an id that can be read are skipped and counted:
// whether a device answers must not depend on one contact. What is read here never leaves the device.

import { InputError } from "../core/errors.js";
import { LONGEST_USER_ID, normaliseUserId } from "../core/users.js";
import { looksLikeMastodon, readMastodon } from "./mastodon.js";
import { readMatrix } from "./matrix_account.js";
import { readList } from "./plain_list.js";
import { readCards } from "./vcard.js";

// ids: normalised, each once, in order, never the person's own. format: how the file was read.
// duplicates, oneself, withoutId: how many entries were left out, and why. skipped: place and reason of those without an id.
export function readContacts(text, owner) {
  const bare = text.replace(/^\ufeff/, "");
  const start = bare.replace(/^[\ufeff \t\r\n]+/, "");
  if (/^BEGIN:VCARD/i.test(start)) return distinct(readCards(bare), owner, "address book");
  if (start.startsWith("{")) return distinct(readMatrix(bare, owner), owner, "Matrix account data");
  if (looksLikeMastodon(start)) return distinct(readMastodon(bare, owner), owner, "Mastodon export");
  return distinct(readList(bare, owner), owner, "list");
}

// The text of a file that a person chose, in UTF-8, or in UTF-16 with its mark; what is not makes only its own entry unreadable.
export async function readFileText(file) {
  try {
    const bytes = new Uint8Array(await file.arrayBuffer());
    return new TextDecoder({ "255,254": "utf-16le", "254,255": "utf-16be" }[bytes.slice(0, 2)] ?? "utf-8").decode(bytes);
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
  try {
    const contact = normaliseUserId(spelled);
    return contact.includes("\ufffd") || [...contact].length > LONGEST_USER_ID ? null : contact;
  } catch {
    return null;
  }
}
