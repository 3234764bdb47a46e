// Users at the operator's desk: enrolled, found, given new links, removed, erased.
"use strict";
{
  const { ask, byId, make, number } = privact;
  const AT_ONCE = 10_000; // users in one request
  const PAGE = 25;
  let next = null;

  privact.onSubmit(byId("enrol"), async () => {
    byId("enrol-status").textContent = "";
    const file = byId("enrol-file").files[0];
    const text = byId("enrol-ids").value + (file ? `\n${await file.text()}` : "");
    const ids = text.split("\n").map((line) => line.trim()).filter((line) => line && !line.startsWith("#"));
    if (!ids.length) throw new Error("No id was given: write one a line, or choose a file.");
    const codes = {}; // of invitations, by user
    let existing = 0;
    try {
      for (let begin = 0; begin < ids.length; begin += AT_ONCE) {
        const answer = await ask("POST", "/v1/users", { body: { users: ids.slice(begin, begin + AT_ONCE), invite: true } });
        Object.assign(codes, answer.invitations);
        existing += answer.existing.length;
      }
    } finally {
      privact.showInvitations(codes); // what was handed out is shown, whatever happened to the rest
    }
    const known = existing ? `, ${number(existing)} were enrolled already` : "";
    byId("enrol-status").textContent = `${number(Object.keys(codes).length)} enrolled${known}.`;
    byId("enrol").reset();
    await privact.refreshDesk();
  });

  const rowOf = ({ user, enrolled_at: at, invitation, discoverable }) => {
    const { box, show } = privact.problem();
    const said = make("p", { className: "quiet" });
    said.setAttribute("role", "status");
    const act = (text, question, work) => {
      const button = make("button", { type: "button", textContent: text });
      button.onclick = async () => {
        if (question && !(await privact.confirm(question))) return;
        try {
          await work();
          show("");
        } catch (error) {
          show(error.message);
        }
      };
      return button;
    };
    const away = (erase) => async () => {
      const left = await ask("DELETE", `/v1/users/${encodeURIComponent(user)}${erase ? "?erase=true" : ""}`);
      byId("users-status").textContent = left ? `What ${left.waits_for.join(", ")} still needs of ${left.user}, such as the label there, is erased by itself when it has ended.` : "";
      row.remove();
      await privact.refreshDesk();
    };
    const renew = async () => {
      const { invitations } = await ask("POST", "/v1/users/invite", { body: { users: [user] } });
      privact.showInvitations(invitations);
      byId("invitations").scrollIntoView({ block: "center" });
    };
    const actions = make(
      "div",
      { className: "actions" },
      act("New link", { title: `A new link for ${user}?`, sentences: ["It works once. The one before is worthless from then on."], action: "Make a new link" }, renew),
      act("Remove", { title: `Remove ${user}?`, sentences: ["The link is worthless and later rounds leave this user out. Reports that were accepted stay."], action: "Remove" }, away(false)),
      act("Erase", { title: `Erase ${user}?`, sentences: ["Removes the user, all reports and every mention of the id. Released trees keep a leaf without a name. This cannot be undone."], action: "Erase", risk: "I want this user erased." }, away(true)),
    );
    const giveToken = async () => {
      const { token } = await ask("POST", "/v1/users/token", { body: { user } });
      const field = make("input", { type: "text", readOnly: true, value: token, ariaLabel: `Token of ${user}` });
      said.replaceChildren("The token, shown this once: ", field);
      field.select();
    };
    const revoke = async () => {
      await ask("POST", "/v1/users/revoke", { body: { user } });
      said.textContent = "Link and token are worthless now.";
    };
    const shows = () => (discoverable ? "Hide from others" : "Show to others");
    const choose = act(shows(), null, async () => {
      ({ discoverable } = await ask("PUT", "/v1/users/discoverable", { body: { user, discoverable: !discoverable } }));
      choose.textContent = shows();
      said.textContent = discoverable ? "May be recommended to others." : "Is recommended to nobody.";
    });
    const more = make(
      "details",
      {},
      make("summary", { textContent: "More", ariaLabel: `More about ${user}` }),
      make(
        "div",
        { className: "actions" },
        act("New token", { title: `A new token for ${user}?`, sentences: ["For a device in a terminal. The token and the link before are worthless from then on."], action: "Make a new token" }, giveToken),
        act("Revoke", { title: `Revoke link and token of ${user}?`, sentences: ["This user stays enrolled, and cannot answer until there is a new link."], action: "Revoke" }, revoke),
        choose,
      ),
    );
    actions.append(more);
    const row = make("tr", {}, make("td", { textContent: user }), make("td", { className: "quiet", textContent: `${privact.when(at)}${invitation ? `, invitation ${invitation}` : ""}` }), make("td", {}, actions, said, box));
    return row;
  };

  let listed = null; // the text that was searched for last: a list that is open stays as it is
  const list = async (after = 0) => {
    const search = byId("search-text").value.trim();
    listed = search;
    const query = new URLSearchParams({ limit: PAGE, after, search });
    const answer = await ask("GET", `/v1/users?${query}`);
    const rows = answer.users.map(rowOf);
    if (after) byId("users-list").append(...rows);
    else byId("users-list").replaceChildren(...rows);
    next = answer.next;
    byId("users-more").hidden = next === null;
    byId("users-table").hidden = !byId("users-list").children.length;
    byId("users-none").hidden = !byId("users-table").hidden;
  };

  const guard = privact.onSubmit(byId("search"), () => list());
  let asked = 0;
  byId("search-text").oninput = async () => {
    const mine = ++asked;
    await new Promise((resolve) => setTimeout(resolve, 150));
    if (mine === asked && byId("search-text").value.trim() !== listed) guard(() => list());
  };
  byId("users-more").onclick = () => guard(() => list(next));

  privact.onSubmit(byId("revoke-all"), async () => {
    const question = {
      title: "Make all tokens worthless?",
      sentences: [`None of the ${number(privact.desk.enrolled)} users can answer until each has a new link.`],
      action: "Make them worthless",
      risk: "I will hand out new links to everybody.",
    };
    if (await privact.confirm(question)) await ask("POST", "/v1/users/revoke-all");
  });

  let total = -1;
  privact.onDesk(({ enrolled }) => {
    byId("users-total").textContent = number(enrolled);
    if (enrolled === total) return;
    total = enrolled;
    guard(() => list());
  });
}
