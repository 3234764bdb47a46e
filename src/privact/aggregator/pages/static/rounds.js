// What several pages say about a round: its state in a sentence, a card, downloads, and the promise, folded.
"use strict";
(function (privact) {
  const { make, number } = privact;

  privact.answered = (round) => (round.n_users ? `${number(round.reports)} of ${number(round.n_users)}` : "");

  // One sentence: where the round is and what comes next.
  privact.tellState = function (round) {
    const closes = round.closes === null ? "when the operator closes it" : `on ${privact.until(round.closes)}`;
    return {
      draft: "A draft: nobody but operators sees it.",
      open: `Open for answers. It closes ${closes}.`,
      closed: round.series && round.series.number < round.series.rounds ? "Closed: its reports go into the next round of its series." : "Closed. Its tree is about to be learned.",
      learning: "Closed. Its tree is being learned.",
      released: `Its communities were released on ${privact.when(round.released_at)}.`,
      failed: "It failed, and nothing was released.",
    }[round.state];
  };

  privact.statePill = (state) => make("span", { className: `state ${state}`, textContent: state });

  privact.tellBins = (round) => `${round.n_bins ?? ""} ${round.bins === "labels" ? "public label" : "random bin"}${round.n_bins === 1 ? "" : "s"}`.trim();

  privact.SEEN_BY = { public: "everybody", users: "enrolled users", operator: "operators" };
  privact.COMPARED_BY = { counts: "contacts in each bin", shares: "shares of contacts in each bin", "shares+own": "shares, and their own label", series: "groups over all rounds" };

  // Until when users who were enrolled after the opening may answer; nothing if there never is a tree that they could join.
  privact.tellJoiners = (round) => {
    const goesOn = round.series && round.series.number < round.series.rounds;
    if (round.state === "failed" || goesOn) return ""; // nothing is released that anybody could join
    const begin = round.state === "released" ? "" : "once it is released, ";
    if (round.closes === null) return `${begin}without end`;
    const end = round.closes + round.joiner_seconds;
    if (round.state === "released" && end * 1000 < Date.now()) return `no more since ${privact.when(end)}`;
    return round.joiner_seconds || !begin ? `${begin}until ${privact.when(end)}` : `not after ${privact.when(end)}`;
  };

  // Learning and its progress, if it is under way.
  privact.learningBar = function (round) {
    if (!round.progress) return [];
    const { stage, done, total } = round.progress;
    const bar = total ? make("progress", { max: total, value: done }) : make("progress", {});
    bar.setAttribute("aria-label", `Learning: ${stage}`);
    return [make("p", { className: "quiet", textContent: `Learning: ${stage}${total ? `, ${number(done)} of ${number(total)}` : ""}` }), bar];
  };

  privact.answersBar = function (round) {
    const bar = make("progress", { max: round.n_users, value: round.reports });
    bar.setAttribute("aria-label", `${privact.answered(round)} users answered`);
    return bar;
  };

  // What cannot be changed any more once a draft is opened.
  const tellDraft = (round) =>
    privact.facts([
      ["answers from", round.opens ? privact.until(round.opens) : ""],
      ["closes", round.closes ? privact.until(round.closes) : "when you close it"],
      ["late joiners", privact.tellJoiners(round)],
      ["seen by", privact.SEEN_BY[round.visibility]],
      ["compared by", privact.COMPARED_BY[round.profile] ?? round.profile],
    ]);

  // One round as a card: what it is, how far it is, and what can be done.
  privact.roundCard = function (round, { heading = "h2", actions = [] } = {}) {
    const name = round.state !== "draft" ? make("a", { href: `/rounds/${round.id}`, textContent: round.id }) : round.id;
    const card = make("li", { className: "card" }, make("header", {}, make(heading, {}, name), privact.statePill(round.state)));
    card.append(make("p", { className: "quiet", textContent: privact.tellState(round) }));
    if (round.n_users) {
      const late = round.joiners ? `, ${number(round.joiners)} joined late` : "";
      card.append(make("p", { className: "figure" }, privact.answered(round), make("small", { textContent: ` users answered${late}` })));
      if (round.state === "open") card.append(privact.answersBar(round));
    }
    card.append(make("p", { className: "sentence", textContent: `epsilon ${round.epsilon} for each contact · ${privact.tellBins(round)}` }));
    if (round.state === "draft") card.append(tellDraft(round));
    card.append(...privact.learningBar(round));
    if (round.failure) card.append(make("p", { className: "failure", textContent: round.failure }));
    if (actions.length) card.append(make("div", { className: "actions" }, ...actions));
    return card;
  };

  // evidence: of a round of a series.
  privact.tellEvidence = ({ figure, threshold, sees_communities: sees }) =>
    sees
      ? `The reports show communities: the evidence is ${figure.toFixed(2)}, and chance reaches ${threshold.toFixed(2)}.`
      : `The reports show no communities so far: the evidence is ${figure.toFixed(2)}, and chance alone reaches ${threshold.toFixed(2)}.`;

  privact.exploreLink = (round) => make("a", { className: "button", href: `/rounds/${round.id}/tree`, textContent: "Explore the communities" });

  privact.downloads = function (round) {
    const row = make("div", { className: "sentence" }, "Download the tree: ");
    const links = ["hct", "newick", "json", "linkage"].map((format) => make("a", { href: `/v1/rounds/${round.id}/tree/download?format=${format}`, textContent: format, download: "" }));
    links.forEach((link, place) => row.append(place ? " · " : "", link));
    const guard = privact.guard(row);
    links.forEach((link) => (link.onclick = (event) => privact.token() && (event.preventDefault(), guard(() => saveWithToken(link)))));
    return row;
  };

  // A link carries no token; what is not for everybody is fetched with it and saved from memory.
  const saveWithToken = async (link) => {
    const answer = await privact.ask("GET", link.pathname + link.search, { bytes: true });
    const name = /filename="([^"]+)"/.exec(answer.headers.get("Content-Disposition"))?.[1] ?? "tree";
    const address = URL.createObjectURL(await answer.blob());
    make("a", { href: address, download: name }).click();
    setTimeout(() => URL.revokeObjectURL(address), 60_000);
  };

  privact.promise = (text, summary = "The privacy promise in full") => make("details", {}, make("summary", { textContent: summary }), make("p", { className: "sentence", textContent: text }));
})((window.privact = window.privact || {}));
