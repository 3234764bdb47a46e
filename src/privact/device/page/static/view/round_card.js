// One round as a card, from choosing contacts to the numbers that were sent. Each state of the card is one function.

import { countContacts, drawReport, payReport, reasonFor, sendReport, WINDOW } from "../answer.js";
import { readContacts, readFileText } from "../contacts/read.js";
import { InputError } from "../core/errors.js";
import { amount, inWords } from "../ledger/amounts.js";
import { agreedSeries } from "../ledger/entries.js";
import { button, make } from "./elements.js";
import { drawPicture } from "./picture.js";
import { askForSeries, foundWords, nameSeries, number, points, several, sorting, until } from "./words.js";

const seconds = () => Math.floor(Date.now() / 1000);
const paragraph = (text, className = "") => make("p", { textContent: text, className });

export class RoundCard {
  // session: account, client, ledger, and refresh(), which is called when something was paid or sent.
  constructor(session, proposal, book) {
    Object.assign(this, { session, proposal, book, found: null, counts: null });
    this.content = make("div", { className: "content" });
    this.status = make("p", { className: "status", attributes: { role: "status" } });
    const { round, notice } = proposal;
    this.element = make("section", { className: "card round", id: `round-${notice.id}`, attributes: { "aria-label": `Round ${notice.id}` } });
    const open = proposal.answer ? "you answered" : round ? until(round.closes + (proposal.late ? round.joinerSeconds : 0)) : "";
    this.element.append(make("h2", { textContent: `Round ${notice.id}` }), paragraph(open, "quiet"));
    if (round?.series) this.element.append(paragraph(nameSeries(round.series, agreedSeries(book, round) !== null)));
    this.element.append(this.content, this.status);
    this.#showFirst();
  }

  #showFirst() {
    const { refusal, answer, delivery, drawn } = this.proposal;
    if (refusal) this.#show(paragraph("This round is not answered from here.", "strong"), paragraph(`${refusal[0].toUpperCase()}${refusal.slice(1)}.`));
    else if (answer && delivery && delivery !== "early") this.#showSent(delivery, reasonFor(delivery));
    else if (answer) this.#showWaiting(answer);
    else if (drawn) this.#showNumbers(drawn);
    else this.#showChoice();
  }

  #show(...elements) {
    this.status.textContent = "";
    this.content.replaceChildren(...elements);
  }

  // Runs what a person asked for; whatever goes wrong is said in the card, and what was shown stays.
  async #attempt(work) {
    if (this.working) return;
    this.working = true;
    try {
      await work();
    } catch (error) {
      this.status.textContent = `${error.message[0].toUpperCase()}${error.message.slice(1)}.`;
    } finally {
      this.working = false;
    }
  }

  // Step 1: a file with contacts.
  #showChoice() {
    const input = make("input", { type: "file", id: `file-${this.proposal.notice.id}`, accept: ".csv,.vcf,.vcard,.txt,.tsv,.json,text/*,application/json" });
    const choice = make("label", { className: "drop", htmlFor: input.id }, input, make("b", { textContent: "Choose a file with your contacts" }));
    choice.append(make("span", { className: "quiet", textContent: "Mastodon's following_accounts.csv, an address book (.vcf), Matrix account data, or a list with one contact per line. It stays on this device." }));
    const take = (file) => file && this.#attempt(async () => this.#count(readContacts(await readFileText(file), this.session.account.user)));
    input.onchange = () => take(input.files[0]).finally(() => (input.value = ""));
    choice.ondragover = (event) => event.preventDefault();
    choice.ondrop = (event) => {
      event.preventDefault();
      take(event.dataTransfer.files[0]);
    };
    this.#show(choice);
  }

  // Step 2: what was counted.
  async #count(found) {
    const counts = countContacts(this.session.account, this.proposal, found.ids);
    Object.assign(this, { found, counts });
    const { round } = this.proposal;
    const counted = counts.reduce((sum, count) => sum + count, 0);
    const outside = found.ids.length - counted;
    const notes = [paragraph(`${foundWords(found)} ${sorting(round)}`)];
    if (outside) notes.push(paragraph(`${several(outside, "contact is", "contacts are")} in no group and not counted.`, "quiet"));
    const unlikely = !found.ids.length && found.skipped.length > 0; // the wrong file
    if (!found.ids.length) notes.push(paragraph(`No contact was found${unlikely ? ": this does not look like a list of contacts" : ""}. You can still take part: then noise alone is sent.`, "strong"));
    const list = make("details", { className: "list" }, make("summary", { textContent: "See the contacts that were found" }));
    list.append(make("ul", { tabIndex: 0, attributes: { "aria-label": "Contacts that were found" } }, ...found.ids.slice(0, 500).map((id) => make("li", { textContent: id }))));
    if (found.ids.length > 500) list.append(paragraph(`and ${number(found.ids.length - 500)} more`, "quiet"));
    const lists = found.skipped.length ? [list, leftOut(found.skipped)] : [list];
    const go = button("Add noise", () => this.#attempt(() => this.#draw()), unlikely ? "" : "primary");
    const other = button("Choose another file", () => this.#showChoice(), unlikely ? "primary" : "");
    const once = paragraph("Noise is drawn once for this round, and kept. Nothing is sent yet.", "quiet");
    this.#show(...notes, drawPicture(round, found.ids.length, counts, null, this.proposal.names), ...lists, once, make("div", { className: "actions" }, ...(unlikely ? [other, go] : [go, other])));
    (unlikely ? other : go).focus();
  }

  // Step 3: noise, drawn once and stored.
  async #draw() {
    const { account, client, ledger } = this.session;
    const drawn = await drawReport(account, client, ledger, this.proposal, this.counts, seconds());
    this.book = await ledger.read();
    if (agreedSeries(this.book, this.proposal.round)) await this.#pay(); // it was asked once, for all rounds
    else this.#showNumbers(drawn, true);
  }

  // Step 4: the very numbers, what they cost, and the choice.
  #showNumbers(drawn, focused = false) {
    const { round } = this.proposal;
    const [left, after] = [this.book.left, this.book.left - amount(round.epsilon)];
    const known = this.counts !== null;
    const intro = known ? "Noise was added to each count." : "These numbers were drawn before and wait here. They stay the same.";
    const cost = make("p", { className: "cost" }, "Sending uses ", make("b", { textContent: points(round.epsilon) }), ` of the ${inWords(left)} that you have left; ${inWords(after)} will be left. Points never come back.`);
    const send = button(`Send ${round.nBins === 1 ? "this number" : `these ${number(round.nBins)} numbers`}`, () => this.#attempt(() => this.#pay()), "primary");
    const not = button("Do not send", () => this.#showDeclined(drawn));
    this.#show(
      paragraph(`${intro} ${round.nBins === 1 ? "This one number is" : `These ${number(round.nBins)} numbers are`} all that would be sent.`),
      drawPicture(round, known ? this.found.ids.length : null, this.counts, drawn.numbers, this.proposal.names),
      cost,
      ...(round.series ? [paragraph(askForSeries(round.series), "strong")] : []),
      paragraph("Decide by what it costs, not by how the numbers look. If people sent only numbers that look good, the numbers would give more away.", "quiet"),
      make("div", { className: "actions" }, send, not),
    );
    if (focused) send.focus();
  }

  #showDeclined(drawn) {
    const again = button("Look again", () => this.#showNumbers(drawn, true));
    this.#show(paragraph("Nothing was sent, and nothing was used.", "strong"), paragraph("If you change your mind before the round closes, the same numbers wait here."), make("div", { className: "actions" }, again));
    again.focus();
  }

  // Step 5: pay first, then send the stored bytes.
  async #pay() {
    const { client, ledger } = this.session;
    const answer = await payReport(client, ledger, this.proposal, Date.now() / 1000);
    this.proposal.answer = answer;
    this.session.refresh();
    this.#showWaiting(answer);
  }

  // Wait for the moment that was drawn before the noise, so that the time of sending tells nothing.
  #showWaiting(answer) {
    const wait = Math.min(Math.max(0, answer.sendAt - Date.now()), WINDOW);
    this.#show(
      paragraph("On its way", "strong"),
      paragraph(`Your numbers leave ${wait > 5000 ? "within a minute" : "in a moment"}, at a time drawn by chance that tells nothing about you. If you close this page before, they leave the next time you open it.`),
      make("progress", { attributes: { "aria-label": "Waiting to send" } }),
    );
    setTimeout(() => this.#attempt(() => this.#send(answer)), wait);
  }

  async #send(answer) {
    const { client, ledger } = this.session;
    try {
      const { outcome, reason } = await sendReport(client, ledger, answer);
      this.#showSent(outcome, reason);
    } catch (error) {
      this.#show(paragraph("Not sent yet", "strong"), paragraph(`${error.message}. The same numbers are sent when you try again.`));
      this.content.append(make("div", { className: "actions" }, button("Send again", () => this.#attempt(() => this.#send(answer)), "primary")));
      if (error instanceof InputError) throw error;
    }
    this.session.refresh();
  }

  #showSent(outcome, reason) {
    const { round, answer } = this.proposal;
    const accepted = outcome === "accepted";
    const title = accepted ? "Sent. Thank you!" : "Not counted";
    const text = accepted ? "When the round is over, everybody's numbers together show which communities there are. Nothing more is needed from you." : `${reason}.`;
    const heading = make("p", { className: "strong", textContent: title, tabIndex: -1 });
    const details = make("details", { className: "list" }, make("summary", { textContent: "See what was sent" }), drawPicture(round, null, null, answer.numbers, this.proposal.names));
    this.#show(heading, paragraph(text), details);
    heading.focus({ preventScroll: true });
  }
}

// What was left out of a file, and why.
function leftOut(skipped) {
  const items = skipped.slice(0, 100).map(({ place, reason }) => make("li", { textContent: `${place}: ${reason}` }));
  const list = make("ul", { tabIndex: 0, attributes: { "aria-label": "What was left out" } }, ...items);
  return make("details", { className: "list" }, make("summary", { textContent: "See what was left out, and why" }), list);
}
