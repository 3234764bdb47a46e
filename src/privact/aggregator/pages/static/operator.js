// The operator's desk: logging in, its parts, and what is new every two seconds.
"use strict";
{
  const { ask, byId } = privact;
  const tabs = ["start", "rounds", "users", "ratings"];

  const showTab = () => {
    const wanted = tabs.includes(location.hash.slice(1)) ? location.hash.slice(1) : "start";
    tabs.forEach((tab) => (byId(`tab-${tab}`).hidden = tab !== wanted));
    document.querySelectorAll(".tabs a").forEach((link) => (link.hash === `#${wanted}` ? link.setAttribute("aria-current", "page") : link.removeAttribute("aria-current")));
  };
  window.addEventListener("hashchange", showTab);
  showTab();

  let timer = null;
  privact.login("privact-operator", (token) => ask("GET", "/v1/users?limit=1", { token }), async () => {
    clearInterval(timer);
    privact.forgetDesk();
    timer = privact.live(privact.refreshDesk);
  });
}
