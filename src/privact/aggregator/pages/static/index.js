// All rounds that were opened, newest first; the rounds of a series are one card.
"use strict";
{
  const { ask, byId, make } = privact;

  const seriesCard = (name, rounds) => {
    const newest = rounds[0];
    const { number, rounds: total, epsilon } = newest.series;
    const card = make("li", { className: "card" }, make("header", {}, make("h2", {}, make("a", { href: `/series/${name}`, textContent: name })), privact.statePill(newest.state)));
    card.append(
      make("p", { className: "quiet", textContent: `A series: round ${number} of ${total}. ${privact.tellState(newest)}` }),
      make("p", { className: "figure" }, privact.answered(newest), make("small", { textContent: ` users answered round ${number}` })),
    );
    if (newest.state === "open") card.append(privact.answersBar(newest));
    card.append(make("p", { className: "sentence", textContent: `epsilon ${epsilon} for each contact over all ${total} rounds` }));
    const actions = newest.state === "released" ? [privact.exploreLink(newest)] : [];
    if (actions.length) card.append(make("div", { className: "actions" }, ...actions));
    return card;
  };

  const roundCard = (round) => privact.roundCard(round, { actions: round.state === "released" ? [privact.exploreLink(round)] : [] });

  let shown = "";
  privact.live(async () => {
    const { rounds } = await ask("GET", "/v1/rounds");
    const now = JSON.stringify(rounds);
    if (now === shown) return; // what has focus keeps it
    shown = now;
    byId("empty").hidden = rounds.length > 0;
    byId("promise").hidden = rounds.length === 0;
    const cards = [];
    const seen = new Set();
    rounds.forEach((round) => {
      if (!round.series) cards.push(roundCard(round));
      else if (!seen.has(round.series.name)) {
        seen.add(round.series.name);
        cards.push(seriesCard(round.series.name, rounds.filter((other) => other.series?.name === round.series.name).sort((a, b) => b.series.number - a.series.number)));
      }
    });
    byId("rounds").replaceChildren(...cards);
    if (rounds.length) byId("promise-text").textContent = rounds[0].privacy;
    byId("promise-heading").textContent = rounds.length ? `The privacy promise, for example of ${rounds[0].id}` : "";
  });
}
