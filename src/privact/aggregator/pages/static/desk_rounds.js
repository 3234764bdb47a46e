// Rounds and series at the operator's desk: created, opened, closed, stopped, deleted, learned again.
"use strict";
{
  const { ask, byId, make, number } = privact;
  const problems = new Map(); // an error stays beside the round it belongs to

  const problemOf = (name) => {
    if (!problems.has(name)) problems.set(name, privact.problem());
    return problems.get(name);
  };

  // A button for one step. name: what it is about; question: what to ask first, or null.
  const act = (name, text, method, path, question, kind = "") => {
    const button = make("button", { type: "button", textContent: text, className: kind });
    button.onclick = async () => {
      if (question && !(await privact.confirm(question))) return;
      try {
        await ask(method, path);
        problemOf(name).show("");
      } catch (error) {
        problemOf(name).show(error.message);
      }
      await privact.attempt(privact.refreshDesk);
    };
    return button;
  };

  const spends = (epsilon, verb = "spends") => `${verb} epsilon ${epsilon} for each contact, for good`;

  const toOpen = (name, epsilon, rounds) => ({
    title: `Open ${name}?`,
    sentences: [
      `This asks ${number(privact.desk.enrolled)} users. Each device that answers${rounds ? ` all ${rounds} rounds` : ""} ${spends(epsilon)}.`,
      "Name, epsilon, bins and users are fixed from then on.",
    ],
    action: "Open",
  });

  const toClose = (round) => {
    const few = round.reports < privact.desk.minimum;
    const answered = `${number(round.reports)} of ${number(round.n_users)} users answered, and each of their devices ${spends(round.epsilon, "spent")}.`;
    const then = few
      ? `A round needs ${number(privact.desk.minimum)} answers. Closed now it fails: nothing is released, and what was spent is lost.`
      : "The tree is learned from these answers alone. A closed round cannot be opened again.";
    const risk = few ? "I want it to fail." : "";
    return { title: `Close ${round.id}?`, sentences: [answered, then], action: few ? "Close and lose it" : "Close and learn", keep: "Keep it open", risk };
  };

  const stepsOf = (round) => {
    const path = `/v1/rounds/${round.id}`;
    if (round.state === "draft") {
      const question = { title: `Delete the draft ${round.id}?`, sentences: ["Nobody has seen it. Its labels are deleted with it."], action: "Delete" };
      return [act(round.id, "Open", "POST", `${path}/open`, toOpen(round.id, round.epsilon), "primary"), act(round.id, "Delete", "DELETE", path, question)];
    }
    if (round.state === "open") return [act(round.id, "Close and learn", "POST", `${path}/close${round.reports < privact.desk.minimum ? "?force=true" : ""}`, toClose(round))];
    if (round.state === "failed") return [act(round.id, "Learn again", "POST", `${path}/learn`, null)];
    return round.state === "released" ? [privact.exploreLink(round)] : [];
  };

  const seriesCard = (series) => {
    const path = `/v1/series/${series.name}`;
    const link = make("a", { href: `/series/${series.name}`, textContent: series.name });
    const card = make("li", { className: "card" }, make("header", {}, make("h3", {}, series.state === "draft" ? series.name : link), privact.statePill(series.state)));
    card.append(make("p", { className: "sentence", textContent: `${series.rounds} rounds, together epsilon ${series.epsilon} for each contact` }));
    if (series.finding) card.append(make("p", { textContent: `So far ${series.finding}.` }));
    const actions = [];
    if (series.state === "draft") actions.push(act(series.name, "Open", "POST", `${path}/open`, toOpen(series.name, series.epsilon, series.rounds), "primary"));
    if (series.state === "running") {
      const question = { title: `Stop ${series.name}?`, sentences: ["No further round is opened. What devices spent so far stays spent, and the tree comes from the rounds that were answered."], action: "Stop" };
      actions.push(act(series.name, "Stop", "POST", `${path}/stop`, question));
    }
    if (actions.length) card.append(make("div", { className: "actions" }, ...actions));
    card.append(problemOf(series.name).box);
    return card;
  };

  privact.onDesk(({ rounds: all, series }) => {
    const rounds = all.filter((round) => !(round.series && round.state === "draft")); // the series opens them
    byId("no-rounds").hidden = rounds.length > 0;
    byId("rounds").replaceChildren(
      ...rounds.map((round) => {
        const card = privact.roundCard(round, { heading: "h3", actions: stepsOf(round) });
        card.append(problemOf(round.id).box);
        return card;
      }),
    );
    byId("series-list-section").hidden = series.length === 0;
    byId("series-list").replaceChildren(...series.map(seriesCard));
  });

  const chooseKind = () => {
    const kind = byId("new-kind").value;
    document.querySelectorAll("#new-round [data-kind]").forEach((label) => (label.hidden = label.dataset.kind !== kind));
    byId("new-labels").required = kind === "labels";
  };
  byId("new-kind").onchange = chooseKind;

  const readLabels = async (kind) => {
    if (kind === "labels") return byId("new-labels").files[0].text();
    return (await ask("GET", `/v1/ratings/labels?groups=${byId("new-groups").value}`, { bytes: true })).text();
  };

  privact.onSubmit(byId("new-round"), async () => {
    byId("new-status").textContent = "";
    const [id, kind, bins, closes] = ["new-id", "new-kind", "new-bins", "new-closes"].map((name) => byId(name).value);
    const labels = kind === "random" ? null : await readLabels(kind); // before the draft: what cannot be read makes none
    const wish = {
      id,
      epsilon: Number(byId("new-epsilon").value),
      n_bins: kind === "random" && bins ? Number(bins) : null,
      bins: kind === "random" ? "random" : "labels",
      closes: closes ? Math.floor(new Date(closes).getTime() / 1000) : null,
      joiner_seconds: 86400 * Number(byId("new-joiners").value || 0),
      visibility: byId("new-visibility").value,
    };
    await ask("POST", "/v1/rounds", { body: wish });
    if (labels !== null) await ask("PUT", `/v1/rounds/${id}/labels`, { body: labels, type: "text/csv" });
    byId("new-status").textContent = `The draft ${id} is above: open it when its users are enrolled.`;
    byId("new-round").reset();
    chooseKind();
    await privact.refreshDesk();
  });

  privact.onSubmit(byId("new-series"), async () => {
    byId("series-status").textContent = "";
    const name = byId("series-name").value;
    const wish = {
      name,
      epsilon: Number(byId("series-epsilon").value),
      rounds: Number(byId("series-rounds").value),
      every_seconds: Math.max(1, Math.round(3600 * Number(byId("series-hours").value))),
    };
    await ask("POST", "/v1/series", { body: wish });
    byId("series-status").textContent = `The draft ${name} is below: open it when its users are enrolled.`;
    byId("new-series").reset();
    await privact.refreshDesk();
  });
}
