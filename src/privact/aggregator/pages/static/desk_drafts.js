// New rounds and series at the operator's desk: drafts, which cost nobody anything.
"use strict";
{
  const { ask, byId } = privact;

  // Shows the fields of the chosen kind of bins; prefix: "new" for a round, "series" for a series.
  const chooseKind = (form, prefix) => {
    const kind = byId(`${prefix}-kind`).value;
    form.querySelectorAll("[data-kind]").forEach((label) => (label.hidden = label.control.disabled = label.dataset.kind !== kind));
    byId(`${prefix}-labels`).required = kind === "labels";
  };

  const readLabels = async (prefix) => {
    const kind = byId(`${prefix}-kind`).value;
    if (kind === "random") return null;
    if (kind === "labels") return byId(`${prefix}-labels`).files[0].text();
    return (await ask("GET", `/v1/ratings/labels?groups=${byId(`${prefix}-groups`).value}`, { bytes: true })).text();
  };

  const numberIn = (id) => (byId(id).value === "" ? null : Number(byId(id).value));
  const momentIn = (id) => (byId(id).value === "" ? null : Math.floor(new Date(byId(id).value).getTime() / 1000));

  // What rounds and series have in common.
  const readShared = (prefix) => {
    const random = byId(`${prefix}-kind`).value === "random";
    return {
      epsilon: numberIn(`${prefix}-epsilon`),
      n_bins: random ? numberIn(`${prefix}-bins`) : null,
      bins: random ? "random" : "labels",
      joiner_seconds: 86400 * (numberIn(`${prefix}-joiners`) ?? 0),
      visibility: byId(`${prefix}-visibility`).value,
      search_seed: numberIn(`${prefix}-seed`) ?? 0,
    };
  };

  // path: of rounds or of series; field: what holds the name; read: the rest of the wish.
  const makeForm = (form, prefix, path, field, read) => {
    byId(`${prefix}-kind`).onchange = () => chooseKind(form, prefix);
    chooseKind(form, prefix);
    privact.onSubmit(form, async () => {
      byId(`${prefix}-status`).textContent = "";
      const labels = await readLabels(prefix); // before the draft: what cannot be read makes none
      const wish = { ...readShared(prefix), ...read() };
      const name = wish[field];
      await ask("POST", path, { body: wish });
      try {
        if (labels !== null) await ask("PUT", `${path}/${name}/labels`, { body: labels, type: "text/csv" });
      } catch (error) {
        await ask("DELETE", `/v1/rounds/${field === "name" ? `${name}.1` : name}`); // a draft without labels is of no use
        throw error;
      }
      byId(`${prefix}-status`).textContent = `The draft ${name} is above: open it when its users are enrolled.`;
      form.reset();
      chooseKind(form, prefix);
      await privact.refreshDesk();
    });
  };

  makeForm(byId("new-round"), "new", "/v1/rounds", "id", () => ({
    id: byId("new-id").value,
    opens: momentIn("new-opens"),
    closes: momentIn("new-closes"),
    profile: byId("new-profile").value,
  }));
  makeForm(byId("new-series"), "series", "/v1/series", "name", () => ({
    name: byId("series-name").value,
    rounds: numberIn("series-rounds"),
    every_seconds: Math.max(1, Math.round(3600 * numberIn("series-hours"))),
  }));
}
