// Mastodon's following_accounts.csv -> the followed accounts. As privact.device.contacts.mastodon.

import { casefold, normaliseUserId } from "../core/users.js";
import { readRows } from "./lines.js";

const ADDRESS_HEADINGS = new Set(["account address", "account", "address", "acct", "account name", "handle", "username"]);
const OTHER_HEADINGS = new Set(["show boosts", "notify on new posts", "languages", "hide notifications", "list name", "comment"]);
const FLAGS = new Set(["true", "false", "0", "1", "yes", "no"]);
const ADDRESS = /^@?[^\s@,;]+(@[^\s@,;]+)?$/;

const headingOf = (cell) => casefold(cell.replaceAll("_", " ")).split(/\s+/).filter(Boolean).join(" ");

// Whether a text is Mastodon's export rather than a list: by its heading, or by flags after the first address.
export function looksLikeMastodon(text) {
  for (const row of readRows(text)) {
    if (!row.some(Boolean)) continue;
    const heading = row.map(headingOf);
    if (heading.includes("account address") || (ADDRESS_HEADINGS.has(heading[0]) && heading.some((cell) => OTHER_HEADINGS.has(cell)))) return true;
    return row.length > 1 && ADDRESS.test(row[0]) && FLAGS.has(casefold(row[1]));
  }
  return false;
}

// The address of each followed account, { place, reason } for a row without one. An account without a server lives on the owner's.
export function* readMastodon(text, owner) {
  const own = normaliseUserId(owner);
  const home = own.includes("@") ? own.slice(own.indexOf("@") + 1) : "";
  let [column, number] = [null, 0];
  for (const row of readRows(text)) {
    number += 1;
    if (!row.some(Boolean)) continue;
    if (column === null) {
      const found = row.map(headingOf).findIndex((cell) => ADDRESS_HEADINGS.has(cell));
      column = Math.max(found, 0);
      if (found >= 0) continue;
    }
    if (row.length <= column || !ADDRESS.test(row[column])) {
      yield { place: `line ${number}`, reason: "there is no account address" };
      continue;
    }
    const address = row[column].replace(/^@+/, "");
    yield home && !address.includes("@") ? `${address}@${home}` : address;
  }
}
