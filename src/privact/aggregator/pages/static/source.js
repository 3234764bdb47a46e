// The explorer's source when there is a server: questions go to the API of the round in the page's address.
"use strict";
{
  const { ask, attempt, byId } = privact;
  const id = decodeURIComponent(location.pathname.split("/")[2]);
  const base = `/v1/rounds/${encodeURIComponent(id)}/tree`;
  const late = new Set();

  const question = async (name, fields) => {
    const given = Object.entries(fields).filter(([, value]) => value !== undefined);
    const answer = await ask("GET", `${base}/explore/${name}?${new URLSearchParams(given)}`);
    answer.joined_late.forEach((user) => late.add(user));
    return answer;
  };

  const source = {
    view: (node, highlight) => question("view", { node, highlight }),
    members: (node, first = 0, limit = 100) => question("members", { node, first, limit }),
    search: (text, limit = 20) => (text.trim() ? question("search", { text: text.trim(), limit }) : { text, users: [] }),
    rings: (user) => question("rings", { user }),
    cut: (k, minSize) => question("cut", { k, min_size: minSize }),
    compare: (a, b) => question("compare", { a, b }),
    mostClusters: 1000, // in one answer of the server
    joinedLate: (user) => late.has(user),
  };

  byId("back").href = `/rounds/${encodeURIComponent(id)}`;
  byId("back").textContent = `← Round ${id}`;
  document.title = `Tree of ${id} · PrivaCT`;
  byId("title").textContent = `Communities of round ${id}`;
  // Where trees are not public, the token of a user or of the operator opens them.
  privact.tokenKey = sessionStorage.getItem("privact-operator") ? "privact-operator" : "privact-user";
  attempt(async () => {
    const summary = await privact.askFor("round", id, base);
    byId("title").textContent = `${privact.number(summary.users)} users of round ${id}`;
    document.getElementById("main").classList.add("wide");
    byId("late-note").hidden = !summary.joined_late;
    byId("privacy").textContent = summary.privacy;
    privact.explore(source);
  });
}
