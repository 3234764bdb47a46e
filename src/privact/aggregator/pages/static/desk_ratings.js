// Ratings at the operator's desk: looked at before they are used, replaced, deleted.
"use strict";
{
  const { ask, byId, number } = privact;
  let chosen = null;

  const tell = (found) =>
    privact.facts([
      ["users", `${number(found.users)}, of whom ${number(found.enrolled)} are enrolled here`],
      ["items", number(found.items)],
      ["ratings", number(found.ratings)],
      ["most rated", found.popular.map(({ item, users }) => `${item} (${number(users)})`).join(", ")],
      ["uploaded", found.uploaded_at ? privact.when(found.uploaded_at) : ""],
    ]);

  privact.onSubmit(byId("upload"), async () => {
    byId("upload-status").textContent = "";
    byId("preview").hidden = true;
    chosen = byId("upload-file").files[0];
    const found = await ask("PUT", "/v1/ratings?preview=true", { body: chosen, type: "application/octet-stream" });
    byId("preview-facts").replaceChildren(tell(found));
    byId("preview").hidden = false;
  });

  privact.onSubmit(byId("preview-keep"), async () => {
    await ask("PUT", "/v1/ratings", { body: chosen, type: "application/octet-stream" });
    byId("preview").hidden = true;
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

  privact.onDesk(({ ratings }) => {
    byId("ratings-none").hidden = ratings !== null;
    byId("ratings-delete").hidden = ratings === null;
    byId("ratings-here").replaceChildren(...(ratings ? [tell(ratings)] : []));
  });
}
