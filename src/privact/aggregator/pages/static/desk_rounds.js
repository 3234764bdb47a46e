// Rounds and series at the operator's desk: opened, closed, stopped, deleted, given other labels, learned again.
"use strict";
{
  const { ask, byId, make, number } = privact;
  const problems = new Map(); // an error stays beside the round it belongs to

  const problemOf = (name) => {
    if (!problems.has(name)) problems.set(name, privact.problem());
    return problems.get(name);
  };

  // Does one step; what goes wrong is said in the card that it is about.
  const attempt = async (name, work) => {
    try {
      await work();
      problemOf(name).show("");
    } catch (error) {
      problemOf(name).show(error.message);
    }
    await privact.attempt(privact.refreshDesk);
  };

  // A button for one step. name: what it is about; question: what to ask first, or null.
  const act = (name, text, method, path, question, kind = "") => {
    const button = make("button", { type: "button", textContent: text, className: kind });
    button.onclick = async () => {
      if (!question || (await privact.confirm(question))) await attempt(name, () => ask(method, path));
    };
    return button;
  };

  // A button that asks for a file of labels, which replace those of a draft.
  const relabel = (name, path) => {
    const file = make("input", { type: "file", accept: ".csv,.tsv,.txt,text/csv,text/plain", hidden: true, ariaLabel: `Labels of ${name}` });
    const button = make("button", { type: "button", textContent: "Other labels" });
    button.onclick = () => file.click();
    file.onchange = () =>
      attempt(name, async () => {
        const labels = await file.files[0].text();
        file.value = ""; // the same file may be chosen again once it was mended
        await ask("PUT", `${path}/labels`, { body: labels, type: "text/csv" });
      });
    return make("span", {}, button, file);
  };

  const spends = (epsilon, verb = "spends") => `${verb} epsilon ${epsilon} for each contact, for good`;

  const USUAL_CAP = 2; // the largest epsilon of one round that a device answers unless its owner said otherwise

  const toOpen = (name, epsilon, closes, rounds = 1) => ({
    title: `Open ${name}?`,
    sentences: [
      `This asks ${number(privact.desk.enrolled)} users. Each device that answers${rounds > 1 ? ` all ${rounds} rounds` : ""} ${spends(epsilon)}.`,
      ...(epsilon / rounds > USUAL_CAP ? [`Few devices will answer: by default they refuse rounds above epsilon ${USUAL_CAP}, and this one asks for ${epsilon / rounds}${rounds > 1 ? " in each" : ""}.`] : []),
      `${closes} Name, epsilon, bins and users are fixed from then on.`,
    ],
    action: "Open",
  });

  const toDelete = (name) => ({ title: `Delete the draft ${name}?`, sentences: ["Nobody has seen it. Its labels are deleted with it."], action: "Delete" });

  const goesOn = (round) => round.series && round.series.number < round.series.rounds;
  const closeText = (round) => (goesOn(round) ? "Close and go on" : "Close and learn");

  const toClose = (round) => {
    const few = round.reports < privact.desk.minimum;
    const answered = `${number(round.reports)} of ${number(round.n_users)} users answered, and each of their devices ${spends(round.epsilon, "spent")}.`;
    const well = goesOn(round)
      ? `Groups are inferred from the answers, and round ${round.series.number + 1} of ${round.series.rounds} opens with them. A closed round cannot be opened again.`
      : "The tree is learned from these answers alone. A closed round cannot be opened again.";
    const then = few ? `A round needs ${number(privact.desk.minimum)} answers. Closed now it fails: nothing is released, and what was spent is lost.` : well;
    const risk = few ? "I want it to fail." : "";
    return { title: `Close ${round.id}?`, sentences: [answered, then], action: few ? "Close and lose it" : closeText(round), keep: "Keep it open", risk };
  };

  const toStop = (series, few) => ({
    title: `Stop ${series.name}?`,
    sentences: [
      `Devices that answered every round so far ${spends(series.asked, "spent")}. No further round is opened.`,
      few ? `No round has the ${number(privact.desk.minimum)} answers that are needed. Stopped now it fails: nothing is released, and what was spent is lost.` : "The tree is learned from the rounds that were answered.",
    ],
    action: few ? "Stop and lose it" : "Stop",
    keep: "Let it run",
    risk: few ? "I want it to fail." : "",
  });

  const closeButton = (round) => act(round.series?.name ?? round.id, closeText(round), "POST", `/v1/rounds/${round.id}/close${round.reports < privact.desk.minimum ? "?force=true" : ""}`, toClose(round));

  const stepsOf = (round) => {
    const path = `/v1/rounds/${round.id}`;
    if (round.state === "draft") {
      const labels = round.bins === "labels" ? [relabel(round.id, path)] : [];
      return [act(round.id, "Open", "POST", `${path}/open`, toOpen(round.id, round.epsilon, round.closes ? `It closes on ${privact.until(round.closes)}.` : "It closes when you close it."), "first"), ...labels, act(round.id, "Delete", "DELETE", path, toDelete(round.id))];
    }
    if (round.state === "open") return [closeButton(round)];
    if (round.state === "failed") return [act(round.id, "Learn again", "POST", `${path}/learn`, null)];
    return round.state === "released" ? [privact.exploreLink(round)] : [];
  };

  const stepsOfSeries = (series, newest) => {
    const path = `/v1/series/${series.name}`;
    if (series.state === "draft") {
      const labels = newest?.bins === "labels" ? [relabel(series.name, path)] : [];
      const open = act(series.name, "Open", "POST", `${path}/open`, toOpen(series.name, series.epsilon, `Each round is open for ${privact.lasting(series.every_seconds)}, and the next one follows by itself.`, series.rounds), "first");
      return [open, ...labels, act(series.name, "Delete", "DELETE", `/v1/rounds/${series.name}.1`, toDelete(series.name))];
    }
    const actions = newest.state === "open" ? [closeButton(newest)] : [];
    if (newest.state === "released") actions.push(privact.exploreLink(newest));
    if (newest.state === "failed") actions.push(act(series.name, "Learn again", "POST", `/v1/rounds/${newest.id}/learn`, null));
    if (["running", "failed"].includes(series.state) && series.stopped_at === null) {
      const few = Math.max(...series.members.map((round) => round.reports)) < privact.desk.minimum;
      actions.push(act(series.name, "Stop", "POST", `${path}/stop${few ? "?force=true" : ""}`, toStop(series, few)));
    }
    return actions;
  };

  // What cannot be changed any more once a draft of a series is opened.
  const tellDraft = (series) =>
    privact.facts([
      ["each round", `open for ${privact.lasting(series.every_seconds)}`],
      ["late joiners", series.joiner_seconds ? `for ${privact.lasting(series.joiner_seconds)} after the last round` : ""],
      ["seen by", privact.SEEN_BY[series.visibility]],
    ]);

  const seriesCard = (series) => {
    const newest = series.members[series.members.length - 1];
    const opened = series.state !== "draft";
    const title = opened ? make("a", { href: `/series/${series.name}`, textContent: series.name }) : series.name;
    const card = make("li", { className: "card" }, make("header", {}, make("h3", {}, title), privact.statePill(series.state)));
    card.append(make("p", { className: "quiet", textContent: opened ? `A series: round ${newest.series.number} of ${series.rounds}. ${privact.tellState(newest)}` : "A draft of a series: nobody but operators sees it." }));
    if (opened) card.append(make("p", { className: "figure" }, privact.answered(newest), make("small", { textContent: ` users answered round ${newest.series.number}` })));
    if (newest?.state === "open") card.append(privact.answersBar(newest));
    card.append(make("p", { className: "sentence", textContent: `${series.rounds} rounds, together epsilon ${series.epsilon} for each contact · first ${privact.tellBins(series.members[0])}` }));
    if (!opened) card.append(tellDraft(series));
    if (opened) card.append(...privact.learningBar(newest));
    if (newest?.failure) card.append(make("p", { className: "failure", textContent: newest.failure }));
    if (series.finding) card.append(make("p", { className: "sentence", textContent: `So far ${series.finding}.` }));
    card.append(make("div", { className: "actions" }, ...stepsOfSeries(series, newest)), problemOf(series.name).box);
    return card;
  };

  const roundCard = (round) => {
    const card = privact.roundCard(round, { heading: "h3", actions: stepsOf(round) });
    card.append(problemOf(round.id).box);
    return card;
  };

  // Newest first; the rounds of a series are on its card.
  privact.onDesk(({ rounds, series }) => {
    const single = rounds.filter((round) => !round.series).map((round) => [round.created_at, roundCard(round)]);
    const cards = [...single, ...series.map((each) => [each.created_at, seriesCard(each)])];
    cards.sort(([one], [other]) => other - one);
    byId("no-rounds").hidden = cards.length > 0;
    byId("rounds").replaceChildren(...cards.map(([, card]) => card));
    const opens = byId("rounds").querySelector(".first"); // one primary action: to open the newest draft, or else to create one
    document.querySelector("#new-round button[type=submit]").classList.toggle("primary", opens === null);
    opens?.classList.add("primary");
  });
}
