// Questions before what cannot be undone.
"use strict";
(function (privact) {
  const { make } = privact;

  // Asks before something irreversible; true if the person says yes. risk: a sentence that must be ticked first.
  privact.confirm = function ({ title, sentences, action, keep = "Cancel", risk = "" }) {
    const yes = make("button", { type: "submit", className: risk ? "danger" : "primary", textContent: action, value: "yes", disabled: Boolean(risk) });
    const no = make("button", { type: "submit", textContent: keep, value: "no", autofocus: true });
    const form = make("form", { method: "dialog" }, make("h2", { id: "question", textContent: title }));
    sentences.forEach((sentence) => form.append(make("p", { textContent: sentence })));
    if (risk) {
      const tick = make("input", { type: "checkbox" });
      tick.onchange = () => (yes.disabled = !tick.checked);
      form.append(make("label", { className: "tick" }, tick, ` ${risk}`));
    }
    form.append(make("div", { className: "actions" }, no, yes));
    const dialog = make("dialog", {}, form);
    dialog.setAttribute("aria-labelledby", "question");
    document.body.append(dialog);
    dialog.showModal();
    return new Promise((decided) => {
      dialog.onclose = () => {
        decided(dialog.returnValue === "yes");
        dialog.remove();
      };
    });
  };
})((window.privact = window.privact || {}));
