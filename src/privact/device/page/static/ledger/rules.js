// What a device demands of a round, whoever announces it: the rules of privact.device.ledger.rules.

import { InputError, RefusedError } from "../core/errors.js";
import { LAST_SECOND, MIN_EPSILON } from "../core/round.js";
import { amount, inWords } from "./amounts.js";

// budget: the most that all rounds together may ever spend. cap: the largest epsilon of one round.
// minimum_users: the fewest users of a round. Later they can only become stricter.
export const DEFAULT_RULES = Object.freeze({ budget: 10, cap: 2, minimum_users: 100 });

// The rules, if they are some.
export function checkRules({ budget, cap, minimum_users }) {
  const finite = (value, least) => typeof value === "number" && value >= least && value < Infinity;
  if (!finite(budget, 0)) throw new InputError(`the budget is ${budget}; it must be a number from 0`);
  if (!finite(cap, MIN_EPSILON)) throw new InputError(`the most for one round is ${cap}; it must be a number from ${MIN_EPSILON}`);
  if (!Number.isSafeInteger(minimum_users) || minimum_users < 1) throw new InputError(`the fewest people are ${minimum_users}; give a whole number from 1`);
  amount(budget);
  return Object.freeze({ budget, cap, minimum_users });
}

// The stricter of each pair of limits.
export const tightened = (one, other) =>
  checkRules({
    budget: Math.min(one.budget, other.budget),
    cap: Math.min(one.cap, other.cap),
    minimum_users: Math.max(one.minimum_users, other.minimum_users),
  });

// Refuse other rules of which one is looser.
export function mustTighten(rules, other) {
  const strictest = tightened(rules, checkRules(other));
  for (const name of Object.keys(rules)) {
    if (strictest[name] !== other[name]) throw new InputError(`this limit is ${rules[name]} and cannot become ${other[name]}: limits only become stricter`);
  }
  return strictest;
}

// Refuse a round that breaks the rules, whatever is left of the budget.
//
// now: this device's clock, UTC seconds. late: whether the aggregator says that this user may join late.
// reserve: seconds before the close that are needed to send a report in time.
export function checkRound(round, rules, now, late, reserve = 0) {
  if (!(round.epsilon > 0 && round.epsilon <= rules.cap)) {
    throw new RefusedError(`round ${round.id} costs ${inWords(round.epsilon)}, more than the ${inWords(rules.cap)} that you allow one round`);
  }
  if (round.nUsers < rules.minimum_users) {
    throw new RefusedError(`round ${round.id} has ${round.nUsers} people, fewer than the ${rules.minimum_users} that you ask for`);
  }
  const last = closingTime(round, late);
  if (now < round.opens) throw new RefusedError(`round ${round.id} opens at ${date(round.opens)}, but the clock here says ${date(now)}`);
  if (now >= last) throw new RefusedError(`round ${round.id} closed at ${date(last)}, and the clock here says ${date(now)}`);
  if (now > last - reserve) throw new RefusedError(`round ${round.id} closes in ${Math.floor(last - now)} seconds, too few to be sure that your numbers arrive`);
}

// When a round closes for this user, UTC seconds.
export const closingTime = (round, late) => round.closes + (late ? round.joinerSeconds : 0);

const date = (seconds) => `${new Date(1000 * Math.min(Math.max(seconds, 0), LAST_SECOND)).toISOString().slice(0, 16).replace("T", " ")} UTC`;
