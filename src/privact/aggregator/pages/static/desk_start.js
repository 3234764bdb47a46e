// The guided first run: which step is next, what it does and costs, and a rehearsal.
"use strict";
{
  const { ask, byId, make, number } = privact;
  const skipped = () => new Set(JSON.parse(sessionStorage.getItem("privact-skipped") ?? "[]"));

  // Goes on in the guide: a step was looked at, or is not wanted.
  privact.skipStep = (step) => {
    sessionStorage.setItem("privact-skipped", JSON.stringify([...skipped().add(step)]));
    draw(privact.desk);
  };
  document.querySelectorAll("[data-skip]").forEach((button) => (button.onclick = () => privact.skipStep(button.dataset.skip)));

  const draw = ({ enrolled, minimum, rounds, series, ratings }) => {
    const opened = rounds.filter((round) => round.state !== "draft");
    const released = rounds.filter((round) => round.state === "released");
    const newest = opened.find((round) => round.state === "open");
    const begun = rounds.length + series.length > 0;
    const done = {
      enrol: enrolled >= minimum,
      ratings: ratings !== null || skipped().has("ratings"),
      taste: skipped().has("taste") || skipped().has("ratings") || begun,
      rehearse: skipped().has("rehearse") || begun,
      create: begun,
      open: opened.length > 0,
      invite: opened.some(({ series: part, state }) => !part && !["open", "failed"].includes(state)) || series.some(({ state }) => ["learning", "released"].includes(state)),
      released: false,
    };
    const steps = [...document.querySelectorAll("#steps > li")];
    const now = steps.find((step) => !done[step.dataset.step]);
    steps.forEach((step) => {
      step.classList.toggle("done", done[step.dataset.step]);
      step.classList.toggle("now", step === now);
      if (step === now) step.setAttribute("aria-current", "step");
      else step.removeAttribute("aria-current");
    });
    byId("guide-users").textContent = `A round needs at least ${number(minimum)}; ${number(enrolled)} ${enrolled === 1 ? "is" : "are"} enrolled.`;
    byId("guide-answers").textContent = newest ? `${privact.answered(newest)} users answered ${newest.series ? `round ${newest.series.number} of ${newest.series.rounds} of ${newest.series.name}` : newest.id}.` : "";
    byId("guide-learning").hidden = released.length > 0;
    byId("guide-released").replaceChildren(...released.slice(0, 1).map((round) => make("a", { className: "button primary", href: round.series ? `/series/${round.series.name}` : `/rounds/${round.id}`, textContent: `What came out of ${round.series?.name ?? round.id}` })));
  };
  privact.onDesk(draw);

  privact.onSubmit(byId("rehearse"), async () => {
    byId("rehearsed").textContent = "Playing made-up devices…";
    try {
      const wish = { contacts: Number(byId("rehearse-contacts").value), epsilon: Number(byId("rehearse-epsilon").value) };
      const found = await ask("POST", "/v1/rehearsals", { body: wish });
      const share = (value) => `${Math.round(100 * value)}%`;
      byId("rehearsed").replaceChildren(
        privact.facts([
          ["played", `${number(found.users)} made-up users in ${found.communities} communities`],
          ["one round, random bins", `${share(found.random)} of the users nearest to a user are of the own community`],
          ["one round, labels", `${share(found.labels)}, where labels name the community of three in four users`],
          [`series of ${found.rounds} rounds`, `${share(found.series)}, without labels, for the same epsilon over all rounds`],
          ["by chance", share(found.chance)],
        ]),
      );
      byId("rehearse").querySelector("button").classList.remove("primary");
      document.querySelector("[data-skip=rehearse]").classList.add("primary"); // what comes next
    } catch (error) {
      byId("rehearsed").textContent = "";
      throw error;
    }
  });
}
