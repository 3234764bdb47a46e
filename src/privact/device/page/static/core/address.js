// The address of an aggregator: any spelling of a URL -> the one that is used, and the name under which its budget is kept.

import { InputError } from "./errors.js";

const LOOPBACK = /^(localhost|127(\.\d+){3}|\[::1\])$/;

// url: where it is, without a slash at the end. key: host, port and path: what a budget belongs to. loopback: whether it is this machine.
export function aggregatorAddress(written) {
  const text = written.trim();
  let url;
  try {
    url = new URL(text.includes("://") ? text : `https://${text}`);
  } catch {
    throw new InputError("this is not an address: it looks like https://clusters.example");
  }
  if (!["https:", "http:"].includes(url.protocol) || url.username || url.password || url.search || url.hash) {
    throw new InputError("this is not the address of an aggregator: it looks like https://clusters.example");
  }
  const loopback = LOOPBACK.test(url.hostname);
  if (url.protocol === "http:" && !loopback) {
    throw new InputError("this address begins with http://, so anyone on the way could read along: ask for one with https://");
  }
  const path = url.pathname.replace(/\/+$/, "");
  const host = url.host.replace(/\.(?=:|$)/, "");
  return Object.freeze({ url: `${url.protocol}//${host}${path}`, key: `${host}${path}`, loopback });
}
