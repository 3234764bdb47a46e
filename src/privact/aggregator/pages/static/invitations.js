// Invitations on the operator's desk: links to copy, to mail and to photograph.
"use strict";
{
  const { ask, byId, make } = privact;
  const AT_ONCE = 12; // cards; the file has all of them
  let links = [];

  const mail = (user, link) => {
    const body = `Hello,\n\nyou are invited to take part in finding the communities of our network. Nobody sees your contacts: they are counted on your own device, and only blurred numbers leave it, after you have seen them and said yes.\n\nOpen this link on your phone or computer. It is for ${user} only, and it works once:\n\n${link}\n`;
    return `mailto:?subject=${encodeURIComponent("Take part without showing your contacts")}&body=${encodeURIComponent(body)}`;
  };

  const draw = async (link, place) => {
    const answer = await ask("POST", "/v1/users/invitation-picture", { body: { link }, bytes: true });
    const picture = new DOMParser().parseFromString(await answer.text(), "image/svg+xml").documentElement;
    picture.setAttribute("role", "img");
    picture.setAttribute("viewBox", `0 0 ${picture.getAttribute("width")} ${picture.getAttribute("height")}`);
    place.replaceChildren(document.importNode(picture, true));
  };

  const card = ([user, link]) => {
    const shown = make("input", { type: "text", readOnly: true, value: link, ariaLabel: `Link of ${user}` });
    shown.onfocus = () => shown.select();
    const picture = make("div", { className: "qr" });
    const copy = make("button", { type: "button", textContent: "Copy", ariaLabel: `Copy the link of ${user}` });
    copy.onclick = () => attempt(async () => (await navigator.clipboard.writeText(link), (copy.textContent = "Copied")));
    const code = make("button", { type: "button", textContent: "QR code", ariaLabel: `QR code of ${user}` });
    code.onclick = () => attempt(() => draw(link, picture));
    const letter = make("a", { className: "button", href: mail(user, link), textContent: "Mail" });
    return make("li", {}, make("h3", { textContent: user }), shown, make("div", { className: "actions" }, copy, letter, code), picture);
  };

  // Show the links of new invitations; codes: by user, as the server gives them.
  privact.showInvitations = (codes) => {
    links = Object.entries(codes).map(([user, code]) => [user, `${location.origin}/join#${code}`]);
    byId("invitations").hidden = links.length === 0;
    byId("invitation-list").replaceChildren();
    showMore();
  };

  const showMore = () => {
    const shown = byId("invitation-list").children.length;
    byId("invitation-list").append(...links.slice(shown, shown + AT_ONCE).map(card));
    const left = Math.max(0, links.length - shown - AT_ONCE);
    byId("more-links").hidden = left === 0;
    byId("more-links").textContent = `and ${privact.number(left)} more`;
  };
  byId("more-links").onclick = showMore;

  const idsOf = (field) => byId(field).value.split("\n").map((line) => line.trim()).filter(Boolean);

  const attempt = privact.onSubmit(byId("invite"), async () => {
    const { invitations } = await ask("POST", "/v1/users/invite", { body: { users: idsOf("invite-ids") } });
    byId("invite-status").textContent = `${privact.number(Object.keys(invitations).length)} invited.`;
    privact.showInvitations(invitations);
    byId("invite").reset();
  });

  byId("revoke").onclick = () => attempt(async () => {
    privact.requireValid(byId("invite"));
    const ids = idsOf("invite-ids");
    const question = { title: `Revoke ${ids.length === 1 ? "link and token of one user" : `links and tokens of ${privact.number(ids.length)} users`}?`, sentences: ["They cannot answer until they are invited again."], action: "Revoke" };
    if (!(await privact.confirm(question))) return;
    for (const user of ids) await ask("POST", "/v1/users/revoke", { body: { user } });
    byId("invite-status").textContent = `${privact.number(ids.length)} can no longer take part until they are invited again.`;
    byId("invite").reset();
  });

  byId("save-links").onclick = () => {
    const text = links.map((line) => `${line.join("\t")}\n`).join("");
    const address = URL.createObjectURL(new Blob([text], { type: "text/tab-separated-values" }));
    make("a", { href: address, download: "links.tsv" }).click();
    setTimeout(() => URL.revokeObjectURL(address), 1000);
  };
}
