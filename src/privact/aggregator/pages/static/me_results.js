// What comes back to a user from a round that is over: their community at a size they choose, people they may know, what they may like.
"use strict";
(function (privact) {
  const { ask, byId, make } = privact;
  const SIZES = [5, 10, 20, 50, 100, 200];
  const ONE_ROUND = " One round like this sees how many people everybody knows, not whom: the circle holds people who know about as many as you.";
  let asked = 0;

  const listed = (name, reason) => make("li", {}, make("b", { textContent: name }), make("span", { className: "quiet", textContent: ` ${reason}` }));

  // What a round cannot see: one alone, of boxes that mean nothing.
  const limitOf = async (round) => {
    const { bins, series } = await ask("GET", `/v1/rounds/${round}`).catch(() => ({}));
    return bins === "random" && !series ? ONE_ROUND : "";
  };

  const showCommunity = async (round, user, limit) => {
    const size = SIZES[byId("size").value];
    const mine = ++asked;
    byId("size").setAttribute("aria-valuetext", `about ${size} people`);
    try {
      const found = await ask("GET", `/v1/rounds/${round}/tree/community?${new URLSearchParams({ user, size })}`);
      const limited = await limit;
      if (mine !== asked) return; // the person moved on
      const others = found.users.map((each) => each.user).filter((each) => each !== user);
      const shown = others.length + 1 < found.size ? `, ${privact.number(others.length)} of them shown` : ", you among them";
      byId("community-status").textContent = `${privact.number(found.size)} people${shown}. By round ${round}, from everybody's blurred numbers. Nobody's contacts were seen.${limited}`;
      byId("community").replaceChildren(...others.map((each) => make("li", { textContent: each })));
    } catch (error) {
      byId("community-status").textContent = error.message;
    }
  };

  const showPeople = async (round) => {
    try {
      const { people } = await ask("GET", `/v1/rounds/${round}/people`);
      byId("people-status").textContent = people.length ? "" : "Nobody can be named yet.";
      byId("people").replaceChildren(...people.map(({ user, reason }) => listed(user, reason)));
    } catch (error) {
      byId("people-status").textContent = error.message;
    }
  };

  // Nothing is said where the service has no ratings.
  const showItems = async (round) => {
    const items = await ask("GET", `/v1/rounds/${round}/recommendations?k=10`).then((said) => said.items).catch(() => []);
    byId("items").replaceChildren(...items.map(({ item, reason }) => listed(item, reason)));
    byId("items-panel").hidden = items.length === 0;
  };

  // By the latest released round that has an answer of this user.
  privact.showResults = async (user, rounds) => {
    const [latest] = rounds.filter((mine) => mine.answered_at !== null && mine.state === "released").sort((one, other) => other.answered_at - one.answered_at);
    for (const id of ["community", "people", "items"]) byId(id).replaceChildren();
    byId("items-panel").hidden = true;
    byId("community-size").hidden = !latest;
    byId("community-status").textContent = byId("people-status").textContent = latest ? "One moment ..." : "Not yet: no round that you answered is over.";
    if (!latest) return;
    const limit = limitOf(latest.id);
    byId("size").oninput = () => showCommunity(latest.id, user, limit);
    await Promise.all([showCommunity(latest.id, user, limit), showPeople(latest.id), showItems(latest.id)]);
  };
})(globalThis.privact);
