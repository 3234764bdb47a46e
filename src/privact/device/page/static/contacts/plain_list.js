// Plain lists of one's own contacts: one id per line, or one's own id beside it. As privact.device.contacts.edge_list.
//
// A line that is no contact is skipped with the reason. Where the owner's id is an address such as ada@vinyl.example, so are all others; the
// link of a Mastodon profile, on vinyl.example that of /@bob, is the address bob@vinyl.example.

import { casefold, normaliseUserId } from "../core/users.js";
import { splitLines } from "./lines.js";

const HEADINGS = new Set(
  ("user users contact contacts id ids source target from to follower following followee friend friends owner account name handle").split(" "),
);
const NUMBER = /^[(]?[+0][0-9 \u00a0\t().\-/\u2010-\u2015]{6,}$/;
const IN_NUMBERS = /[ \u00a0\t().\-/\u2010-\u2015]/g;
const NAMED = /^[^<>@]*<([^<>@ \t]+@[^<>@ \t]+)>$/; // Bob <bob@a.example>, as mail programs write it
const PROFILE = /^[Hh][Tt][Tt][Pp][Ss]?:\/\/([^/@?#:<> \t]+)\/@([^/@?#:<> \t]+)\/?$/; // as Mastodon shows it
const CONTROL = /[\x00-\x1f\x7f-\x9f]/;
const LONGEST_SHOWN = 40;

// The contact on each line, or { place, reason }; empty lines, # comments and a heading are skipped.
export function* readList(text, owner) {
  const own = normaliseUserId(owner);
  let [first, number] = [true, 0];
  for (const line of splitLines(text)) {
    number += 1;
    const bare = line.trim();
    if (!bare || bare.startsWith("#")) continue;
    const cells = splitCells(bare).map((cell) => cell.trim().replace(/^"+|"+$/g, ""));
    const heading = first && cells.every((cell) => !cell || HEADINGS.has(casefold(cell)));
    first = false;
    if (heading) continue;
    const found = contactOf(bare, cells, own);
    yield typeof found === "string" ? found : { place: `line ${number}`, reason: found.reason };
  }
}

function contactOf(line, cells, own) {
  if (NUMBER.test(line)) return fitting(line.replace(IN_NUMBERS, "").replace(/^00/, "+"), own);
  if (cells.length === 1) return fitting(cells[0], own);
  if (NAMED.test(line)) return fitting(line, own);
  const sides = cells.map(normalOrNull);
  if (sides.includes(null)) return { reason: `${shorten(line)} has an empty column: give one id, or yours and another` };
  if (sides.includes(own) && sides.length === 2) return fitting(sides[0] === own ? cells[1] : cells[0], own);
  if (!line.includes("@") && !/[\t,;]/.test(line)) return { reason: `${shorten(line)} is a name, not an id` };
  return { reason: `${shorten(line)} does not have your id and one other: give one id a line` };
}

// An id, if it is one where the owner's is one.
function fitting(written, own) {
  const named = NAMED.exec(written)?.[1] ?? written;
  const profile = own.includes("@") ? PROFILE.exec(named) : null;
  const spelled = profile ? `${profile[2]}@${profile[1]}` : named;
  const normal = normalOrNull(spelled);
  if (normal === null) return { reason: "there is no id" };
  if (normal.includes("\ufffd") || CONTROL.test(normal)) return { reason: `${shorten(spelled)} is not UTF-8 text` };
  const link = normal.includes("://");
  if (own.includes("@") && (link || !/^[^@<> \t]+@[^@<> \t]+$/.test(normal))) {
    const what = link ? "a link" : NUMBER.test(spelled) ? "a phone number" : "not an id";
    return { reason: `${shorten(spelled)} is ${what}: ids look like ${own} here` };
  }
  return spelled;
}

function splitCells(line) {
  const separator = ["\t", ",", ";"].find((each) => line.includes(each));
  return separator ? line.split(separator) : line.split(/\s+/);
}

function normalOrNull(spelled) {
  try {
    return normaliseUserId(spelled);
  } catch {
    return null;
  }
}

const shorten = (text) => `'${text.length <= LONGEST_SHOWN ? text : `${text.slice(0, LONGEST_SHOWN)}...`}'`;
