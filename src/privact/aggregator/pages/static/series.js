// A series of rounds: how clearly its reports show communities so far, what it costs, its rounds.
"use strict";
{
  const { ask, byId, make } = privact;
  const name = decodeURIComponent(location.pathname.split("/")[2]);
  document.title = `Series ${name} · PrivaCT`;
  byId("title").textContent = `Series ${name}`;
  let shown = "";

  const rowOf = (round) =>
    make(
      "tr",
      {},
      make("td", {}, make("a", { href: `/rounds/${round.id}`, textContent: `Round ${round.series.number}` })),
      make("td", {}, privact.statePill(round.state)),
      make("td", { className: "number", textContent: privact.answered(round) }),
    );

  privact.live(async () => {
    const { rounds } = await ask("GET", "/v1/rounds");
    const mine = rounds.filter((round) => round.series?.name === name).sort((a, b) => a.series.number - b.series.number);
    if (!mine.length) throw new Error(`No series ${name} was opened here.`);
    const now = JSON.stringify(mine);
    if (now === shown) return; // what has focus keeps it
    shown = now;
    const whole = await Promise.all(mine.map((round) => ask("GET", `/v1/rounds/${round.id}`))); // with the evidence
    const newest = whole[whole.length - 1];
    const { rounds: total, epsilon, number } = newest.series;
    byId("state").replaceChildren(privact.statePill(newest.state));
    byId("lead").textContent = `Round ${number} of ${total}. ${privact.tellState(newest)}`;
    byId("panels").hidden = false;
    byId("cost-figure").replaceChildren(`ε ${epsilon}`, make("small", { textContent: ` for each contact, over all ${total} rounds` }));
    byId("cost").textContent = `Each round spends epsilon ${newest.epsilon}. A device is asked once for the whole series, and may stop answering at any time.`;
    const last = whole.filter((round) => round.evidence).pop();
    byId("evidence-text").textContent = last ? privact.tellEvidence(last.evidence) : "That is measured when the first round has closed.";
    byId("evidence-chart").replaceChildren(privact.evidenceChart(newest.series, whole));
    byId("rounds").replaceChildren(...whole.map(rowOf));
    const action = { open: ["/join/", "Take part"], released: [`/rounds/${newest.id}/tree`, "Explore the communities"] }[newest.state];
    byId("primary").replaceChildren(...(action ? [make("a", { className: "button primary", href: action[0], textContent: action[1] })] : []));
  });
}
