// Take the invitation out of the address at once, before anything else is loaded: it is a secret, and addresses are remembered.
// It stays in this tab until the person has joined.
"use strict";
{
  const take = () => {
    if (location.hash.length < 34) return;
    const invitation = location.hash.slice(1);
    history.replaceState(null, "", location.pathname + location.search); // first, whatever becomes of the rest
    sessionStorage.setItem("privact invitation", invitation);
  };
  take();
  addEventListener("hashchange", () => {
    take();
    if (sessionStorage.getItem("privact invitation")) location.reload();
  });
}
