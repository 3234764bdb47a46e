// A whole tree inside the page, and the answers of query/explore.py from it: the explorer's source when there is no server.
"use strict";
(function (privact) {
  const STEP = 3;
  const ROWS = 5;
  const MOST_BLOCKS = 300;
  const NAMED = 8;
  const USUAL_CUT = 20;
  const USUAL_SHARE = 40;
  const MENTIONED = 3;

  class EmbeddedTree {
    // left, right: children of internal node n + i, in the canonical numbering of the tree file.
    // users: the id of each leaf, or null. groups: {names, of} with a group number for each leaf (255: none), or null.
    constructor(left, right, users, groups) {
      const n = left.length + 1;
      this.n = n;
      this.left = left;
      this.right = right;
      this.users = users;
      this.groups = groups;
      this.parent = new Int32Array(2 * n - 1).fill(-1);
      this.size = new Int32Array(2 * n - 1).fill(1);
      this.start = new Int32Array(2 * n - 1);
      this.order = new Int32Array(n);
      for (let i = 0; i < n - 1; i++) {
        this.size[n + i] = this.size[left[i]] + this.size[right[i]];
        this.parent[left[i]] = this.parent[right[i]] = n + i;
      }
      for (let i = n - 2; i >= 0; i--) {
        this.start[left[i]] = this.start[n + i];
        this.start[right[i]] = this.start[n + i] + this.size[left[i]];
      }
      for (let leaf = 0; leaf < n; leaf++) this.order[this.start[leaf]] = leaf;
      this.root = 2 * n - 2;
    }

    name(leaf) {
      return this.users === null ? String(leaf) : this.users[leaf];
    }

    leafOf(user) {
      if (this.users === null) {
        const leaf = /^[0-9]+$/.test(user) ? Number(user) : -1;
        if (leaf >= 0 && leaf < this.n) return leaf;
      } else {
        this.leaves ??= new Map(this.users.map((id, leaf) => [id, leaf]));
        if (this.leaves.has(user)) return this.leaves.get(user);
      }
      throw new Error(`There is no user “${user}” in this tree.`);
    }

    some(place, count) {
      return Array.from(this.order.subarray(place, place + count), (leaf) => this.name(leaf));
    }

    pathUp(leaf) {
      const path = [leaf];
      while (this.parent[path[path.length - 1]] >= 0) path.push(this.parent[path[path.length - 1]]);
      return path;
    }

    growing(path, factor) {
      const kept = [path[0]];
      let wanted = Math.ceil(this.size[path[0]] * factor);
      path.slice(1).forEach((node, place) => {
        if (this.size[node] >= wanted || place === path.length - 2) {
          kept.push(node);
          wanted = Math.ceil(this.size[node] * factor);
        }
      });
      return kept;
    }

    rowSizes(size) {
      const sizes = [size];
      while (Math.floor(sizes[sizes.length - 1] / STEP) >= 1) sizes.push(Math.floor(sizes[sizes.length - 1] / STEP));
      if (sizes[sizes.length - 1] > 1) sizes.push(1);
      return sizes.slice(0, ROWS);
    }

    clustersOfRows(top, rows) {
      const last = rows[rows.length - 1];
      const rowOf = (node) => rows.findLastIndex((limit) => this.size[node] <= limit);
      const found = [{ node: top, row: rowOf(top), above: -1 }];
      for (let node = Math.max(this.n, top - this.size[top] + 2); node <= top; node++) {
        if (this.size[node] <= last) continue;
        const above = rowOf(node);
        for (const child of [this.left[node - this.n], this.right[node - this.n]]) {
          const row = rowOf(child);
          if (row > above) found.push({ node: child, row, above });
        }
      }
      return found.sort((a, b) => this.size[b.node] - this.size[a.node] || this.start[a.node] - this.start[b.node]);
    }

    async view(node, highlight) {
      const top = node ?? this.root;
      const size = this.size[top];
      const offset = this.start[top];
      const rows = this.rowSizes(size);
      const clusters = this.clustersOfRows(top, rows);
      const at = highlight === undefined ? -1 : this.start[this.leafOf(highlight)];
      const around = (c) => at >= this.start[c.node] && at < this.start[c.node] + this.size[c.node];
      const drawn = clusters.filter((c, place) => place < MOST_BLOCKS || around(c));
      const leftOver = clusters.filter((c, place) => !(place < MOST_BLOCKS || around(c)));
      const owner = new Int32Array(size).fill(-1);
      const parents = drawn.map((c, number) => {
        const begin = this.start[c.node] - offset;
        const parent = owner[begin];
        owner.fill(number, begin, begin + this.size[c.node]);
        return parent;
      });
      const pooled = drawn.map(() => []);
      for (const c of leftOver) {
        const home = owner[this.start[c.node] - offset];
        if (drawn[home].row === c.above) pooled[home].push(c.node);
      }
      const inside = new Float64Array(drawn.length);
      drawn.forEach((c, number) => {
        if (parents[number] >= 0) inside[parents[number]] += this.size[c.node];
      });
      const next = [];
      const blocks = drawn.map((c, number) => {
        const begin = parents[number] < 0 ? 0 : next[parents[number]];
        if (parents[number] >= 0) next[parents[number]] += this.size[c.node];
        next.push(begin);
        const named = this.some(this.start[c.node], Math.min(NAMED, this.size[c.node]));
        const marked = at >= 0 && around(c);
        const users = marked ? [highlight, ...named.filter((user) => user !== highlight)].slice(0, NAMED) : named;
        const end = begin + this.size[c.node];
        return this.block(c.node, parents[number], this.size[c.node], 1, begin / size, end / size, users, marked);
      });
      drawn.forEach((c, number) => {
        const rest = this.size[c.node] - inside[number];
        if (rest === 0 || rest === this.size[c.node]) return;
        const users = [];
        for (let place = this.start[c.node] - offset; users.length < Math.min(NAMED, rest); place++) {
          if (owner[place] === number) users.push(this.name(this.order[offset + place]));
        }
        const node_ = pooled[number].length === 1 ? pooled[number][0] : c.node;
        const [begin, end] = [next[number] / size, (next[number] + rest) / size];
        blocks.push(this.block(node_, number, rest, pooled[number].length, begin, end, users, false));
      });
      if (this.groups) this.countGroups(blocks, owner, offset);
      const path = this.pathUp(this.order[offset]);
      const out = this.growing(path.slice(path.indexOf(top)), STEP).slice(1).reverse();
      const above = out.map((outer) => ({ node: outer, size: this.size[outer] }));
      return { node: top, size, n_users: this.n, above, blocks, groups: this.groups ? this.groups.names : [] };
    }

    block(node, parent, size, clusters, begin, end, users, highlight) {
      return { node, parent, size, clusters, begin, end, users, highlight };
    }

    countGroups(blocks, owner, offset) {
      const poolOf = new Map(blocks.flatMap((b, number) => (b.clusters !== 1 ? [[b.parent, number]] : [])));
      const counts = blocks.map(() => new Map());
      owner.forEach((number, place) => {
        const group = this.groups.of[this.order[offset + place]];
        const home = counts[poolOf.get(number) ?? number];
        if (group !== 255) home.set(group, (home.get(group) ?? 0) + 1);
      });
      for (let number = blocks.length - 1; number > 0; number--) {
        const outer = counts[blocks[number].parent];
        counts[number].forEach((count, group) => outer.set(group, (outer.get(group) ?? 0) + count));
      }
      blocks.forEach((b, number) => {
        const [group, count] = [...counts[number]].reduce((best, entry) => (entry[1] > best[1] ? entry : best), [-1, 0]);
        if (group >= 0) b.group = { number: group, name: this.groups.names[group], share: count / b.size };
      });
    }

    async members(node, first = 0, limit = 100) {
      const size = this.size[node];
      const users = this.some(this.start[node] + Math.min(first, size), Math.max(0, Math.min(limit, size - first)));
      return { node, size, first, users };
    }

    async search(text, limit = 20) {
      const lower = (word) => word.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
      const wanted = text.trim().replace(/^@+/, "");
      if (!wanted) return { text, users: [] };
      if (this.users === null) {
        const known = /^[0-9]+$/.test(wanted) && Number(wanted) < this.n;
        return { text, users: known ? [String(Number(wanted))] : [] };
      }
      const key = lower(wanted);
      const found = new Set();
      const bare = (id) => lower(id).replace(/^@/, "");
      for (const test of [(id) => bare(id).startsWith(key), (id) => lower(id).includes(key)]) {
        for (let leaf = 0; leaf < this.n && found.size < limit; leaf++) if (test(this.users[leaf])) found.add(this.users[leaf]);
      }
      const very = [...found].filter((id) => bare(id) === key);
      if (!found.has(wanted) && this.users.includes(wanted)) very.unshift(wanted);
      return { text, users: [...new Set([...very, ...found])].slice(0, limit) };
    }

    async rings(user) {
      const leaf = this.leafOf(user);
      const path = this.pathUp(leaf);
      const communities = this.growing(path, 1.1).map((node) => {
        const users = this.some(this.start[node], Math.min(NAMED + 1, this.size[node]));
        return { node, size: this.size[node], users: users.filter((id) => id !== this.name(leaf)).slice(0, NAMED) };
      });
      return { user: this.name(leaf), n_communities: path.length, communities };
    }

    // The smaller side of the largest split at or below each internal node: how much there is to part in a cluster.
    largestSplits() {
      const largest = new Int32Array(2 * this.n - 1);
      this.left.forEach((left, i) => {
        const right = this.right[i];
        largest[this.n + i] = Math.max(Math.min(this.size[left], this.size[right]), largest[left], largest[right]);
      });
      return largest;
    }

    async cut(wanted, least, limit = 100) {
      if (wanted !== undefined && !(wanted >= 1 && wanted <= this.n)) throw new Error(`The tree has ${this.n} users: choose 1 to ${this.n} clusters.`);
      const minSize = least ?? (wanted === undefined ? Math.max(1, Math.floor(this.n / USUAL_SHARE)) : 1);
      const inner = [];
      this.left.forEach((left, i) => Math.min(this.size[left], this.size[this.right[i]]) >= minSize && inner.push(this.n + i));
      const k = wanted ?? Math.min(USUAL_CUT, inner.length + 1);
      if (inner.length < k - 1) throw new Error(`The tree has only ${inner.length + 1} clusters of at least ${minSize} users: ask for fewer.`);
      const largest = this.largestSplits();
      inner.sort((a, b) => largest[b] - largest[a] || this.size[b] - this.size[a] || this.start[a] - this.start[b]);
      const split = inner.slice(0, k - 1);
      const begins = new Uint8Array(this.n + 1);
      split.forEach((node) => (begins[this.start[this.right[node - this.n]]] = 1));
      const sides = k === 1 ? [this.root] : split.flatMap((node) => [this.left[node - this.n], this.right[node - this.n]]);
      const clusters = sides
        .map((node) => ({ place: this.start[node], size: this.size[node] }))
        .filter(({ place, size }) => !begins.subarray(place + 1, place + size).includes(1))
        .sort((a, b) => b.size - a.size || a.place - b.place);
      const kept = clusters.slice(0, limit);
      const total = (list) => list.reduce((sum, cluster) => sum + cluster.size, 0);
      return {
        k,
        min_size: minSize,
        clusters: kept.map((c) => ({ size: c.size, users: this.some(c.place, Math.min(NAMED, c.size)), ...this.groupsAt(c.place, c.size) })),
        left_out: { clusters: k - kept.length, users: total(clusters) - total(kept) },
        in_none: this.n - total(clusters),
        groups: this.groups ? this.groups.names : [],
      };
    }

    // The groups that most users of a stretch of the leaf order are in.
    groupsAt(place, size) {
      if (!this.groups) return {};
      const counts = new Map();
      this.order.subarray(place, place + size).forEach((leaf) => {
        const group = this.groups.of[leaf];
        if (group !== 255) counts.set(group, (counts.get(group) ?? 0) + 1);
      });
      const best = [...counts].sort((a, b) => b[1] - a[1] || a[0] - b[0]).slice(0, MENTIONED);
      return { groups: best.map(([group, count]) => ({ number: group, name: this.groups.names[group], share: count / size })) };
    }

    async compare(a, b) {
      const [one, other] = [this.leafOf(a), this.leafOf(b)];
      const above = new Set(this.pathUp(one));
      const node = this.pathUp(other).find((candidate) => above.has(candidate));
      const size = this.size[node];
      const distance = one === other ? 0 : size;
      return { users: [this.name(one), this.name(other)], node, size, n_users: this.n, distance, share: size / this.n };
    }
  }

  // The tree that a page carries: base64 of gzip of (length of the JSON head, 4 bytes little endian; head; left; right).
  async function unpack(text) {
    const packed = Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
    const bytes = await new Response(stream).arrayBuffer();
    const length = new DataView(bytes).getUint32(0, true);
    const head = JSON.parse(new TextDecoder().decode(new Uint8Array(bytes, 4, length)));
    const arrays = bytes.slice(4 + length);
    const left = new Int32Array(arrays, 0, head.n_users - 1);
    const right = new Int32Array(arrays, 4 * (head.n_users - 1), head.n_users - 1);
    const groups = head.groups ? { names: head.groups.names, of: head.groups.of } : null;
    return { tree: new EmbeddedTree(left, right, head.users, groups), head };
  }

  privact.EmbeddedTree = EmbeddedTree;
  privact.unpack = unpack;
})((window.privact = window.privact || {}));
