// The page: takes the invitation, remembers the person, shows rounds that are open, and says what went wrong.

import { proposeRounds, sumAnswered } from "../answer.js";
import { aggregatorAddress } from "../core/address.js";
import { Client } from "../client.js";
import { AggregatorError, LedgerError } from "../core/errors.js";
import { openDatabase } from "../ledger/database.js";
import { Home } from "../ledger/home.js";
import { drawCurves } from "./curves.js";
import { byId, make, show } from "./elements.js";
import { forgetInvitation, keptInvitation, readInvitation, tokenFor } from "./invitation.js";
import { restoreBackup, restrictLimits, saveBackup, showPerson } from "./person.js";
import { ResultCard } from "./result_card.js";
import { RoundCard } from "./round_card.js";
import { meaningOf } from "./words.js";

const LOOK_AGAIN = 60_000; // milliseconds between two looks for new rounds
const MOST_RESULTS = 3; // rounds that are over, the newest first
const state = { home: null, account: null, session: null, cards: new Map(), results: new Set() };

// Runs what a person asked for; whatever goes wrong is said at the top, and what was shown stays.
async function attempt(work, busy = "") {
  byId("busy").textContent = busy;
  try {
    await work();
    show("trouble", false);
  } catch (error) {
    if (error instanceof LedgerError && state.joining) {
      await showLost(error);
      return;
    }
    byId("trouble-text").textContent = sentence(error.message);
    byId("trouble-again").onclick = () => attempt(work, busy);
    show("trouble", true);
  } finally {
    byId("busy").textContent = "";
  }
}

// Join with an invitation, or go on as whoever this browser remembers.
async function begin(text = keptInvitation()) {
  if (text) {
    try {
      const invitation = readInvitation(text, location.href);
      const token = await tokenFor(invitation, await state.home.accounts());
      await join({ ...invitation, token });
    } catch (error) {
      if (error instanceof AggregatorError) await goOn(); // who is known here is shown, also where the server cannot be asked
      throw error;
    }
  }
  await goOn();
}

// Go on as whoever this browser remembers.
async function goOn() {
  const accounts = await state.home.accounts();
  show("welcome", accounts.length === 0);
  show("desk", accounts.length > 0);
  if (accounts.length) await enter(accounts.find(({ key }) => key === state.account?.key) ?? accounts[0], accounts);
}

async function join({ token, address }, spent = null) {
  state.joining = { token, address };
  const me = await new Client(address, token).me();
  const answered = me.rounds.filter((round) => round.answered).map((round) => round.id);
  state.account = await state.home.join(address, token, me.user, answered, spent);
  forgetInvitation();
  show("lost", false);
  await navigator.storage?.persist?.(); // a browser may say no; then backups are all the more worth it
}

const sentence = (text) => `${text[0].toUpperCase()}${text.slice(1)}.`;

// Nobody here knows what was spent: a backup, or the person, has to say. The server's word is only where to begin.
async function showLost({ message, key }) {
  const account = (await state.home.accounts()).find((each) => each.key === key); // it may be another than the one that is open
  if (account) state.joining = { token: account.token, address: aggregatorAddress(account.url) };
  byId("lost-text").textContent = `At ${state.joining.address.key}: ${message}.`;
  for (const id of ["welcome", "desk", "trouble"]) show(id, false);
  show("lost", true);
  const client = new Client(state.joining.address, state.joining.token);
  const suggested = await client.me().then((me) => sumAnswered(client, me.rounds)).catch(() => null);
  if (suggested !== null && byId("lost-spent").value === "") byId("lost-spent").value = suggested;
}

async function enter(account, accounts) {
  const address = aggregatorAddress(account.url);
  const [client, ledger] = [new Client(address, account.token), state.home.ledgerOf(account.key)];
  state.account = account;
  state.joining = { token: account.token, address };
  state.session = { account, client, ledger, refresh: () => attempt(() => showPerson(account, ledger, client)) };
  state.cards.clear();
  state.results.clear();
  byId("heading").textContent = "Take part";
  byId("account").replaceChildren(...accounts.map(({ key }) => make("option", { value: key, textContent: key, selected: key === account.key })));
  show("account-label", accounts.length > 1);
  byId("rounds").replaceChildren();
  byId("results").replaceChildren();
  await showPerson(account, ledger, client);
  await look();
}

// Look for rounds; cards that are shown stay as they are.
async function look() {
  const { session } = state;
  if (!session) return;
  const { me, book, proposals } = await proposeRounds(state.home, session.account, session.client, session.ledger, Date.now() / 1000);
  if (session !== state.session) return;
  for (const proposal of proposals) {
    if (state.cards.has(proposal.notice.id)) continue;
    const card = new RoundCard(session, proposal, book);
    state.cards.set(proposal.notice.id, card);
    byId("rounds").append(card.element);
  }
  show("nothing-open", state.cards.size === 0);
  for (const notice of me.rounds.filter(({ state: now, answered }) => now === "released" && answered).slice(0, MOST_RESULTS)) {
    if (state.results.has(notice.id)) continue;
    state.results.add(notice.id);
    byId("results").append(new ResultCard(session, notice, me.discoverable).element);
  }
  tellOpen(proposals.filter(({ answer, refusal }) => !answer && !refusal).length);
  explainPoints(proposals.find(({ round }) => round)?.round.epsilon ?? 1);
}

// What the points of a round mean, in a sentence and two curves.
function explainPoints(epsilon) {
  byId("meaning-text").textContent = meaningOf(epsilon);
  byId("curves").replaceChildren(drawCurves(epsilon / 2));
}

// Say in the title, and on the icon of an installed page, that a round waits.
function tellOpen(waiting) {
  document.title = `${waiting ? `(${waiting}) ` : ""}Take part · PrivaCT`;
  if (waiting) navigator.setAppBadge?.(waiting).catch(() => {});
  else navigator.clearAppBadge?.().catch(() => {});
}

function listen() {
  byId("invitation").onsubmit = (event) => {
    event.preventDefault();
    attempt(() => begin(byId("invitation-link").value), "Asking the server ...");
  };
  byId("begin-again").onsubmit = (event) => {
    event.preventDefault();
    attempt(async () => {
      await join(state.joining, Number(byId("lost-spent").value));
      await begin(null);
    });
  };
  byId("limits").onsubmit = (event) => {
    event.preventDefault();
    byId("limits-status").textContent = "";
    attempt(async () => {
      await restrictLimits(state.session.ledger);
      await showPerson(state.account, state.session.ledger, state.session.client);
    });
  };
  const restored = (work) => attempt(async () => {
    state.account = await work();
    forgetInvitation();
    show("lost", false);
    await begin(null);
  });
  for (const id of ["restore", "restore-here", "restore-lost"]) byId(id).onclick = () => restoreBackup(state.home.database, restored);
  byId("backup").onclick = () => attempt(() => saveBackup(state.home.database, state.account));
  byId("account").onchange = () => attempt(async () => {
    const accounts = await state.home.accounts();
    await enter(accounts.find(({ key }) => key === byId("account").value), accounts);
  });
  setInterval(() => document.visibilityState === "visible" && state.session && attempt(look), LOOK_AGAIN);
}

listen();
explainPoints(1);
byId("meaning").open = location.hash === "#meaning";
navigator.serviceWorker?.register("worker.js").catch(() => {}); // without it the page works, but not offline
await attempt(async () => {
  state.home = new Home(await openDatabase());
  await begin();
}, "One moment ...");
if (!state.session && byId("lost").hidden && byId("desk").hidden) show("welcome", true);
document.body.dataset.ready = "yes";
