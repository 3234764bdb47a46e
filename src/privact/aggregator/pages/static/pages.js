// What all pages share: asking the server, building elements, showing what went wrong.
"use strict";
(function (privact) {
  const number = new Intl.NumberFormat("en");
  const moment = new Intl.DateTimeFormat(undefined, { dateStyle: "long", timeStyle: "short" });
  const distance = new Intl.RelativeTimeFormat("en", { numeric: "auto" });
  const UNITS = [["day", 86400], ["hour", 3600], ["minute", 60]];

  privact.byId = (id) => document.getElementById(id);
  privact.number = (value) => number.format(value);
  privact.when = (seconds) => (seconds === null ? "" : moment.format(new Date(1000 * seconds)));

  // A time and how far away it is: "31 January 2026 at 12:00 (in 13 days)".
  privact.until = (seconds) => {
    const away = seconds - Date.now() / 1000;
    const [unit, length] = UNITS.find(([, size]) => Math.abs(away) >= size) ?? UNITS[2];
    return `${privact.when(seconds)} (${distance.format(Math.round(away / length), unit)})`;
  };

  // A length of time: "3 days", "90 minutes".
  privact.lasting = (seconds) => {
    const [unit, length] = UNITS.find(([, size]) => seconds >= 2 * size || (seconds >= size && seconds % size === 0)) ?? ["second", 1];
    const many = +(seconds / length).toFixed(1);
    return `${number.format(many)} ${unit}${many === 1 ? "" : "s"}`;
  };

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
    return bytes ? answer : answer.status === 204 ? null : answer.json();
  };

  // Whether the server wants to know who asks.
  privact.isClosed = (error) => [401, 403].includes(error.status);

  // Asks for a round or a series, and says in plain words that there is none, or that it is not for everybody.
  privact.askFor = async function (kind, name, path) {
    try {
      return await privact.ask("GET", path);
    } catch (error) {
      if (privact.isClosed(error)) throw new Refused(error.status, `What came of ${name} is not for everybody: log in first in this tab, under My page or Operator.`);
      if (error.status !== 404) throw error;
      throw new Refused(404, `There is no ${kind} named ${name}, or it is a draft that only operators see. All that were opened are under Rounds.`);
    }
  };

  // Runs what the page does by itself; whatever goes wrong is said in the page, and what was shown stays.
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
    const [form, desk] = [privact.byId("login"), privact.byId("desk")];
    const leave = () => {
      privact.token(null);
      desk.hidden = true;
      form.hidden = false;
      privact.byId("token").focus();
    };
    const open = async (token) => {
      try {
        await check(token);
      } catch (error) {
        if (error.status !== 401) throw error;
        leave();
        throw new Refused(401, "This token is not right.");
      }
      privact.token(token);
      privact.byId("token").value = "";
      form.hidden = true;
      desk.hidden = false;
      await enter();
    };
    const guard = privact.onSubmit(form, () => open(privact.byId("token").value.trim()));
    privact.byId("logout").onclick = leave;
    const goOn = async () => {
      const entered = open(privact.token());
      await entered.catch((error) => (error.status === 401 ? guard(() => entered) : entered));
    };
    if (privact.token()) privact.attempt(goOn);
    else form.hidden = false;
  };

  privact.facts = function (pairs) {
    const list = privact.make("dl", { className: "facts" });
    pairs.forEach(([term, value]) => value !== "" && list.append(privact.make("dt", { textContent: term }), privact.make("dd", {}, value)));
    return list;
  };

  // Calls work now and every few seconds while the page is seen; not again by itself once there is nothing at the address.
  privact.live = function (work, seconds = 2) {
    let missing = false;
    const look = async () => {
      try {
        await work();
        missing = false;
      } catch (error) {
        missing = error.status === 404;
        throw error;
      }
    };
    const tick = () => document.visibilityState === "visible" && !missing && privact.attempt(look);
    tick();
    return setInterval(tick, 1000 * seconds);
  };

  document.querySelectorAll(".site nav a").forEach((link) => link.pathname === location.pathname && link.setAttribute("aria-current", "page"));
})((window.privact = window.privact || {}));
