// Search without a web server: browsers start no worker for a page that is a file. Such a page gets one in an iframe.
"use strict";
if (location.protocol === "file:") {
  const script = (url) => `<!doctype html><script>
    addEventListener("message", ({ports: [port]}) => {
      postMessage = (data) => port.postMessage(data);
      port.onmessage = ({data}) => dispatchEvent(new MessageEvent("message", {data}));
      const worker = document.createElement("script");
      worker.src = ${JSON.stringify(url)};
      document.head.append(worker);
      worker.onload = () => port.postMessage("ready");
    }, {once: true});
  <\/script>`;

  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      const {port1, port2} = new MessageChannel();
      this.waiting = [];
      this.port = port1;
      this.port.onmessage = ({data}) => (data === "ready" ? this.begin() : this.dispatchEvent(new MessageEvent("message", {data})));
      const frame = document.createElement("iframe");
      frame.hidden = true;
      frame.srcdoc = script(new URL(url, location).href);
      frame.onload = () => frame.contentWindow.postMessage("", "*", [port2]);
      document.body.append(frame);
    }

    begin() {
      this.waiting.forEach((data) => this.port.postMessage(data));
      this.waiting = null;
    }

    postMessage(data) {
      this.waiting ? this.waiting.push(data) : this.port.postMessage(data);
    }
  };
}
