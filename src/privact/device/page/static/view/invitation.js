// Invitations: the part of a link after the # -> where to take part, and the secret that says who.

import { aggregatorAddress } from "../core/address.js";
import { InputError } from "../core/errors.js";
import { isToken } from "../client.js";

const KEPT = "privact invitation";

// The invitation with which this tab was opened, if it was; it stays until the person has joined.
export const keptInvitation = () => sessionStorage.getItem(KEPT);
export const forgetInvitation = () => sessionStorage.removeItem(KEPT);

// The token and the address of an invitation.
//
// text: a whole link, or what comes after its #: TOKEN, or TOKEN@ADDRESS where the page lives elsewhere than the aggregator.
// page: the address of this page; an aggregator that serves it does so below /join/.
export function readInvitation(text, page) {
  const [before, fragment] = text.includes("#") ? text.trim().split("#", 2) : ["", text.trim()];
  const [token, elsewhere] = fragment.split(/@(.*)/s);
  if (!isToken(token)) throw new InputError("this invitation is not complete: copy the whole link again");
  if (elsewhere) return { token, address: aggregatorAddress(decodeURIComponent(elsewhere)) };
  const served = /^(.*)\/join\/?(index\.html)?$/.exec((before || page).split("?")[0]);
  if (!served) throw new InputError("this invitation does not say where to take part: open the link itself");
  return { token, address: aggregatorAddress(served[1]) };
}
