// One round.
"use strict";
{
  const id = decodeURIComponent(location.pathname.split("/")[2]);
  document.title = `Round ${id} · PrivaCT`;
  privact.byId("title").textContent = `Round ${id}`;
  privact.live(async () => {
    const round = await privact.ask("GET", `/v1/rounds/${encodeURIComponent(id)}`);
    const list = privact.make("ul", { className: "cards" }, privact.roundCard(round, { link: false, actions: privact.treeLinks(round) }));
    privact.byId("round").replaceChildren(list);
  });
}
