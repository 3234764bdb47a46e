// What all pages share: asking the server, building elements, showing what went wrong.
"use strict";
(function (privact) {
  const number = new Intl.NumberFormat("en");
  const moment = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });

  privact.byId = (id) => document.getElementById(id);
  privact.number = (value) => number.format(value);
  privact.when = (seconds) => (seconds === null ? "" : moment.format(new Date(1000 * seconds)));

  privact.make = function (tag, properties, ...children) {
    const element = Object.assign(document.createElement(tag), properties);
    element.append(...children);
    return element;
  };

  class Refused extends Error {
    constructor(status, message) {
      super(message);
      this.status = status;
    }
  }

  // The token of this tab; operators and users have different ones.
  privact.tokenKey = null;
  privact.token = (value) => {
    if (value === null) sessionStorage.removeItem(privact.tokenKey);
    else if (value !== undefined) sessionStorage.setItem(privact.tokenKey, value);
    return privact.tokenKey === null ? null : sessionStorage.getItem(privact.tokenKey);
  };

  privact.ask = async function (method, path, { body, type, bytes, token } = {}) {
    const headers = {};
    const shown = token ?? privact.token();
    if (shown) headers.Authorization = `Bearer ${shown}`;
    if (body !== undefined) headers["Content-Type"] = type ?? "application/json";
    let answer;
    try {
      answer = await fetch(path, { method, headers, body: body !== undefined && !type ? JSON.stringify(body) : body });
    } catch {
      throw new Refused(0, "The server does not answer.");
    }
    if (!answer.ok) {
      const said = await answer.json().catch(() => ({ error: `The server answered ${answer.status}.` }));
      throw new Refused(answer.status, said.error);
    }
    return bytes ? answer : answer.json();
  };

  // Runs what a person asked for; whatever goes wrong is said in the page, and what was shown stays.
  privact.attempt = async function (work) {
    try {
      await work();
      privact.byId("trouble").hidden = true;
    } catch (error) {
      privact.byId("trouble-text").textContent = error.message;
      privact.byId("trouble").hidden = false;
      privact.byId("trouble-again").onclick = () => privact.attempt(work);
    }
  };

  // Asks for a token until one is right, then shows the desk. check(token) throws with status 401 for a wrong one.
  privact.login = function (key, check, enter) {
    privact.tokenKey = key;
    const [form, desk, status] = [privact.byId("login"), privact.byId("desk"), privact.byId("login-status")];
    const leave = (message) => {
      privact.token(null);
      desk.hidden = true;
      form.hidden = false;
      status.textContent = message;
      privact.byId("token").focus();
    };
    const open = async (token) => {
      try {
        await check(token);
      } catch (error) {
        if (error.status !== 401) throw error;
        leave("This token is not right.");
        return;
      }
      privact.token(token);
      status.textContent = "";
      privact.byId("token").value = "";
      form.hidden = true;
      desk.hidden = false;
      await enter();
    };
    form.onsubmit = (event) => {
      event.preventDefault();
      privact.attempt(() => open(privact.byId("token").value.trim()));
    };
    privact.byId("logout").onclick = () => leave("");
    if (privact.token()) privact.attempt(() => open(privact.token()));
    else form.hidden = false;
  };

  privact.facts = function (pairs) {
    const list = privact.make("dl", { className: "facts" });
    pairs.forEach(([term, value]) => value !== "" && list.append(privact.make("dt", { textContent: term }), privact.make("dd", {}, value)));
    return list;
  };

  // One round as a card; more: elements to put at its end.
  privact.roundCard = function (round, { heading = "h2", link = true, actions = [] } = {}) {
    const { make } = privact;
    const name = link && round.state !== "draft" ? make("a", { href: `/rounds/${round.id}`, textContent: round.id }) : round.id;
    const card = make("li", { className: "card" }, make(heading, {}, name), make("span", { className: `state ${round.state}`, textContent: round.state }));
    const answered = round.n_users ? `${privact.number(round.reports)} of ${privact.number(round.n_users)} users` : "";
    card.append(
      privact.facts([
        ["answered", answered],
        ["joined late", round.joiners ? privact.number(round.joiners) : ""],
        ["epsilon", `${round.epsilon} per contact`],
        ["bins", round.bins === "labels" ? `${round.n_bins ?? ""} public labels` : `${round.n_bins ?? ""} random`],
        ["opened", privact.when(round.opened_at)],
        ["closes", round.state === "open" ? (round.closes === null ? "when the operator closes it" : privact.when(round.closes)) : ""],
        ["released", privact.when(round.released_at)],
      ]),
    );
    if (round.state === "open" && round.n_users) {
      const bar = make("progress", { max: round.n_users, value: round.reports });
      bar.setAttribute("aria-label", `Reports: ${answered}`);
      card.append(bar);
    }
    if (round.progress) {
      const { stage, done, total } = round.progress;
      const bar = total ? make("progress", { max: total, value: done }) : make("progress", {});
      bar.setAttribute("aria-label", `Learning: ${stage}`);
      card.append(make("p", { className: "quiet", textContent: `Learning: ${stage}${total ? `, ${privact.number(done)} of ${privact.number(total)}` : ""}` }), bar);
    }
    if (round.failure) card.append(make("p", { textContent: round.failure }));
    if (round.privacy) card.append(make("p", { className: "sentence", textContent: round.privacy }));
    if (actions.length) card.append(make("div", { className: "actions" }, ...actions));
    return card;
  };

  privact.treeLinks = (round) => {
    if (round.state !== "released") return [];
    const files = ["hct", "newick", "json", "linkage"].map((format) =>
      privact.make("a", { href: `/v1/rounds/${round.id}/tree/download?format=${format}`, textContent: format, download: "" }),
    );
    const row = privact.make("span", {}, "Download: ");
    files.forEach((file, place) => row.append(place ? " · " : "", file));
    return [privact.make("a", { href: `/rounds/${round.id}/tree`, textContent: "Explore the tree" }), row];
  };

  // Calls work now and every few seconds while the page is seen.
  privact.live = function (work, seconds = 2) {
    const tick = () => document.visibilityState === "visible" && privact.attempt(work);
    tick();
    return setInterval(tick, 1000 * seconds);
  };

  document.querySelectorAll(".site nav a").forEach((link) => link.pathname === location.pathname && link.setAttribute("aria-current", "page"));
})((window.privact = window.privact || {}));
