// vCard files -> one id per card: the preferred e-mail address, else the first. As privact.device.contacts.vcard.
//
// A card is a contact, and a contact has one id: were each address counted, one contact would cost several times.

import { InputError } from "../core/errors.js";

const BEGIN = /^[^\S\n]*(?:[\w-]+\.)?BEGIN:VCARD\s*$/gim;
const END = /^(?:[\w-]+\.)?END:VCARD$/im;
const PROPERTY = /^(?:[\w-]+\.)?([\w-]+)((?:;(?:[^":;]|"[^"]*")*)*):([^]*)$/;

// The id of each card, null for a card that has none or cannot be read.
export function readCards(text) {
  const starts = [...text.matchAll(BEGIN)].map((match) => match.index);
  if (!starts.length || text.slice(0, starts[0]).trim()) throw new InputError("this is not the beginning of a vCard: export your contacts again");
  return starts.map((begin, place) => {
    const card = text.slice(begin, starts[place + 1] ?? text.length).trim();
    return END.test(card.split(/\r\n|\r|\n/).at(-1)) ? idOf(card) : null;
  });
}

function idOf(card) {
  const found = [];
  for (const line of unfold(card)) {
    const property = PROPERTY.exec(line);
    if (!property) return null;
    if (property[1].toLowerCase() !== "email") continue;
    const parameters = readParameters(property[2]);
    const value = plain(parameters.quotedPrintable ? decodeQuoted(property[3]) : property[3]);
    if (value) found.push({ rank: parameters.rank, value });
  }
  return found.sort((one, other) => one.rank - other.rank)[0]?.value ?? null;
}

// Lines of a card: one that begins with a blank continues the one before; so does one after a quoted-printable line that ends with =.
function unfold(card) {
  const lines = [];
  for (const line of card.split(/\r\n|\r|\n/)) {
    const last = lines.at(-1);
    if (last && /^[ \t]/.test(line)) lines[lines.length - 1] += line.slice(1);
    else if (last && /;[^:]*QUOTED-PRINTABLE/i.test(last) && last.endsWith("=")) lines[lines.length - 1] = last.slice(0, -1) + line;
    else if (line.trim()) lines.push(line);
  }
  return lines;
}

// The rank of a value among its card's: PREF=1 to 100 as version 4.0 writes it, TYPE=pref as the older ones do.
function readParameters(text) {
  let [rank, preferred, quotedPrintable] = [null, false, false];
  for (const parameter of text.split(";").filter(Boolean)) {
    const [name, value] = parameter.includes("=") ? parameter.split(/=(.*)/s) : ["TYPE", parameter];
    const values = value.replaceAll('"', "").toLowerCase().split(",");
    if (/^pref$/i.test(name)) {
      preferred = true;
      if (/^\d+$/.test(values[0])) rank ??= Number(values[0]);
    }
    if (/^type$/i.test(name) && values.includes("pref")) preferred = true;
    if (values.includes("quoted-printable")) quotedPrintable = true;
  }
  return { rank: rank ?? (preferred ? 0 : 101), quotedPrintable };
}

function decodeQuoted(text) {
  const bytes = new TextEncoder().encode(text);
  const decoded = [];
  for (let place = 0; place < bytes.length; place++) {
    const pair = bytes[place] === 61 ? String.fromCharCode(...bytes.slice(place + 1, place + 3)) : "";
    if (/^[0-9a-f]{2}$/i.test(pair)) {
      decoded.push(parseInt(pair, 16));
      place += 2;
    } else decoded.push(bytes[place]);
  }
  return new TextDecoder().decode(Uint8Array.from(decoded));
}

// An address as people write it: without the scheme before it.
function plain(value) {
  const bare = value.trim().replace(/\\([,;:])/g, "$1");
  if (!/^[a-z][a-z0-9+.-]*:/i.test(bare)) return bare;
  const address = bare.replace(/^[a-z][a-z0-9+.-]*:/i, "").split("?")[0].replace(/^\/+/, "");
  try {
    return decodeURIComponent(address);
  } catch {
    return address;
  }
}
