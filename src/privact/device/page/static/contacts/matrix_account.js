// Matrix account data -> the people with whom there are direct chats. As privact.device.contacts.matrix_account.

import { InputError } from "../core/errors.js";
import { normaliseUserId } from "../core/users.js";

const TYPE = "m.direct";
const WHITE = "\\s\\u001c-\\u001f\\u0085";
const USER_ID = new RegExp(`^@[^${WHITE}:@]+:[^${WHITE}@]+$`);

// The id of each person with a direct chat, or { place, reason }; chats that were left are skipped, and whoever is no Matrix user.
export function* readMatrix(text, owner) {
  const own = normaliseUserId(owner);
  let number = 0;
  for (const [user, rooms] of Object.entries(findChats(parse(text)))) {
    number += 1;
    const place = `entry ${number}`;
    if (!USER_ID.test(user)) yield { place, reason: "it is not a Matrix id, such as @bob:b.example" };
    else if (!Array.isArray(rooms) || !rooms.length) yield { place, reason: "the chat was left" };
    else if (own.includes("@")) yield { place, reason: `it is a Matrix id: ids look like ${own} here` };
    else yield user;
  }
}

function parse(text) {
  try {
    return JSON.parse(text);
  } catch {
    throw new InputError("this begins as JSON, but is not whole: download it again");
  }
}

const isObject = (data) => typeof data === "object" && data !== null && !Array.isArray(data);

// The content of m.direct, wherever it is in the data.
function findChats(data) {
  if (isObject(data) && isObject(data.account_data)) data = data.account_data;
  if (isObject(data) && isObject(data.global)) data = data.global;
  if (isObject(data) && Array.isArray(data.events)) data = data.events.findLast((each) => isObject(each) && each.type === TYPE) ?? null;
  if (isObject(data) && Object.hasOwn(data, TYPE)) data = data[TYPE];
  if (isObject(data) && data.type === TYPE) data = data.content;
  const names = isObject(data) ? Object.keys(data) : null;
  if (!names || (names.length && !names.some((name) => name.startsWith("@")))) {
    throw new InputError("this is not Matrix account data: choose the event m.direct, from your client's account data or your server's export");
  }
  return data;
}
