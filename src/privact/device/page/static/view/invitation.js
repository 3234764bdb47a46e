// Invitations: the part of a link after the # -> where to take part, and the secret that says who.

import { aggregatorAddress } from "../core/address.js";
import { utf8 } from "../core/bytes.js";
import { InputError, UsedError } from "../core/errors.js";
import { Client, isCode, isToken } from "../client.js";
import { keepText } from "../ledger/database.js";

const KEPT = "privact invitation";
const JOINING = "privact joining"; // the token that was drawn for an invitation, until the account is there

// The invitation with which this tab was opened, if it was; it stays until the person has joined.
export const keptInvitation = () => sessionStorage.getItem(KEPT);
export const forgetInvitation = () => {
  sessionStorage.removeItem(KEPT);
  localStorage.removeItem(JOINING);
};

// The token and the address of an invitation.
//
// text: a whole link, or what comes after its #: SECRET, or SECRET@ADDRESS where the page lives elsewhere than the aggregator.
// The secret is the code of an invitation, or a token.
// page: the address of this page; an aggregator that serves it does so below /join/.
export function readInvitation(text, page) {
  const [before, fragment] = text.includes("#") ? text.trim().split("#", 2) : ["", text.trim()];
  const [token, elsewhere] = fragment.split(/@(.*)/s);
  if (!isToken(token) && !isCode(token)) throw new InputError("this invitation is not complete: copy the whole link again");
  if (elsewhere) return { token, address: aggregatorAddress(decodeURIComponent(elsewhere)) };
  const served = /^(.*)\/join\/?(index\.html)?$/.exec((before || page).split("?")[0]);
  if (!served) throw new InputError("this invitation does not say where to take part: open the link itself");
  return { token, address: aggregatorAddress(served[1]) };
}

// The token of an invitation. A code is exchanged for a token that is drawn here and stored first, so that a killed tab can go on.
//
// accounts: those of this browser; who opens a link again that was used here goes on with the token of then.
export async function tokenFor({ token: secret, address }, accounts) {
  if (!isCode(secret)) return secret;
  const user = secret.slice("invite-".length).split(".")[0];
  const kept = JSON.parse(localStorage.getItem(JOINING) ?? "null");
  const token = kept?.code === secret ? kept.token : `${user}.${randomText()}`;
  keepText(JOINING, JSON.stringify({ code: secret, token }));
  try {
    await new Client(address, secret).accept(new Uint8Array(await crypto.subtle.digest("SHA-256", utf8(token))));
  } catch (error) {
    const mine = accounts.find((account) => account.key === address.key && account.token.startsWith(`${user}.`));
    if (!(error instanceof UsedError && mine)) throw error;
    return mine.token;
  }
  return token;
}

const randomText = () => btoa(String.fromCharCode(...crypto.getRandomValues(new Uint8Array(32)))).replaceAll("+", "-").replaceAll("/", "_").replace("=", "");
