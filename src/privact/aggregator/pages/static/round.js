// One round: answers over time against the deadline, what it costs, what came out, how to take part.
"use strict";
{
  const { ask, byId, make, number } = privact;
  const id = decodeURIComponent(location.pathname.split("/")[2]);
  const path = `/v1/rounds/${encodeURIComponent(id)}`;
  const title = id.replace(/\.(\d+)$/, ", round $1");
  document.title = `Round ${id} · PrivaCT`;
  byId("title").textContent = /\.\d+$/.test(id) ? title : `Round ${id}`;
  // An operator who is logged in in this tab also sees what operators may.
  privact.tokenKey = sessionStorage.getItem("privact-operator") ? "privact-operator" : "privact-user";
  let shown = "";
  let service = null;

  const showCost = (round) => {
    byId("cost-figure").replaceChildren(`ε ${round.epsilon}`, make("small", { textContent: " for each contact, once" }));
    byId("cost").textContent = `Both ends of a contact report it, each with epsilon ${round.epsilon_report}. What is spent is spent: rounds add up, and each device keeps the account for its owner.`;
    if (round.privacy) byId("promise").replaceChildren(privact.promise(round.privacy));
  };

  const showFacts = (round) => {
    byId("facts").replaceChildren(
      privact.facts([
        ["bins", privact.tellBins(round)],
        ["opened", privact.when(round.opened_at)],
        ["closed", privact.when(round.closed_at)],
        ["released", privact.when(round.released_at)],
        ["answers from", round.opens > round.opened_at ? privact.when(round.opens) : ""],
        ["late joiners", privact.tellJoiners(round)],
        ["seen by", privact.SEEN_BY[round.visibility]],
        ["compared by", privact.COMPARED_BY[round.profile] ?? round.profile],
        ["search seed", String(round.search_seed)],
      ]),
      round.digest ? make("details", {}, make("summary", { textContent: "Digest, to which reports are bound" }), make("code", { className: "sentence", textContent: round.digest })) : "",
    );
  };

  const showEvidence = async (round) => {
    byId("evidence").hidden = !round.series;
    if (!round.series) return;
    const { name, number: place, rounds, epsilon } = round.series;
    const link = make("a", { href: `/series/${encodeURIComponent(name)}`, textContent: name });
    byId("evidence-text").replaceChildren(`Round ${place} of ${rounds} of the series `, link, `, whose rounds together spend epsilon ${epsilon} for each contact. `);
    if (round.evidence) byId("evidence-text").append(privact.tellEvidence(round.evidence));
    const { members } = await ask("GET", `/v1/series/${encodeURIComponent(name)}`);
    const known = members.some((member) => member.evidence);
    byId("evidence-chart").replaceChildren(...(known ? [privact.evidenceChart(round.series, members)] : []));
  };

  const showPrimary = (round) => {
    const action = { open: ["/join/", "Take part"], released: [`/rounds/${round.id}/tree`, "Explore the communities"] }[round.state];
    byId("primary").replaceChildren(...(action ? [make("a", { className: "button primary", href: action[0], textContent: action[1] })] : []));
  };

  privact.live(async () => {
    const round = await privact.askFor("round", id, path);
    service ??= await ask("GET", "/v1");
    const now = JSON.stringify(round);
    if (now === shown && round.state !== "open") return;
    const answers = round.opened_at === null ? null : await ask("GET", `${path}/answers`);
    byId("state").replaceChildren(privact.statePill(round.state));
    byId("lead").textContent = privact.tellState(round);
    byId("panels").hidden = false;
    const late = round.joiners ? `, and ${number(round.joiners)} joined late` : "";
    byId("answers-figure").replaceChildren(privact.answered(round), make("small", { textContent: ` users answered${late}` }));
    if (answers) byId("answers-chart").replaceChildren(privact.answersChart(round, answers, ["open", "failed"].includes(round.state) ? service.minimum_users : 0));
    byId("learning").replaceChildren(...privact.learningBar(round), ...(round.failure ? [make("p", { className: "failure", textContent: round.failure })] : []));
    privact.showTakingPart(round.state === "open");
    if (now === shown) return; // what has focus keeps it
    shown = now;
    showPrimary(round);
    showCost(round);
    showFacts(round);
    await showEvidence(round);
    await privact.showCommunities(round);
    await privact.showQuality(round);
  });
}
