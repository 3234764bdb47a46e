// vCard files -> one id per card: the preferred e-mail address, else the first. As privact.device.contacts.vcard.
//
// A card is a contact, and a contact has one id: were each address counted, one contact would cost several times.

import { InputError } from "../core/errors.js";
import { readProperties, splitLines, stripBlanks, unescapeBytes } from "./content_lines.js";

const BEGIN = /^(?:[a-z0-9_-]+\.)?BEGIN:VCARD$/i;
const END = /^(?:[a-z0-9_-]+\.)?END:VCARD$/i;
const SCHEME = /^[a-z][a-z0-9+.-]*:/i;

// The id of each card, or { place, reason } for a card without one.
export function* readCards(text) {
  let number = 0;
  for (const card of splitCards(text)) {
    number += 1;
    const whole = card.length > 0 && END.test(stripBlanks(card.at(-1)));
    const found = whole ? findId(card.slice(0, -1)) : "";
    yield found || { place: `card ${number}`, reason: whole ? "there is no email" : "the card cannot be read" };
  }
}

// The lines of each card after its first, without empty ones at the end.
function splitCards(text) {
  const cards = [];
  for (const line of splitLines(text)) {
    if (BEGIN.test(stripBlanks(line))) cards.push([]);
    else if (cards.length) cards.at(-1).push(line);
    else if (stripBlanks(line)) throw new InputError("this is not the beginning of a vCard: export your contacts again");
  }
  for (const card of cards) while (card.length && !stripBlanks(card.at(-1))) card.pop();
  return cards;
}

// The one id of a card, or nothing.
function findId(lines) {
  const found = [...readProperties(lines, "email")].sort((one, other) => one.rank - other.rank);
  for (const { value } of found) {
    const spelled = plain(value);
    if (spelled) return spelled;
  }
  return "";
}

// An address as people write it: without the scheme before it.
function plain(written) {
  const value = stripBlanks(written).replace(/\\([,;:])/g, "$1");
  return SCHEME.test(value) ? unquote(value.replace(SCHEME, "")).split("?")[0].replace(/^\/+/, "") : value;
}

// Text with %40 and the like decoded, as Python's unquote does it.
const unquote = (text) => text.replace(/[\x00-\x7f]+/g, (run) => new TextDecoder("utf-8", { ignoreBOM: true }).decode(unescapeBytes(run, 0x25)));
