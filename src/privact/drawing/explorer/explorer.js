// The explorer of a tree: a zoomable picture of the hierarchy, and what one can ask about users and cuts.
// It draws what a source answers (see query/explore.py); the source is a server or the tree inside the page.
"use strict";
(function (privact) {
  const number = new Intl.NumberFormat("en");
  const percent = new Intl.NumberFormat("en", { style: "percent", maximumSignificantDigits: 2 });
  const byId = (id) => document.getElementById(id);
  const users = (count) => `${number.format(count)} ${count === 1 ? "user" : "users"}`;

  function make(tag, properties, ...children) {
    const element = Object.assign(document.createElement(tag), properties);
    element.append(...children);
    return element;
  }

  // Runs what a person asked for; whatever goes wrong is said in the page, and the picture stays as it was.
  async function attempt(work) {
    try {
      await work();
      byId("trouble").hidden = true;
    } catch (error) {
      byId("trouble-text").textContent = error.message;
      byId("trouble").hidden = false;
      byId("trouble-again").onclick = () => attempt(work);
    }
  }

  // A button that shows what was left out, or nothing if nothing was.
  function offerMore(button, count, work) {
    button.hidden = count <= 0;
    button.textContent = `and ${number.format(count)} more`;
    button.onclick = () => attempt(work);
  }

  // The users of a cluster that are not listed yet, a hundred at a time. left: a user who is not listed.
  function offerRest(source, node, size, first, list, button, left) {
    offerMore(button, size - first, async () => {
      const offered = button.onclick;
      const { users: names } = await source.members(node, first, 100);
      if (button.onclick !== offered) return; // another cluster is listed meanwhile
      list.append(...names.filter((name) => name !== left).map((name) => userButton(name)));
      offerRest(source, node, size, first + names.length, list, button, left);
    });
  }

  // What colours mean.
  function drawLegend(groups) {
    const entries = groups.map((name, place) => {
      const swatch = make("i", {});
      swatch.style.setProperty("--hue", (255 + (360 * place) / groups.length).toFixed(1));
      return make("li", {}, swatch, name);
    });
    if (groups.length) entries.push(make("li", {}, make("i", { className: "mixed" }), "mixed or none"));
    else entries.push(make("li", {}, make("i", { className: "places" }), "Colours only tell neighbours apart: close hues are close in the tree."));
    byId("legend").replaceChildren(...entries);
  }

  class Picture {
    constructor(source) {
      this.source = source;
      this.box = byId("picture");
      this.shown = null;
      this.tiles = new Map();
      this.box.addEventListener("keydown", (event) => this.onKey(event));
      new ResizeObserver(() => this.shown && this.draw()).observe(this.box);
    }

    async show(node, highlight) {
      this.shown = await this.source.view(node, highlight);
      this.highlight = highlight;
      byId("cut-least").max = this.shown.n_users;
      byId("cut-k").max = Math.min(this.shown.n_users, this.source.mostClusters ?? this.shown.n_users);
      drawLegend(this.shown.groups);
      this.draw();
      this.drawWay();
    }

    // A block's key is its node; a pool shares its node with the block around it.
    key(block) {
      return block.clusters === 1 ? `n${block.node}` : `p${block.node}`;
    }

    draw() {
      const { blocks } = this.shown;
      const root = d3.stratify().id((block) => blocks.indexOf(block)).parentId((block) => (block.parent < 0 ? null : block.parent))(blocks);
      const inside = new Array(blocks.length).fill(0);
      blocks.forEach((block) => block.parent >= 0 && (inside[block.parent] += block.size));
      root.sum((block) => block.size - inside[blocks.indexOf(block)]).sort((a, b) => a.data.begin - b.data.begin);
      d3.partition()(root);
      // The outermost box says where one is; the boxes inside it need the room.
      const rows = root.height ? root.height + 0.5 : 1;
      const top = (depth) => (depth === 0 ? 0 : (depth - 0.5) / rows);
      const kept = new Map();
      this.order = [];
      root.eachBefore((item) => {
        const key = this.key(item.data);
        const tile = this.tiles.get(key) ?? this.makeTile();
        this.fill(tile, item);
        Object.assign(tile.style, {
          left: `${100 * item.x0}%`,
          width: `${100 * (item.x1 - item.x0)}%`,
          top: `${100 * top(item.depth)}%`,
          height: `${100 * (item.depth === 0 && root.height ? 0.5 / rows : 1 / rows)}%`,
        });
        kept.set(key, tile);
        this.order.push({ tile, item });
      });
      this.tiles.forEach((tile, key) => kept.has(key) || tile.remove());
      this.tiles = kept;
      const focused = this.order.some(({ tile }) => tile === document.activeElement);
      if (!focused) this.order.forEach(({ tile }, place) => (tile.tabIndex = place === 0 ? 0 : -1));
      this.order.forEach(({ tile, item }) => {
        const width = (item.x1 - item.x0) * this.box.clientWidth;
        const needed = item.data.size === 1 ? 34 : 18 + 9 * tile.firstChild.textContent.length; // a size that is cut off would be another size
        tile.classList.toggle("narrow", width < needed);
        tile.classList.toggle("unnamed", width < 60);
        tile.classList.toggle("sliver", width < 6);
      });
      const pools = blocks.filter((block) => block.clusters !== 1).length;
      this.box.setAttribute("aria-label", `${users(this.shown.size)} in ${number.format(blocks.length - pools)} clusters`);
    }

    makeTile() {
      const tile = make("div", { className: "tile", tabIndex: -1 }, make("span", {}), make("span", { className: "name" }));
      tile.setAttribute("role", "treeitem");
      this.box.append(tile);
      return tile;
    }

    fill(tile, item) {
      const block = item.data;
      const [size, name] = this.label(block);
      tile.firstChild.textContent = size;
      tile.lastChild.textContent = name;
      tile.title = this.details(block);
      tile.setAttribute("aria-level", item.depth + 1);
      tile.setAttribute("aria-label", `${`${size} ${name}`.trim()}, ${percent.format(block.size / this.shown.n_users)} of all`);
      tile.classList.toggle("pool", block.clusters !== 1);
      tile.classList.toggle("around", block.highlight && item.depth > 0);
      tile.classList.toggle("outermost", item.depth === 0);
      const grouped = this.shown.groups.length > 0;
      const hue = block.group ? 255 + (360 * block.group.number) / this.shown.groups.length : 255 - 300 * ((block.begin + block.end) / 2);
      tile.style.setProperty("--hue", hue.toFixed(1));
      tile.style.setProperty("--purity", block.group ? block.group.share.toFixed(2) : block.clusters === 1 && !grouped ? "1" : "0");
      tile.onclick = () => this.open(block);
    }

    // What a box says in two lines: how many, and who most of them are.
    label(block) {
      const size = number.format(block.size);
      if (block.clusters > 1) return [size, `in ${number.format(block.clusters)} small clusters`];
      if (block.size === 1) return [block.users[0], ""];
      if (block.parent < 0 && block.size === this.shown.n_users) return [`everybody: ${users(block.size)}`, ""];
      return [size, block.group && block.group.share >= 0.5 ? block.group.name : ""];
    }

    details(block) {
      const more = block.size - block.users.length;
      const names = block.users.join(", ") + (more > 0 ? ` and ${number.format(more)} more` : "");
      const group = block.group ? `${percent.format(block.group.share)} ${block.group.name}\n` : "";
      return `${users(block.size)}\n${group}${names}`;
    }

    open(block) {
      attempt(async () => {
        if (block.clusters > 1) await this.list(block);
        else if (block.size === 1) await privact.person.show(block.users[0]);
        else if (block.node === this.shown.node) await this.out();
        else {
          await this.show(block.node, this.highlight);
          this.tiles.get(`n${block.node}`)?.focus();
          await this.list(block);
        }
      });
    }

    async list(block) {
      const pool = block.clusters > 1;
      const { users: names, size } = pool ? block : await this.source.members(block.node);
      byId("cluster-heading").textContent = users(size) + (pool ? ` in ${number.format(block.clusters)} small clusters` : "");
      byId("cluster-users").replaceChildren(...names.map((name) => userButton(name)));
      // A pool is no cluster of its own: what opens is the cluster around it.
      if (pool) offerMore(byId("cluster-more"), size - names.length, async () => this.list({ ...(await this.source.members(block.node)), clusters: 1 }));
      else offerRest(this.source, block.node, size, names.length, byId("cluster-users"), byId("cluster-more"));
      byId("cluster").hidden = false;
    }

    async out() {
      const way = this.shown.above;
      if (way.length) await this.show(way[way.length - 1].node, this.highlight);
    }

    drawWay() {
      const steps = this.shown.above.map((step) => {
        const text = step.size === this.shown.n_users ? "everybody" : users(step.size);
        const button = make("button", { type: "button", textContent: text });
        button.onclick = () => attempt(() => this.show(step.node, this.highlight));
        return make("li", {}, button);
      });
      const here = this.shown.above.length ? users(this.shown.size) : `everybody: ${users(this.shown.size)}`;
      const last = make("li", { textContent: here });
      last.setAttribute("aria-current", "true");
      byId("way").replaceChildren(...steps, last);
    }

    onKey(event) {
      const place = this.order.findIndex(({ tile }) => tile === document.activeElement);
      if (place < 0) return;
      const { item, tile } = this.order[place];
      const beside = (step) => {
        const row = item.parent ? item.parent.children : [item];
        return row[row.indexOf(item) + step];
      };
      const to = { ArrowDown: item.children?.[0], ArrowUp: item.parent, ArrowLeft: beside(-1), ArrowRight: beside(1), Home: this.order[0].item }[event.key];
      if (to) {
        const target = this.order.find((entry) => entry.item === to).tile;
        tile.tabIndex = -1;
        target.tabIndex = 0;
        target.focus();
      } else if (event.key === "Enter" || event.key === " ") tile.click();
      else if (event.key === "Escape") attempt(() => this.out());
      else return;
      event.preventDefault();
    }
  }

  function userButton(name) {
    const late = privact.source.joinedLate?.(name);
    const button = make("button", { type: "button", className: "user", textContent: late ? `◦ ${name}` : name });
    if (late) button.title = "joined late: placed in the tree after its release";
    button.onclick = () => attempt(() => privact.person.show(name));
    return button;
  }

  // A user's close communities: rings of growing size, one of them chosen by the slider.
  class Person {
    constructor(source, picture) {
      Object.assign(this, { source, picture });
      byId("granularity").oninput = () => attempt(() => this.choose(Number(byId("granularity").value)));
      byId("zoom-here").onclick = () => attempt(() => this.picture.show(this.chosen.node, this.user));
    }

    async show(name) {
      const { user, communities } = await this.source.rings(name);
      Object.assign(this, { user, communities });
      byId("person").hidden = false;
      byId("person-name").textContent = user;
      const slider = byId("granularity");
      slider.max = communities.length - 1;
      const usual = communities.findIndex(({ size }) => size >= 10);
      slider.value = usual < 0 ? communities.length - 1 : usual;
      await this.choose(Number(slider.value));
      await this.picture.show(undefined, user);
    }

    async choose(place) {
      this.chosen = this.communities[place];
      const { node, size } = this.chosen;
      byId("granularity-text").textContent = users(size);
      byId("granularity").setAttribute("aria-valuetext", users(size));
      const { users: names } = await this.source.members(node, 0, 60);
      const others = names.filter((name) => name !== this.user);
      byId("person-users").replaceChildren(...others.map((name) => userButton(name)));
      const more = size - 1 - others.length;
      offerRest(this.source, node, size, names.length, byId("person-users"), byId("person-more"), this.user);
      if (!others.length && !more) byId("person-users").replaceChildren("nobody else");
      this.drawRings(place);
    }

    drawRings(place) {
      const svg = byId("rings");
      const create = (tag, attributes) => {
        const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
        Object.entries(attributes).forEach(([key, value]) => element.setAttribute(key, value));
        return element;
      };
      const largest = Math.log(this.communities[this.communities.length - 1].size + 1);
      const radius = (size) => 6 + 92 * (Math.log(size) / largest);
      const step = Math.max(1, Math.ceil(this.communities.length / 14));
      const shown = this.communities.filter((_, at) => at % step === 0 || at === place || at === this.communities.length - 1);
      const circles = shown.map((community) =>
        create("circle", { cx: 100, cy: 100, r: radius(community.size).toFixed(1), class: community === this.chosen ? "ring chosen" : "ring" }),
      );
      svg.replaceChildren(...circles.reverse(), create("circle", { cx: 100, cy: 100, r: 3.5, class: "me" }));
      svg.setAttribute("aria-label", `${this.user} inside communities of ${shown.map(({ size }) => size).join(", ")} users`);
    }
  }

  function wireSearch(source) {
    const [form, box, list] = [byId("search"), byId("search-text"), byId("search-results")];
    let asked = 0;
    const look = async () => {
      const mine = ++asked;
      const { users: names } = await source.search(box.value);
      if (mine !== asked) return;
      list.replaceChildren(...names.map((name) => make("li", {}, userButton(name))));
      const nothing = box.value.trim() && !names.length;
      byId("search-status").textContent = nothing ? `No user’s name holds “${box.value.trim()}”.` : "";
      return names;
    };
    const guard = privact.onSubmit(form, async () => {
      const names = await look();
      if (!names?.length) return;
      await privact.person.show(names[0]);
      list.replaceChildren();
    });
    box.oninput = () => guard(look);
    list.onclick = () => list.replaceChildren();
  }

  function wireCut(source, picture) {
    const asked = (id) => (byId(id).value ? Number(byId(id).value) : undefined);
    privact.onSubmit(byId("cut"), async () => {
      const { k, clusters, left_out: rest, in_none: none } = await source.cut(asked("cut-k"), asked("cut-least"));
      privact.listClusters(byId("cut-clusters"), clusters, picture.shown.groups.length);
      const left = rest.clusters ? `And ${number.format(rest.clusters)} smaller ones with ${users(rest.users)} together. ` : "";
      const one = k === 1 && asked("cut-k") === undefined ? "No two clusters have a usual size: everybody is in one. " : "";
      byId("cut-rest").textContent = one + left + (none ? `${users(none)} between them ${none === 1 ? "is" : "are"} in no cluster.` : "");
    });
  }

  function wireCompare(source) {
    privact.onSubmit(byId("compare"), async () => {
      byId("compare-answer").textContent = "";
      const found = await source.compare(byId("compare-a").value.trim(), byId("compare-b").value.trim());
      const [a, b] = found.users;
      const together = `The smallest community that holds both ${a} and ${b} has ${users(found.size)}, ${percent.format(found.share)} of all.`;
      byId("compare-answer").textContent = found.distance ? together : `${a} and ${b} are the same user.`;
    });
  }

  privact.explore = function (source) {
    privact.source = source;
    byId("explorer").hidden = false;
    const picture = new Picture(source);
    privact.person = new Person(source, picture);
    wireSearch(source);
    wireCut(source, picture);
    wireCompare(source);
    attempt(async () => {
      await picture.show(undefined, undefined);
    });
  };
})((window.privact = window.privact || {}));
