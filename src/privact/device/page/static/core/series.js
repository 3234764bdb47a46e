// Series: what a person agrees to once, before the first of several rounds over the same contacts. docs/protocol.md, "Series".

import { amount } from "../ledger/amounts.js";
import { ProtocolError } from "./errors.js";

export const SERIES_BYTES = 12; // number, number of rounds, total epsilon
const MAX_ROUNDS = 100;
const LONGEST_NAME = 60;

// What the last bytes of a round say about its series: { name, number, rounds, epsilon }.
//
// view: all bytes of the round. id: its name, which ends with "." and the number.
export function readSeries(view, id) {
  const start = view.byteLength - SERIES_BYTES;
  const number = view.getUint16(start);
  const ending = `.${number}`;
  const name = id.endsWith(ending) ? id.slice(0, -ending.length) : "";
  return Object.freeze({ name, number, rounds: view.getUint16(start + 2), epsilon: view.getFloat64(start + 4) });
}

// The bytes that a round of a series ends with; none for a round on its own.
export function encodeSeries(series) {
  const bytes = new Uint8Array(series ? SERIES_BYTES : 0);
  if (series) {
    const view = new DataView(bytes.buffer);
    view.setUint16(0, series.number);
    view.setUint16(2, series.rounds);
    view.setFloat64(4, series.epsilon);
  }
  return bytes;
}

// Refuse a round that cannot be one of its series; each costs at most an equal share of the total, in exact decimals.
export function checkSeriesRound({ id, epsilon, series }) {
  const { name, number, rounds } = series;
  const refuse = (why) => { throw new ProtocolError(`round ${id} ${why}: it is not answered`); };
  if (!(rounds >= 2 && rounds <= MAX_ROUNDS)) refuse(`is of a series of ${rounds} rounds, not of 2 to ${MAX_ROUNDS}`);
  if (!(number >= 1 && number <= rounds)) refuse(`is number ${number} of a series of ${rounds} rounds`);
  if (name.length < 1 || name.length > LONGEST_NAME) refuse(`is not named after its series and its number ${number}`);
  if (!(series.epsilon >= 2e-6 * rounds && series.epsilon <= Number.MAX_VALUE)) refuse(`is of a series of epsilon ${series.epsilon}`);
  if (amount(epsilon) * BigInt(rounds) > amount(series.epsilon)) refuse(`costs more than 1/${rounds} of the epsilon ${series.epsilon} of its series`);
}
