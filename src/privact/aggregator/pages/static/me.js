// What a user's device sent, to the byte: the blurred counts of each box or group, what each round cost, what is left.
"use strict";
{
  const { ask, byId, make } = privact;
  const HEAD = 57; // bytes before the entries of a report: see docs/protocol.md
  let spent = 0;

  const points = (epsilon) => (epsilon === 1 ? "1 privacy point" : `${epsilon} privacy points`);
  const surety = (epsilon) => Math.min(100, Math.ceil(100 / (1 + Math.exp(-epsilon)) - 1e-9));
  const meaningOf = (epsilon) => `Somebody who has no idea whether you know a certain person, fifty-fifty, can be at most ${surety(epsilon)} percent sure after seeing all of it.`;

  const entries = (bytes) => {
    const view = new DataView(bytes, HEAD);
    return Array.from({ length: view.byteLength / 4 }, (_, place) => view.getInt32(4 * place));
  };

  // names: of the groups; boxes of random bins have none and are numbered.
  const chart = (numbers, names) => {
    const low = Math.min(0, ...numbers);
    const span = Math.max(0, ...numbers) - low || 1;
    const rows = numbers.flatMap((value, place) => {
      const bar = make("i", {});
      bar.style.setProperty("--from", `${(100 * (Math.min(0, value) - low)) / span}%`);
      bar.style.setProperty("--length", `${(100 * Math.abs(value)) / span}%`);
      return [make("span", { className: "quiet", textContent: names?.[place] ?? `box ${place + 1}` }), make("span", { className: "value", textContent: value }), make("span", { className: "track" }, bar)];
    });
    const picture = make("div", { className: "sent-numbers" }, ...rows);
    picture.setAttribute("role", "img");
    picture.setAttribute("aria-label", `The numbers that were sent: ${numbers.join(", ")}`);
    return picture;
  };

  const panel = async (mine) => {
    const round = await ask("GET", `/v1/rounds/${mine.id}`);
    const answer = await ask("GET", `/v1/rounds/${mine.id}/report`, { bytes: true });
    const bytes = await answer.arrayBuffer();
    const numbers = entries(bytes);
    const names = round.bins === "labels" ? await ask("GET", `/v1/rounds/${mine.id}/labels/names`).then((said) => said.names).catch(() => null) : null;
    spent += round.epsilon;
    const cost = `${points(round.epsilon)} (epsilon ${round.epsilon}) for each of your contacts: half by what you sent, half by what they sent. ${meaningOf(round.epsilon)}`;
    const section = make("section", { className: "panel" }, make("h2", {}, make("a", { href: `/rounds/${mine.id}`, textContent: mine.id })));
    const folded = make("details", {}, make("summary", { textContent: "What your device sent, and what it cost" }));
    section.append(folded);
    folded.append(
      privact.facts([["sent", privact.when(mine.answered_at)], ["cost", cost], ["length", `${bytes.byteLength} bytes, the same for every user of this round`], ["numbers", numbers.join(", ")]]),
      chart(numbers, names),
      make("p", { className: "sentence", textContent: `These are your contacts in each ${names ? "group" : "box"}, blurred by chance on your device; numbers below zero are chance alone.` }),
    );
    return section;
  };

  const guard = privact.guard(byId("discoverable").closest("form"));
  byId("discoverable").onchange = () =>
    guard(async () => {
      const box = byId("discoverable");
      try {
        await ask("PUT", "/v1/me/discoverable", { body: { discoverable: box.checked } });
      } catch (error) {
        box.checked = !box.checked; // the server did not agree
        throw error;
      }
    });

  const left = () => {
    const budget = Number(byId("budget-total").value);
    byId("left").textContent = !budget ? "" : budget >= spent ? `Of a budget of ${budget}, ${+(budget - spent).toFixed(6)} is left.` : `A budget of ${budget} is exceeded by ${+(spent - budget).toFixed(6)}.`;
  };
  byId("budget-total").oninput = left;
  byId("budget").onsubmit = (event) => event.preventDefault();

  privact.login("privact-user", (token) => ask("GET", "/v1/me", { token }), async () => {
    const { user, rounds, discoverable } = await ask("GET", "/v1/me");
    byId("me").textContent = user;
    byId("discoverable").checked = discoverable;
    spent = 0;
    const panels = [];
    for (const mine of rounds) if (mine.answered_at !== null) panels.push(await panel(mine));
    byId("reports").replaceChildren(...panels);
    if (panels.length) panels[0].querySelector("details").open = true;
    byId("empty").hidden = panels.length > 0;
    const rounded = +spent.toFixed(6);
    const answered = panels.length === 1 ? "one round here. It" : `${panels.length} rounds here. Together they`;
    byId("spent").textContent = panels.length ? `Your device answered ${answered} cost ${points(rounded)} for each of your contacts.` : "Nothing.";
    left();
    await privact.showResults(user, rounds);
  });
}
