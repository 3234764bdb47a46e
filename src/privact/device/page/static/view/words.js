// What the page says: numbers, times and sentences without jargon.

import { inWords } from "../ledger/amounts.js";

const count = new Intl.NumberFormat("en");
const moment = new Intl.DateTimeFormat(undefined, { dateStyle: "long", timeStyle: "short" }); // as people write it where they are

export const number = (value) => count.format(value);
export const signed = (value) => (value > 0 ? `+${number(value)}` : value < 0 ? `\u2212${number(-value)}` : "0");
export const when = (seconds) => moment.format(new Date(1000 * seconds));

// Until when a round can be answered; one without an end is closed by hand.
export const until = (seconds) => (seconds < 250_000_000_000 ? `open until ${when(seconds)}` : "open");

export const points = (epsilon) => (inWords(epsilon) === "1" ? "1 privacy point" : `${inWords(epsilon)} privacy points`);
export const several = (amount, one, many) => `${number(amount)} ${amount === 1 ? one : many}`;

// How sure somebody can become who knew nothing: exp(epsilon) / (1 + exp(epsilon)), in percent, rounded up.
export const surety = (epsilon) => Math.min(100, Math.ceil(100 / (1 + Math.exp(-epsilon)) - 1e-9));

export const meaningOf = (epsilon) =>
  `Somebody who has no idea whether you know a certain person, fifty-fifty, can be at most ${surety(epsilon)} percent sure after seeing ` +
  `everything that is sent in a round of ${points(epsilon)}, by you and by that person.`;

// Of which series a round is. agreed: whether the person agreed to all of it before.
export const nameSeries = ({ name, number: place, rounds, epsilon }, agreed) =>
  `Round ${place} of ${rounds} of the series ${name}, ${points(epsilon)} in all. ` +
  (agreed ? "You agreed to it: choose your contacts, and this round is answered without another question." : "You are asked once, for all of them.");

// What a person agrees to with the first round of a series.
export const askForSeries = ({ number: place, rounds, epsilon }) =>
  `Sending agrees to all ${rounds - place + 1} rounds that are left of this series, ${points(epsilon)} in all. You are not asked again, and more than that is refused.`;

// What was found in a file, and what was left out.
export function foundWords({ ids, format, duplicates, oneself, withoutId }) {
  const left = [];
  if (duplicates) left.push(`${several(duplicates, "was", "were")} named twice and counted once`);
  if (oneself) left.push("you yourself were left out");
  if (withoutId) left.push(`${several(withoutId, "entry has", "entries have")} no address that can be read and ${withoutId === 1 ? "was" : "were"} left out`);
  return `${several(ids.length, "contact", "contacts")} found in your ${format}${left.length ? `; ${left.join(", ")}` : ""}.`;
}

export const boxes = (round) => (round.bins === "labels" ? ["group", "groups"] : ["box", "boxes"]);

export const sorting = (round) =>
  round.bins === "labels"
    ? `Everybody here belongs to one of ${number(round.nBins)} public groups. Your contacts are counted in each.`
    : `A fixed rule, the same for everybody, sorts people by name into ${several(round.nBins, "box", "boxes")}. Your contacts are counted in each.`;
