// What the parts of the operator's desk share: what is known now, and who wants to know when it changes.
"use strict";
(function (privact) {
  const listeners = [];
  // enrolled: how many users; minimum: fewest of a round; rounds, series: newest first; ratings: what is here, or null.
  privact.desk = { enrolled: 0, minimum: 0, rounds: [], series: [], ratings: null };

  privact.onDesk = (listener) => listeners.push(listener);

  const orNothing = async (path, field) => {
    try {
      const found = await privact.ask("GET", path);
      return field ? found[field] : found;
    } catch (error) {
      if (![404, 409].includes(error.status)) throw error;
      return field ? [] : null;
    }
  };

  let shown = "";
  privact.refreshDesk = async () => {
    if (!privact.token()) return;
    const desk = privact.desk;
    desk.rounds = (await privact.ask("GET", "/v1/rounds")).rounds;
    desk.enrolled = (await privact.ask("GET", "/v1/users?limit=1")).total;
    desk.minimum = (await privact.ask("GET", "/v1")).minimum_users;
    desk.series = await orNothing("/v1/series", "series");
    desk.ratings = await orNothing("/v1/ratings");
    const now = JSON.stringify(desk);
    if (now === shown) return; // what has focus keeps it
    shown = now;
    listeners.forEach((listener) => listener(desk));
  };
  privact.forgetDesk = () => (shown = "");
})((window.privact = window.privact || {}));
