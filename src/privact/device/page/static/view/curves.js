// Two curves: how likely each number is to be sent with a certain contact, and without.

import { makeSvg } from "./elements.js";

const [WIDTH, HEIGHT, BELOW] = [360, 150, 26];
const REACH = 10;

// epsilonReport: of one report. Count 3 stands for "without", count 4 for "with the contact".
export function drawCurves(epsilonReport) {
  const svg = makeSvg("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT + BELOW}`, class: "curves", role: "img", "aria-label": "Two curves that nearly cover each other" });
  const most = Math.tanh(epsilonReport / 2);
  const across = (value) => (WIDTH * (value + REACH - 3)) / (2 * REACH + 1);
  for (const [count, kind] of [[3, "without"], [4, "with"]]) {
    const at = (value) => HEIGHT - 10 - ((HEIGHT - 20) * most * Math.exp(-epsilonReport * Math.abs(value - count))) / most;
    const values = Array.from({ length: 2 * REACH + 2 }, (_, place) => place - REACH + 3);
    svg.append(makeSvg("polyline", { class: kind, points: values.map((value) => `${across(value)},${at(value)}`).join(" ") }));
  }
  svg.append(makeSvg("line", { x1: 0, x2: WIDTH, y1: HEIGHT - 9, y2: HEIGHT - 9, class: "ground" }));
  const label = (x, text, kind, anchor) => {
    const element = makeSvg("text", { x, y: HEIGHT + 14, class: kind, "text-anchor": anchor });
    element.textContent = text;
    svg.append(element);
  };
  label(4, "without the contact", "without", "start");
  label(WIDTH - 4, "with the contact", "with", "end");
  return svg;
}
