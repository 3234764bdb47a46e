// The picture of an answer: contacts -> counts -> plus noise -> the numbers that are sent, as a strip and a table of bars.

import { make } from "./elements.js";
import { boxes, number, several, signed } from "./words.js";

const MOST_ROWS = 20;

// round: which round. contacts: how many, or null if they were not chosen since. counts: exact ones, or null. numbers: noisy ones, or null.
// names: of the groups, or null.
export function drawPicture(round, contacts, counts, numbers, names) {
  const figure = make("figure", { className: "picture" }, strip(round, contacts, numbers), table(round, counts, numbers, names));
  if (round.nBins > MOST_ROWS) figure.append(make("figcaption", { className: "quiet", textContent: `and ${number(round.nBins - MOST_ROWS)} more` }));
  return figure;
}

function strip(round, contacts, numbers) {
  const station = (big, small, className = "") => make("li", { className }, make("b", { textContent: big }), make("span", { textContent: small }));
  const stay = make("ol", { className: "stay", attributes: { "aria-label": "These stay on this device" } });
  stay.append(
    station(contacts === null ? "Your" : number(contacts), contacts === 1 ? "contact" : "contacts"),
    station(number(round.nBins), round.nBins === 1 ? "count" : "counts"),
    station("+", "noise"),
  );
  const leave = make("ol", { className: "leave", attributes: { "aria-label": "These are sent" } });
  leave.append(station(number(round.nBins), round.nBins === 1 ? "number" : "numbers", numbers ? "ready" : ""));
  const labelled = (list, text, className) => make("div", { className }, list, make("p", { textContent: text }));
  return make("div", { className: "strip" }, labelled(stay, "stay on this device", "here"), labelled(leave, "sent", "away"));
}

function table(round, counts, numbers, names) {
  const heads = [boxes(round)[0], ...(counts ? ["contacts"] : []), ...(counts && numbers ? ["noise"] : []), ...(numbers ? ["sent"] : [])];
  const shown = Math.min(round.nBins, MOST_ROWS);
  const all = [...(counts ?? []), ...(numbers ?? [])].slice(0, 2 * MOST_ROWS);
  const [low, high] = [Math.min(0, ...all), Math.max(1, ...all)];
  const body = make("tbody");
  for (let place = 0; place < shown; place++) {
    const row = make("tr", {}, make("th", { scope: "row", textContent: names?.[place] ?? number(place + 1) }));
    if (counts) row.append(barCell(counts[place], low, high, "exact"));
    if (counts && numbers) row.append(make("td", { className: "noise", textContent: signed(numbers[place] - counts[place]) }));
    if (numbers) row.append(barCell(numbers[place], low, high, "sent"));
    body.append(row);
  }
  const caption = numbers ? `${several(round.nBins, "number", "numbers")} to be sent` : `Your contacts in ${several(round.nBins, ...boxes(round))}`;
  const head = make("thead", {}, make("tr", {}, ...heads.map((name) => make("th", { scope: "col", textContent: name, className: name === "noise" ? "narrow" : "" }))));
  return make("table", { className: "numbers" }, make("caption", { textContent: caption }), head, body);
}

function barCell(value, low, high, className) {
  const bar = make("i", { attributes: { "aria-hidden": "true" } });
  bar.style.setProperty("--from", `${(100 * (Math.min(0, value) - low)) / (high - low)}%`);
  bar.style.setProperty("--length", `${(100 * Math.abs(value)) / (high - low)}%`);
  const text = make("span", { textContent: value < 0 ? `\u2212${number(-value)}` : number(value) });
  return make("td", { className }, text, make("span", { className: "track" }, bar));
}
