// Exact discrete Laplace noise: P(k) proportional to exp(-epsilon |k|), from the browser's cryptographic source.
//
// The sampler of Canonne, Kamath and Steinke (The Discrete Gaussian for Differential Privacy, NeurIPS 2020), Algorithms 1 and 2.
// A double is a fraction, so epsilon is taken as the fraction that it is, and everything is whole numbers: nothing is rounded,
// and the law is that of epsilon itself. There is no seed.

const POOL = 1024; // bytes drawn at once
let pool = new Uint8Array(0);
let used = 0;

function randomByte() {
  if (used === pool.length) {
    pool = crypto.getRandomValues(new Uint8Array(POOL));
    used = 0;
  }
  const byte = pool[used];
  pool[used++] = 0; // no byte is used twice, or found later
  return byte;
}

// An integer from 0 to bound - 1, each equally likely: too large ones are drawn again.
export function uniformBelow(bound) {
  const bits = (bound - 1n).toString(2).length;
  const [bytes, excess] = [Math.ceil(bits / 8), (8 - (bits % 8)) % 8];
  for (;;) {
    let drawn = BigInt(randomByte() >> excess);
    for (let place = 1; place < bytes; place++) drawn = (drawn << 8n) | BigInt(randomByte());
    if (drawn < bound) return drawn;
  }
}

// True with probability exp(-numerator / denominator), for a fraction from 0 to 1. Algorithm 1.
function bernoulliExp(numerator, denominator) {
  let k = 1n;
  while (uniformBelow(denominator * k) < numerator) k += 1n;
  return k % 2n === 1n;
}

// A finite double above 0 as the fraction [numerator, denominator] that it is exactly, in lowest terms.
export function exactFraction(number) {
  if (!(number > 0 && number < Infinity)) throw new RangeError(`${number} is not a positive number`);
  let denominator = 1n;
  let scaled = number;
  while (!Number.isInteger(scaled)) {
    scaled *= 2; // exact
    denominator *= 2n;
  }
  return [BigInt(scaled), denominator];
}

// One draw of discrete Laplace noise with the given epsilon as a fraction s / t. Algorithm 2.
export function drawLaplace([s, t]) {
  for (;;) {
    const remainder = uniformBelow(t);
    if (!bernoulliExp(remainder, t)) continue;
    let whole = 0n;
    while (bernoulliExp(1n, 1n)) whole += 1n;
    const size = (remainder + t * whole) / s;
    const negative = (randomByte() & 1) === 1;
    if (negative && size === 0n) continue; // zero would be drawn twice as often
    return negative ? -size : size;
  }
}

// The noisy counts that may leave the device. Every call draws afresh: call it once per round and keep what it gave.
//
// counts: one exact count per bin.
// epsilonReport: what one contact may cost in this report.
export function randomize(counts, epsilonReport) {
  const epsilon = exactFraction(epsilonReport);
  return counts.map((count) => BigInt(count) + drawLaplace(epsilon));
}
