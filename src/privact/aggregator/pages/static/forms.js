// Forms that keep their own errors, and questions before what cannot be undone.
"use strict";
(function (privact) {
  const { make } = privact;

  // A place for one error; it stays until it is dismissed, or until the same thing succeeds.
  privact.problem = function () {
    const text = make("span", {});
    const dismiss = make("button", { type: "button", textContent: "Dismiss" });
    const box = make("div", { className: "problem", hidden: true }, text, dismiss);
    box.setAttribute("role", "alert");
    const show = (message) => {
      text.textContent = message;
      box.hidden = !message;
    };
    dismiss.onclick = () => show("");
    return { box, show };
  };

  // Runs work when a form is sent; what goes wrong is said inside the form.
  privact.onSubmit = function (form, work) {
    const { box, show } = privact.problem();
    form.append(box);
    form.onsubmit = async (event) => {
      event.preventDefault();
      const button = form.querySelector("button[type=submit]");
      button.disabled = true;
      try {
        await work();
        show("");
      } catch (error) {
        show(error.message);
      }
      button.disabled = false;
    };
  };

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
