// A series of rounds: how clearly its reports show communities so far, what came out, what it costs, how to take part, its rounds.
"use strict";
{
  const { byId, make } = privact;
  const name = decodeURIComponent(location.pathname.split("/")[2]);
  document.title = `Series ${name} · PrivaCT`;
  byId("title").textContent = `Series ${name}`;
  // An operator who is logged in in this tab also sees what operators may.
  privact.tokenKey = sessionStorage.getItem("privact-operator") ? "privact-operator" : "privact-user";
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
    const series = await privact.askFor("series", name, `/v1/series/${encodeURIComponent(name)}`);
    const now = JSON.stringify(series);
    if (now === shown) return; // what has focus keeps it
    const members = series.members.filter((round) => round.state !== "draft");
    if (!members.length) throw new Error(`Series ${name} is a draft: nothing was opened yet.`);
    const newest = members[members.length - 1];
    byId("state").replaceChildren(privact.statePill(series.state));
    byId("lead").textContent = `Round ${newest.series.number} of ${series.rounds}. ${privact.tellState(newest)}`;
    byId("panels").hidden = false;
    byId("cost-figure").replaceChildren(`ε ${series.epsilon}`, make("small", { textContent: ` for each contact, over all ${series.rounds} rounds` }));
    byId("cost").textContent = `Each round spends epsilon ${series.epsilon_per_round}; ${series.asked} was asked for so far. A device is asked once for the whole series, and may stop answering at any time.`;
    byId("promise").replaceChildren(privact.promise(series.privacy));
    byId("evidence-text").textContent = series.evidence ? privact.tellEvidence(series.evidence) : "That is measured when the first round has closed.";
    byId("evidence-chart").replaceChildren(privact.evidenceChart(newest.series, members));
    byId("rounds").replaceChildren(...members.map(rowOf));
    const action = { open: ["/join/", "Take part"], released: [`/rounds/${newest.id}/tree`, "Explore the communities"] }[newest.state];
    byId("primary").replaceChildren(...(action ? [make("a", { className: "button primary", href: action[0], textContent: action[1] })] : []));
    privact.showTakingPart(newest.state === "open");
    shown = now;
    await privact.showCommunities(newest);
    await privact.showQuality(newest);
  });
}
