// Small charts as inline SVG: answers over time, and the evidence of a series.
"use strict";
(function (privact) {
  const WIDTH = window.innerWidth < 640 ? 340 : 980; // text stays readable on a phone
  const HEIGHT = 180;
  const EDGE = { left: 8, right: 8, top: 18, bottom: 22 };
  const day = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short" });
  const hour = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" });

  function create(tag, attributes, text) {
    const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
    Object.entries(attributes).forEach(([key, value]) => element.setAttribute(key, value));
    if (text !== undefined) element.textContent = text;
    return element;
  }

  function frame(label) {
    const svg = create("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, class: "chart", role: "img", "aria-label": label });
    svg.append(create("line", { class: "axis", x1: EDGE.left, x2: WIDTH - EDGE.right, y1: HEIGHT - EDGE.bottom, y2: HEIGHT - EDGE.bottom }));
    return svg;
  }

  const down = (share) => EDGE.top + (1 - share) * (HEIGHT - EDGE.top - EDGE.bottom);
  const along = (share) => EDGE.left + share * (WIDTH - EDGE.left - EDGE.right);

  // Reports so far against time, up to the deadline. answers: of GET .../answers; needed: fewest reports, or 0.
  privact.answersChart = function (round, answers, needed) {
    const { begin, seconds, counts } = answers;
    const total = counts.reduce((sum, count) => sum + count, 0);
    const last = round.closed_at ?? Date.now() / 1000;
    const end = round.closed_at ? Math.max(last, begin + 1) : Math.max(round.closes ?? 0, last, begin + 60);
    const top = Math.max(round.n_users ?? 0, total, 1);
    const time = (at) => along(Math.min(1, (at - begin) / (end - begin)));
    let sum = 0;
    const points = counts.map((count, place) => [time(Math.min(last, begin + (place + 1) * seconds)), down((sum += count) / top)]);
    const line = [[time(begin), down(0)], ...points].map(([x, y]) => `${x.toFixed(1)} ${y.toFixed(1)}`).join(" L ");
    const svg = frame(`${privact.number(total)} of ${privact.number(top)} users answered, from ${privact.when(begin)} to ${privact.when(Math.round(last))}`);
    svg.append(create("path", { class: "area", d: `M ${line} L ${time(last).toFixed(1)} ${down(0)} Z` }), create("path", { class: "sum", d: `M ${line}` }));
    if (needed && needed <= top) {
      const y = down(needed / top);
      svg.append(create("line", { class: "needed", x1: EDGE.left, x2: WIDTH - EDGE.right, y1: y, y2: y }), create("text", { x: WIDTH - EDGE.right - 6, y: y - 5, "text-anchor": "end" }, `${privact.number(needed)} are needed`));
    }
    if (round.closes && !round.closed_at) {
      svg.append(create("line", { class: "mark", x1: time(round.closes), x2: time(round.closes), y1: EDGE.top, y2: HEIGHT - EDGE.bottom }));
    }
    const form = end - begin > 3 * 86400 ? day : hour;
    svg.append(create("text", { x: EDGE.left, y: HEIGHT - 6 }, form.format(1000 * begin)));
    const ends = round.closed_at ? "closed" : round.closes ? "closes" : "now";
    svg.append(create("text", { x: WIDTH - EDGE.right, y: HEIGHT - 6, "text-anchor": "end" }, `${ends} ${ends === "now" ? "" : form.format(1000 * end)}`.trim()));
    svg.append(create("text", { x: WIDTH - EDGE.right, y: 11, "text-anchor": "end" }, `${privact.number(top)} users`));
    return svg;
  };

  // How clearly reports show communities after each round of a series, against what chance reaches.
  privact.evidenceChart = function (series, rounds) {
    const known = rounds.filter((round) => round.evidence);
    const threshold = known.length ? known[0].evidence.threshold : 0;
    const most = 1.15 * Math.max(threshold, ...known.map((round) => round.evidence.figure), 1e-9);
    const place = (number) => along((number - 0.5) / series.rounds);
    const said = known.map((round) => `${round.evidence.figure.toFixed(2)} after round ${round.series.number}`).join(", ");
    const svg = frame(`Evidence of communities: ${said || "none yet"}; chance reaches ${threshold.toFixed(2)}`);
    for (let number = 1; number <= series.rounds; number++) svg.append(create("text", { x: place(number), y: HEIGHT - 6, "text-anchor": "middle" }, `round ${number}`));
    if (known.length) {
      const y = down(threshold / most);
      svg.append(create("line", { class: "needed", x1: EDGE.left, x2: WIDTH - EDGE.right, y1: y, y2: y }), create("text", { x: WIDTH - EDGE.right, y: y - 4, "text-anchor": "end" }, "chance"));
    }
    const points = known.map((round) => [place(round.series.number), down(Math.max(0, round.evidence.figure) / most)]);
    if (points.length > 1) svg.append(create("path", { class: "sum", d: `M ${points.map((point) => point.map((value) => value.toFixed(1)).join(" ")).join(" L ")}` }));
    points.forEach(([x, y], place) => {
      svg.append(create("circle", { class: "dot", cx: x, cy: y, r: 4 }), create("text", { x, y: y - 8, "text-anchor": "middle" }, known[place].evidence.figure.toFixed(1)));
    });
    return svg;
  };
})((window.privact = window.privact || {}));
