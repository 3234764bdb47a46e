// The clusters of a cut as bars: size, labels or some users; ten at first, and a button that opens the rest.
"use strict";
(function (privact) {
  const number = new Intl.NumberFormat("en");
  const FIRST = 10;
  const MENTIONED = 0.15; // smallest share of a label that is named

  // cluster: size, users and, where users have labels, groups, the largest first.
  const makeRow = ({ size, users, groups = [] }, largest, groupCount) => {
    const [row, bar, line, count, text] = ["li", "span", "div", "b", "span"].map((tag) => document.createElement(tag));
    bar.className = "bar";
    bar.style.setProperty("--share", size / largest);
    if (groups[0]?.share < 0.5) bar.classList.add("mixed");
    else if (groups.length) {
      bar.classList.add("coloured");
      bar.style.setProperty("--hue", (255 + (360 * groups[0].number) / groupCount).toFixed(1));
    }
    const labels = groups.filter(({ share }) => share >= MENTIONED).map(({ share, name }) => (share === 1 ? name : `${Math.round(100 * share)}% ${name}`));
    count.textContent = `${number.format(size)} ${size === 1 ? "user" : "users"}`;
    text.className = "quiet";
    text.textContent = ` ${labels.length ? labels.join(", ") : users.slice(0, 3).join(", ") + (size > 3 ? ", …" : "")}`;
    line.append(count, text);
    row.append(bar, line);
    return row;
  };

  // Fill a list with clusters, the largest first. groupCount: how many labels there are, each with a colour.
  privact.listClusters = function (list, clusters, groupCount) {
    const rows = clusters.map((cluster) => makeRow(cluster, clusters[0].size, groupCount));
    const rest = rows.slice(FIRST);
    list.replaceChildren(...rows.slice(0, FIRST));
    if (!rest.length) return;
    const more = document.createElement("button");
    Object.assign(more, { type: "button", textContent: `and ${number.format(rest.length)} more` });
    const last = document.createElement("li");
    last.append(more);
    list.append(last);
    more.onclick = () => last.replaceWith(...rest);
  };
})((window.privact = window.privact || {}));
