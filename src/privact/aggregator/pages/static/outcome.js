// What came out of a round or a series, and how to take part: panels that both of their pages have.
"use strict";
(function (privact) {
  const { ask, byId, make, number } = privact;
  const pathOf = (round) => `/v1/rounds/${encodeURIComponent(round.id)}`;

  // The communities of a usual cut, if the round is released and whoever looks may see them.
  privact.showCommunities = async function (round) {
    const released = round.state === "released";
    byId("communities").hidden = !released;
    if (!released) return;
    let cut;
    try {
      cut = await privact.askFor("round", round.id, `${pathOf(round)}/tree/explore/cut`);
    } catch (error) {
      if (!privact.isClosed(error)) throw error;
      byId("communities-lead").textContent = error.message;
      byId("primary").replaceChildren();
      return;
    }
    byId("communities-lead").textContent = cut.k > 1 ? `The tree cut into ${cut.k} communities of at least ${number(cut.min_size)} ${cut.min_size === 1 ? "user" : "users"}:` : "The tree has no two communities of a usual size: everybody is in one.";
    privact.listClusters(byId("communities-list"), cut.clusters, cut.groups.length); // in the colours of the explorer
    byId("communities-rest").textContent = cut.in_none ? `${number(cut.in_none)} users are between them.` : "";
    byId("downloads").replaceChildren(privact.downloads(round));
  };

  // What a path says, asked again while it is being prepared; null if there is nothing, as without ratings.
  const measure = async (path) => {
    for (let attempt = 0; attempt < 20; attempt++) {
      try {
        return await ask("GET", path);
      } catch (error) {
        if (!error.message.endsWith("ask again soon")) return null;
      }
      await new Promise((resolve) => setTimeout(resolve, 3000));
    }
    return null;
  };

  // Recommendations against popularity; operators see them.
  privact.showQuality = async function (round) {
    if (round.state !== "released" || privact.tokenKey !== "privact-operator") return;
    const found = await measure(`${pathOf(round)}/recommendations/quality`);
    byId("quality").hidden = !found;
    if (!found) return;
    byId("quality-figure").replaceChildren(found.precision.toFixed(2), make("small", { textContent: ` against ${found.precision_popular.toFixed(2)} for the most popular items` }));
    byId("quality-text").textContent = `Of 10 items recommended to a user whose own ratings are hidden, this share is really theirs (precision@10, ${number(found.users)} users).`;
  };

  // The address where devices answer, to click and to photograph.
  privact.showTakingPart = function (open) {
    byId("join").hidden = !open;
    if (!open || byId("join-code").getAttribute("src")) return;
    const address = `${location.origin}/join/`;
    byId("join-link").textContent = address;
    byId("join-code").alt = `QR code of ${address}`;
    byId("join-code").src = "/join-code.svg";
  };
})((window.privact = window.privact || {}));
