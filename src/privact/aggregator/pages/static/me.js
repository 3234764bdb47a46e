// What a user's device sent, to the byte: the noisy counts per bin, what each round cost, what is left.
"use strict";
{
  const { ask, byId, make } = privact;
  const HEAD = 57; // bytes before the entries of a report: see docs/protocol.md
  let spent = 0;

  const entries = (bytes) => {
    const view = new DataView(bytes, HEAD);
    return Array.from({ length: view.byteLength / 4 }, (_, bin) => view.getInt32(4 * bin));
  };

  const chart = (vector) => {
    const low = Math.min(0, ...vector);
    const span = Math.max(0, ...vector) - low || 1;
    const rows = vector.flatMap((value, bin) => {
      const bar = make("i", {});
      bar.style.setProperty("--from", `${(100 * (Math.min(0, value) - low)) / span}%`);
      bar.style.setProperty("--length", `${(100 * Math.abs(value)) / span}%`);
      return [make("span", { className: "quiet", textContent: `bin ${bin}` }), make("span", { className: "value", textContent: value }), make("span", { className: "track" }, bar)];
    });
    const picture = make("div", { className: "vector" }, ...rows);
    picture.setAttribute("role", "img");
    picture.setAttribute("aria-label", `The vector that was sent: ${vector.join(", ")}`);
    return picture;
  };

  const panel = async (mine) => {
    const round = await ask("GET", `/v1/rounds/${mine.id}`);
    const answer = await ask("GET", `/v1/rounds/${mine.id}/report`, { bytes: true });
    const bytes = await answer.arrayBuffer();
    const vector = entries(bytes);
    spent += round.epsilon;
    const cost = `epsilon ${round.epsilon} for each of your contacts: ${round.epsilon_report} by your report and ${round.epsilon_report} by theirs`;
    const section = make("section", { className: "panel" }, make("h2", {}, make("a", { href: `/rounds/${mine.id}`, textContent: mine.id })));
    section.append(
      privact.facts([["sent", privact.when(mine.answered_at)], ["cost", cost], ["length", `${bytes.byteLength} bytes, the same for every user of this round`], ["vector", vector.join(", ")]]),
      chart(vector),
      make("p", { className: "sentence", textContent: "These are your contacts per bin plus noise drawn on your device; entries below zero are noise." }),
    );
    return section;
  };

  // Users whom this user may know, by the latest released round that has an answer of theirs.
  const introduce = async (rounds) => {
    const [latest] = rounds.filter((mine) => mine.answered_at !== null && mine.state === "released").sort((one, other) => other.answered_at - one.answered_at);
    byId("people").replaceChildren();
    byId("people-status").textContent = latest ? `By round ${latest.id}, from everybody's noisy reports. Nobody's contacts were seen.` : "Nobody yet: no round that you answered is released.";
    if (!latest) return;
    try {
      const { people } = await ask("GET", `/v1/rounds/${latest.id}/people`);
      byId("people").replaceChildren(...people.map(({ user, reason }) => make("li", {}, make("b", { textContent: user }), make("span", { className: "quiet", textContent: ` ${reason}` }))));
    } catch (error) {
      byId("people-status").textContent = error.message;
    }
  };

  byId("discoverable").onchange = () =>
    privact.attempt(async () => {
      const said = await ask("PUT", "/v1/me/discoverable", { body: { discoverable: byId("discoverable").checked } });
      byId("discoverable").checked = said.discoverable;
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
    byId("empty").hidden = panels.length > 0;
    const rounded = +spent.toFixed(6);
    const answered = panels.length === 1 ? "one round here. It" : `${panels.length} rounds here. Together they`;
    byId("spent").textContent = panels.length ? `Your device answered ${answered} cost epsilon ${rounded} per contact.` : "Nothing.";
    left();
    await introduce(rounds);
  });
}
