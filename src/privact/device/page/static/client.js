// What a device asks of an aggregator over HTTP. Nothing in a question depends on a contact.
//
// Responses are not trusted: they are read up to a length, and checked. Redirects are not followed, since a token belongs to one address.

import { fromHex, toHex, utf8 } from "./core/bytes.js";
import { AggregatorError, InputError, ProtocolError, UsedError } from "./core/errors.js";
import { parseLabels } from "./core/labels.js";
import { isRoundId, parseRound } from "./core/round.js";
import { LONGEST_LOG, parseLog } from "./core/round_log.js";
import { normaliseUserId, userDigest } from "./core/users.js";

const TOKEN = /^[0-9a-f]{32}\.[\x21-\x7e]{1,479}$/;
const CODE = /^invite-[0-9a-f]{32}\.[A-Za-z0-9_-]{22}$/;
const AGAIN = new Set([429, 500, 502, 503, 504]);
const LONGEST_WAIT = 30_000; // milliseconds between two attempts
const LONGEST_TABLE = 2 ** 29; // bytes
const MOST_ROUNDS = 1000;
const ASKING = 3; // attempts at a question
const SENDING = 6; // attempts at sending a report
const ANONYMOUS = true; // without the token: everybody gets the same, and nobody learns who asks

const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

export const isToken = (text) => TOKEN.test(text);

// Whether a text is the code of an invitation, which works once.
export const isCode = (text) => CODE.test(text);

export class Client {
  // address: of the aggregator. token: the user's secret; for accept() the code of an invitation.
  constructor(address, token) {
    if (!isToken(token) && !isCode(token)) throw new InputError("this invitation is not complete: open the whole link again");
    this.address = address;
    this.token = token;
  }

  // Who the token belongs to, and the rounds there are; refused if the token is another user's.
  async me() {
    const said = readJson(await this.#get("/v1/me", 2 ** 24));
    let me;
    try {
      me = { user: normaliseUserId(said.user), discoverable: said.discoverable !== false, rounds: said.rounds.slice(0, MOST_ROUNDS).map(readNotice) };
    } catch {
      throw new AggregatorError(`the server at ${this.address.url} does not answer as it should: tell the operator`);
    }
    if (this.token.split(".")[0] !== toHex(userDigest(me.user))) throw new AggregatorError(`the server at ${this.address.url} takes you for somebody else: tell the operator`);
    return me;
  }

  // Use an invitation: the token with this SHA-256 is the user's from now on, and the code is worthless. Asking again does no harm.
  async accept(tokenSha256) {
    const content = utf8(JSON.stringify({ token_sha256: toHex(tokenSha256) }));
    const { status, body } = await this.#ask("POST", "/v1/join", 65536, { attempts: SENDING, content, type: "application/json" });
    if (status === 401) throw new AggregatorError("this invitation is not valid any more: ask for a new one");
    if (status === 409) throw new UsedError("this invitation was used before: go on where it was used; if that was not you, ask for a new one");
    if (status !== 200) throw new AggregatorError(`the server at ${this.address.url} says: ${oneLine(readJson(body)?.error ?? `status ${status}`)}`);
  }

  // The log of all rounds, its signatures checked; null if the aggregator keeps none.
  async log() {
    const { status, body } = await this.#ask("GET", "/v1/log", LONGEST_LOG, { attempts: ASKING, anonymous: true });
    if (status === 404) return null;
    if (status !== 200) throw new AggregatorError(`the server at ${this.address.url} does not show its log of rounds: tell the operator`);
    return parseLog(body);
  }

  // The parameters of an announced round; anything but the announced bytes is refused.
  async round(notice) {
    const round = parseRound(await this.#get(`/v1/rounds/${notice.id}/parameters`, 4096, ANONYMOUS), notice.digest);
    if (round.id !== notice.id) throw new ProtocolError(`round ${notice.id} calls itself ${round.id}: it is not answered`);
    return round;
  }

  // The whole label table of a round with label bins, never a part of it; null for random bins.
  async labels(round) {
    if (round.bins !== "labels") return null;
    const longest = Math.min(64 + 24 * round.nUsers, LONGEST_TABLE);
    return parseLabels(await this.#getUnnamed(`/v1/rounds/${round.id}/labels`, longest), round.labelsDigest);
  }

  // What the labels of a round are called, by number; null for random bins, or where nobody says. Nothing but words depends on it.
  async labelNames(round) {
    if (round.bins !== "labels") return null;
    try {
      const { names } = readJson(await this.#getUnnamed(`/v1/rounds/${round.id}/labels/names`, 2 ** 24));
      return names.length === round.nBins ? names.map(oneLine) : null;
    } catch {
      return null;
    }
  }

  // The close community of this user with about `size` people in a released round: its size, and the first of its people.
  // Only the user's own id is in the question, never a contact's.
  async community(roundId, user, size) {
    const said = readJson(await this.#get(`/v1/rounds/${roundId}/tree/community?${new URLSearchParams({ user, size })}`, 2 ** 20));
    if (!Array.isArray(said?.users)) throw new AggregatorError(`the server at ${this.address.url} does not answer as it should: tell the operator`);
    return { size: Number(said.size), users: said.users.map((each) => String(each?.user)) };
  }

  // What suits this user, with reasons; nothing where the service has no ratings.
  async recommendations(roundId) {
    try {
      const said = readJson(await this.#get(`/v1/rounds/${roundId}/recommendations?k=10`, 2 ** 20));
      return said.items.map(({ item, reason }) => ({ item: String(item), reason: String(reason) }));
    } catch {
      return [];
    }
  }

  // Whom this user may know, with reasons; nothing where reports are erased. Contacts are never sent to be left out.
  async people(roundId) {
    try {
      const said = readJson(await this.#get(`/v1/rounds/${roundId}/people?k=20`, 2 ** 20));
      return said.people.map(({ user, reason }) => ({ user: String(user), reason: String(reason) }));
    } catch {
      return [];
    }
  }

  // Let this user be shown to others as somebody they may know, or not.
  async setDiscoverable(discoverable) {
    const content = new TextEncoder().encode(JSON.stringify({ discoverable }));
    const { status } = await this.#ask("PUT", "/v1/me/discoverable", 4096, { attempts: ASKING, content, type: "application/json" });
    if (status !== 200) throw new AggregatorError(`the server at ${this.address.url} did not take that: try again later`);
  }

  // Send the bytes of a stored report; gives the status and whether the user joined late.
  async put(roundId, bytes) {
    const { status, body } = await this.#ask("PUT", `/v1/rounds/${roundId}/report`, 65536, { attempts: SENDING, content: bytes });
    const said = readJson(body);
    return { status, late: said?.late === true, line: oneLine(said?.error ?? `status ${status}`) };
  }

  // As #get, without the token unless the aggregator shows this to its users only.
  async #getUnnamed(path, longest) {
    const { status, body } = await this.#ask("GET", path, longest, { attempts: ASKING, anonymous: true });
    return status === 200 ? body : this.#get(path, longest);
  }

  async #get(path, longest, anonymous = false) {
    const { status, body } = await this.#ask("GET", path, longest, { attempts: ASKING, anonymous });
    if (status === 401) throw new AggregatorError("this invitation is not valid any more: ask for a new one");
    if (status !== 200) throw new AggregatorError(`the server at ${this.address.url} says: ${oneLine(readJson(body)?.error ?? `status ${status}`)}`);
    return body;
  }

  async #ask(method, path, longest, how) {
    for (let attempt = 1; ; attempt++) {
      const last = attempt === how.attempts;
      let wait = Math.min(LONGEST_WAIT, 500 * 2 ** (attempt - 1)) * (0.5 + Math.random() / 2);
      try {
        const { status, told, body } = await this.#once(method, path, longest, how);
        if (!AGAIN.has(status)) return { status, body };
        if (last) throw new AggregatorError(`the server at ${this.address.url} is too busy: try again later`);
        if (/^\d{1,4}$/.test(told ?? "")) wait = Math.min(LONGEST_WAIT, Math.max(wait, 1000 * Number(told)));
      } catch (error) {
        if (error instanceof AggregatorError) throw error;
        if (last) throw new AggregatorError(`the server at ${this.address.url} cannot be reached: check your connection, and try again later`);
      }
      await pause(wait);
    }
  }

  async #once(method, path, longest, { content, anonymous, type = "application/octet-stream" }) {
    const headers = anonymous ? {} : { Authorization: `Bearer ${this.token}` };
    if (content) headers["Content-Type"] = type;
    const request = { method, headers, body: content, redirect: "error", credentials: "omit", cache: "no-store", referrerPolicy: "no-referrer" };
    const response = await fetch(this.address.url + path, request);
    const parts = [];
    let length = 0;
    for (const reader = response.body.getReader(); ; ) {
      const { done, value } = await reader.read();
      if (done) break;
      parts.push(value);
      length += value.length;
      if (length > longest) {
        await reader.cancel();
        throw new AggregatorError(`the server at ${this.address.url} sends more than it should: tell the operator`);
      }
    }
    return { status: response.status, told: response.headers.get("Retry-After"), body: new Uint8Array(await new Blob(parts).arrayBuffer()) };
  }
}

// An announced round, if it is one.
function readNotice({ id, state, digest, may_answer, answered_at, late }) {
  const bytes = fromHex(digest);
  if (!isRoundId(id) || typeof state !== "string" || bytes.length !== 32) throw new TypeError();
  return { id, state, digest: bytes, mayAnswer: may_answer === true, answered: answered_at !== null, late: late === true };
}

function readJson(body) {
  try {
    return JSON.parse(new TextDecoder().decode(body));
  } catch {
    return null;
  }
}

const oneLine = (text) => String(text).slice(0, 200).replace(/\p{C}/gu, " ");
