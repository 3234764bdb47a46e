// The operator's desk: rounds with live progress, new rounds, users and their tokens.
"use strict";
{
  const { ask, attempt, byId, make } = privact;
  let shown = "";

  const act = (text, path) => {
    const button = make("button", { type: "button", textContent: text });
    button.onclick = () => attempt(async () => (await ask("POST", path), await refresh()));
    return button;
  };

  const refresh = async () => {
    if (!privact.token()) return;
    const { rounds } = await ask("GET", "/v1/rounds");
    byId("users-total").textContent = privact.number((await ask("GET", "/v1/users?limit=1")).total);
    const now = JSON.stringify(rounds);
    if (now === shown) return; // what has focus keeps it
    shown = now;
    byId("no-rounds").hidden = rounds.length > 0;
    const cards = rounds.map((round) => {
      const path = `/v1/rounds/${round.id}`;
      const steps = { draft: [act("Open", `${path}/open`)], open: [act("Close and learn", `${path}/close`)] }[round.state] ?? [];
      return privact.roundCard(round, { heading: "h3", actions: [...steps, ...privact.treeLinks(round)] });
    });
    byId("rounds").replaceChildren(...cards);
  };

  byId("new-round").onsubmit = (event) => {
    event.preventDefault();
    attempt(async () => {
      const [id, bins, labels] = [byId("new-id").value, byId("new-bins").value, byId("new-labels").files[0]];
      const wish = { id, epsilon: Number(byId("new-epsilon").value), n_bins: bins ? Number(bins) : null, bins: labels ? "labels" : "random" };
      await ask("POST", "/v1/rounds", { body: wish });
      if (labels) await ask("PUT", `/v1/rounds/${id}/labels`, { body: await labels.text(), type: "text/csv" });
      byId("new-status").textContent = `Draft ${id} is ready: open it above when its users are enrolled.`;
      byId("new-round").reset();
      await refresh();
    });
  };

  byId("enrol").onsubmit = (event) => {
    event.preventDefault();
    attempt(async () => {
      const ids = byId("enrol-ids").value.split("\n").map((line) => line.trim()).filter(Boolean);
      const { tokens, existing, invitations } = await ask("POST", "/v1/users", { body: { users: ids, invite: true } });
      privact.showInvitations(invitations);
      const lines = Object.entries(tokens).map(([user, token]) => `${user}\t${token}`).join("\n");
      const known = existing.length ? `, ${privact.number(existing.length)} were enrolled already` : "";
      byId("enrol-status").textContent = `${privact.number(Object.keys(tokens).length)} enrolled${known}.`;
      byId("token-list").textContent = lines;
      byId("tokens").hidden = !lines;
      byId("enrol-ids").value = "";
      await refresh();
    });
  };

  byId("save-tokens").onclick = () => {
    const address = URL.createObjectURL(new Blob([byId("token-list").textContent + "\n"], { type: "text/tab-separated-values" }));
    make("a", { href: address, download: "tokens.tsv" }).click();
    setTimeout(() => URL.revokeObjectURL(address), 1000);
  };

  let timer = null;
  privact.login("privact-operator", (token) => ask("GET", "/v1/users?limit=1", { token }), async () => {
    clearInterval(timer);
    shown = "";
    timer = privact.live(refresh);
  });
}
