// Building and finding elements of the page. Text is only ever set as text: nothing that was received becomes markup.

export const byId = (id) => document.getElementById(id);

export function make(tag, properties = {}, ...children) {
  const { attributes = {}, ...others } = properties;
  const element = Object.assign(document.createElement(tag), others);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

export function makeSvg(tag, attributes = {}, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

export const button = (text, onclick, className = "") => make("button", { type: "button", textContent: text, onclick, className });

export const show = (id, shown) => void (byId(id).hidden = !shown);
