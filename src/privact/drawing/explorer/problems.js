// What went wrong with a form, beside it; it stays until it is dismissed, or until the same thing succeeds.
"use strict";
(function (privact) {
  // A place for one error.
  privact.problem = function () {
    const box = document.createElement("div");
    const text = document.createElement("span");
    const dismiss = document.createElement("button");
    Object.assign(dismiss, { type: "button", textContent: "Dismiss" });
    box.className = "problem";
    box.hidden = true;
    box.setAttribute("role", "alert");
    box.append(text, dismiss);
    const show = (message) => {
      text.textContent = message;
      box.hidden = !message;
    };
    dismiss.onclick = () => show("");
    return { box, show };
  };

  // Runs work that belongs to an element, and says inside the element what goes wrong.
  privact.guard = function (element) {
    const { box, show } = privact.problem();
    element.append(box);
    return async (work) => {
      try {
        await work();
        show("");
      } catch (error) {
        show(error.message);
      }
    };
  };

  // What the browser refuses in a form, in words. Its own bubbles vanish, and it is silent about what is folded away.
  privact.requireValid = function (form) {
    const wrong = [...form.elements].find((field) => field.willValidate && !field.checkValidity());
    if (!wrong) return;
    for (let folded = wrong.closest("details"); folded; folded = folded.parentElement.closest("details")) folded.open = true;
    wrong.focus();
    const name = wrong.labels?.[0]?.firstChild.textContent.trim() ?? "";
    throw new Error(`${name}: ${(wrong.validity.patternMismatch && wrong.title) || wrong.validationMessage}`);
  };

  // Runs work when a form is sent; what goes wrong is said inside the form. Gives the guard of the form, for its other buttons.
  privact.onSubmit = function (form, work) {
    const guard = privact.guard(form);
    form.noValidate = true;
    form.onsubmit = async (event) => {
      event.preventDefault();
      const button = form.querySelector("button[type=submit]");
      if (button) button.disabled = true;
      await guard(async () => {
        privact.requireValid(form);
        await work();
      });
      if (button) button.disabled = false;
    };
    return guard;
  };
})((window.privact = window.privact || {}));
