// All rounds that were opened, newest first.
"use strict";
privact.live(async () => {
  const { rounds } = await privact.ask("GET", "/v1/rounds");
  privact.byId("empty").hidden = rounds.length > 0;
  const cards = rounds.map((round) => privact.roundCard(round, { actions: privact.treeLinks(round) }));
  privact.byId("rounds").replaceChildren(...cards);
});
