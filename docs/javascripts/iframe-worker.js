// A stand-in for Worker on pages opened from files, where browsers start no workers: the script runs in a hidden frame.
// The search of the site needs it, and its theme would fetch one from another host.
"use strict";

if (location.protocol === "file:") {
  window.IFrameWorker = class extends EventTarget {
    constructor(address) {
      super();
      this.onmessage = null;
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.append(frame);
      this.inner = frame.contentWindow;
      this.ready = new Promise((resolve) => {
        this.inner.startedForSearch = resolve;
      });
      this.inner.answerFromSearch = (data) => {
        const event = new MessageEvent("message", { data });
        this.dispatchEvent(event);
        if (this.onmessage) this.onmessage(event);
      };
      const page = this.inner.document;
      page.open();
      page.write(
        "<script>postMessage = answerFromSearch;" +
          "importScripts = (...all) => all.reduce((before, address) => before.then(() => new Promise((resolve) => {" +
          'const script = document.createElement("script"); script.src = address; script.onload = resolve;' +
          "document.head.append(script); })), Promise.resolve());</" +
          `script><script src="${address}" onload="startedForSearch()"></` +
          "script>",
      );
      page.close();
    }

    postMessage(data) {
      this.ready.then(() => this.inner.dispatchEvent(new MessageEvent("message", { data })));
    }

    terminate() {}
  };
  window.Worker = window.IFrameWorker;
}
