// Why the device does not go on. Every message is one line that a person can act on.

// What was given cannot be used: a file, an address, an invitation.
export class InputError extends Error {}

// A round, a label table or a report that is malformed.
export class ProtocolError extends Error {}

// A round that this device will not answer, because it would break what it promised its user.
export class RefusedError extends Error {}

// A ledger that is lost, damaged or older than what was written: nobody knows any more what was spent.
export class LedgerError extends Error {}

// An aggregator that cannot be reached, or that answers what no aggregator should.
export class AggregatorError extends Error {}

// An invitation that was used before.
export class UsedError extends AggregatorError {}
