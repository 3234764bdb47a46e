// Epsilons that can be added up exactly: the decimal that people read, so that ten times 0.1 is 1.

import { InputError } from "../core/errors.js";

const PLACES = 30; // digits after the point; an epsilon of a round has at most 23

// A number as a BigInt in units of 10^-30.
export function amount(number) {
  const written = /^(\d+)(?:\.(\d+))?(?:e([+-]\d+))?$/.exec(String(number));
  const places = written ? PLACES + Number(written[3] ?? 0) - (written[2] ?? "").length : -1;
  if (places < 0) throw new InputError(`${number} cannot be counted: give a number from 0 with fewer digits`);
  return BigInt(written[1] + (written[2] ?? "")) * 10n ** BigInt(places);
}

// An amount as a number, for showing it.
export const toNumber = (units) => Number(units) / 10 ** PLACES;

// An epsilon for a sentence, such as 2.5.
export const inWords = (epsilon) => String(Number((typeof epsilon === "bigint" ? toNumber(epsilon) : epsilon).toPrecision(10)));
