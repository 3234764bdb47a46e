// Ratings at the operator's desk: looked at before they are used, replaced, deleted, made into taste labels.
"use strict";
{
  const { ask, byId, make, number } = privact;
  let chosen = null;

  // One primary action: to use what was looked at, or to look at a file, or at the groups of taste.
  const choosePrimary = () => {
    const looking = byId("preview").hidden;
    byId("upload").querySelector("button").classList.toggle("primary", looking && privact.desk.ratings === null);
    byId("taste-form").querySelector("button").classList.toggle("primary", looking && byId("taste-found").childElementCount === 0);
    byId("taste-found").querySelector(".first")?.classList.toggle("primary", looking);
  };

  const tell = (found) =>
    privact.facts([
      ["users", `${number(found.users)}, of whom ${number(found.enrolled)} are enrolled here`],
      ["items", number(found.items)],
      ["ratings", number(found.ratings)],
      ["most rated", found.popular.map(({ item, users }) => `${item} (${number(users)})`).join(", ")],
      ["uploaded", found.uploaded_at ? privact.when(found.uploaded_at) : ""],
    ]);

  const hidePreview = (hidden) => {
    byId("preview").hidden = hidden;
    choosePrimary();
  };
  byId("upload-file").onchange = () => hidePreview(true); // what was looked at is another file

  privact.onSubmit(byId("upload"), async () => {
    byId("upload-status").textContent = "";
    hidePreview(true);
    chosen = byId("upload-file").files[0];
    const found = await ask("PUT", "/v1/ratings?preview=true", { body: chosen, type: "application/octet-stream" });
    byId("preview-facts").replaceChildren(tell(found));
    hidePreview(false);
  });

  privact.onSubmit(byId("preview-keep"), async () => {
    await ask("PUT", "/v1/ratings", { body: chosen, type: "application/octet-stream" });
    hidePreview(true);
    byId("upload").reset();
    byId("upload-status").textContent = "These ratings are used from now on.";
    await privact.refreshDesk();
  });

  privact.onSubmit(byId("ratings-delete"), async () => {
    const question = { title: "Delete the ratings?", sentences: ["Nothing is recommended until others are uploaded. Rounds and trees stay."], action: "Delete" };
    if (!(await privact.confirm(question))) return;
    await ask("DELETE", "/v1/ratings");
    await privact.refreshDesk();
  });

  // Groups of taste: how many users each has, and the labels as a file.
  privact.onSubmit(byId("taste-form"), async () => {
    byId("taste-found").replaceChildren();
    const text = await (await ask("GET", `/v1/ratings/labels?groups=${byId("taste-groups").value}`, { bytes: true })).text();
    const labels = text.split("\n").filter(Boolean).map((line) => line.split("\t").pop());
    const sizes = new Map();
    labels.forEach((label) => sizes.set(label, 1 + (sizes.get(label) ?? 0)));
    const groups = [...sizes].sort().map(([name, size], place) => ({ size, users: [], groups: [{ name, number: place, share: 1 }] }));
    groups.sort((one, other) => other.size - one.size);
    const bars = make("ol", { className: "communities" });
    privact.listClusters(bars, groups, groups.length);
    const save = make("a", { className: "button", download: "taste.tsv", href: URL.createObjectURL(new Blob([text], { type: "text/tab-separated-values" })), textContent: "Save as a file" });
    const use = make("a", { className: "button first", href: "#rounds", textContent: "Create a round or a series with them" });
    byId("taste-found").replaceChildren(bars, make("div", { className: "actions" }, use, save));
    choosePrimary();
    privact.skipStep("taste"); // the guide goes on
  });

  let from = null; // when the ratings were uploaded that groups of taste were made of
  privact.onDesk(({ ratings }) => {
    if (ratings?.uploaded_at !== from) byId("taste-found").replaceChildren();
    from = ratings?.uploaded_at;
    byId("taste").hidden = ratings === null;
    byId("ratings-none").hidden = ratings !== null;
    byId("ratings-delete").hidden = ratings === null;
    byId("ratings-here").replaceChildren(...(ratings ? [tell(ratings)] : []));
    choosePrimary();
  });
}
