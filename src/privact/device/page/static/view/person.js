// Who takes part, what is left of the budget, what was sent, the limits, and backups.

import { exportLedger, importLedger } from "../ledger/backup.js";
import { inWords, toNumber } from "../ledger/amounts.js";
import { readFileText } from "../contacts/read.js";
import { byId, make, show } from "./elements.js";
import { drawPicture } from "./picture.js";
import { points, when } from "./words.js";

const OUTCOMES = {
  accepted: "arrived",
  closed: "came too late and is not counted",
  conflict: "another device had answered before",
  early: "waits for the round to open",
  refused: "was refused",
};

// Show what the ledger of an account says. client: asked for the names of groups when a person looks at what was sent.
export async function showPerson(account, ledger, client) {
  const [book, deliveries] = [await ledger.read(), await ledger.deliveries()];
  byId("person-place").textContent = `You take part at ${account.key} as`;
  byId("person-name").textContent = account.user;
  const share = book.rules.budget > 0 ? toNumber(book.left) / book.rules.budget : 0;
  byId("budget-meter").firstElementChild.style.setProperty("--share", `${100 * share}%`);
  byId("budget-meter").setAttribute("aria-label", `${inWords(book.left)} of ${inWords(book.rules.budget)} privacy points left`);
  byId("budget-text").textContent = `${inWords(book.left)} of ${points(book.rules.budget)} left, for all rounds that will ever be.`;
  const items = [...book.answers.values()].reverse().map(({ round, numbers, answered }) => {
    const outcome = OUTCOMES[deliveries.get(round.id)] ?? "not sent yet";
    const summary = make("summary", { textContent: `Round ${round.id}: ${points(round.epsilon)}, ${when(answered)}, ${outcome}` });
    const [picture, details] = [drawPicture(round, null, null, numbers, null), make("details", { className: "list" }, summary)];
    details.append(picture);
    details.addEventListener("toggle", async () => picture.replaceWith(drawPicture(round, null, null, numbers, await client.labelNames(round))), { once: true });
    return make("li", {}, details);
  });
  byId("past-list").replaceChildren(...items);
  show("past", items.length > 0);
  byId("limit-budget").value = book.rules.budget;
  byId("limit-cap").value = book.rules.cap;
  byId("limit-users").value = book.rules.minimum_users;
  return book;
}

// Make the limits stricter, as the form says.
export async function restrictLimits(ledger) {
  const read = (id) => Number(byId(id).value);
  await ledger.restrict({ budget: read("limit-budget"), cap: read("limit-cap"), minimum_users: read("limit-users") });
  byId("limits-status").textContent = "These limits hold from now on.";
}

// Give the person a file with everything that the ledger knows.
export async function saveBackup(database, account) {
  const file = new Blob([await exportLedger(database, account)], { type: "application/json" });
  const link = make("a", { href: URL.createObjectURL(file), download: `privact-backup-${new Date().toISOString().slice(0, 10)}.json` });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

// Ask for a backup file and take it over.
export function restoreBackup(database, done) {
  const input = byId("restore-file");
  input.onchange = async () => {
    const file = input.files[0];
    input.value = "";
    if (file) await done(async () => importLedger(database, await readFileText(file)));
  };
  input.click();
}
