// What comes back from a round that is over: the person's close community at a size they choose, and what suits them.

import { make } from "./elements.js";
import { number } from "./words.js";

const SIZES = [5, 10, 20, 50, 100, 200];
const FIRST = 2;
const ONE_ROUND = "One round like this sees how many people everybody knows, not whom: the circle holds people who know about as many as you.";

export class ResultCard {
  // session: account and client. notice: a released round that this person answered. discoverable: whether others may be told about them.
  constructor(session, notice, discoverable) {
    Object.assign(this, { session, notice, discoverable });
    this.seen = make("p", { className: "quiet" });
    this.people = make("ul", { tabIndex: 0, attributes: { "aria-label": "People closest to you" } });
    this.told = make("p", { attributes: { role: "status" } });
    this.liked = make("div");
    this.known = make("div");
    const slider = make("input", { type: "range", id: `size-${notice.id}`, min: 0, max: SIZES.length - 1, step: 1, value: FIRST });
    slider.setAttribute("aria-valuetext", `about ${SIZES[FIRST]} people`);
    slider.oninput = () => {
      slider.setAttribute("aria-valuetext", `about ${SIZES[slider.value]} people`);
      this.#show(SIZES[slider.value]);
    };
    this.element = make(
      "section",
      { className: "card result", id: `result-${notice.id}`, attributes: { "aria-label": `Your community in round ${notice.id}` } },
      make("h2", { textContent: "Your community" }),
      make("p", { className: "quiet", textContent: `Round ${notice.id} is over. These people are closest to you, as far as everybody's blurred numbers can tell. Nobody's contacts were seen.` }),
      this.seen,
      make("label", { htmlFor: slider.id, textContent: "From a small circle to a large one" }),
      slider,
      this.told,
      make("div", { className: "list" }, this.people),
      this.known,
      this.liked,
    );
    this.#show(SIZES[FIRST]);
    this.#introduce();
    this.#recommend();
    this.#explain();
  }

  async #show(wanted) {
    this.wanted = wanted;
    const { client, account } = this.session;
    try {
      const { size, users } = await client.community(this.notice.id, account.user, wanted);
      if (this.wanted !== wanted) return; // the person moved on
      const others = users.filter((user) => user !== account.user);
      this.told.textContent = `${number(size)} people${others.length + 1 < size ? `, ${number(others.length)} of them shown` : ", you among them"}:`;
      this.people.replaceChildren(...others.map((user) => make("li", { textContent: user })));
    } catch (error) {
      this.told.textContent = `${error.message}.`;
    }
  }

  async #introduce() {
    const people = await this.session.client.people(this.notice.id);
    const list = people.map(({ user, reason }) => make("li", {}, make("b", { textContent: user }), make("span", { className: "quiet", textContent: ` ${reason}` })));
    const told = list.length ? make("ul", { className: "plain" }, ...list) : make("p", { className: "quiet", textContent: "Nobody can be named yet." });
    this.known.append(make("h3", { textContent: "People you may know" }), told, this.#choose());
  }

  // Whether others are told about this person in the same way; what is shown is what the server last said.
  #choose() {
    const said = make("span", { className: "quiet", attributes: { "aria-live": "polite" } });
    const box = make("input", { type: "checkbox", id: `discoverable-${this.notice.id}`, checked: this.discoverable });
    box.onchange = async () => {
      const wanted = box.checked;
      try {
        await this.session.client.setDiscoverable(wanted);
        said.textContent = wanted ? " Others may be told about you." : " Nobody is told about you any more.";
      } catch (error) {
        box.checked = !wanted;
        said.textContent = ` ${error.message}.`;
      }
    };
    return make("p", {}, make("label", { className: "choice", htmlFor: box.id }, box, " Others may be told about me"), said);
  }

  // One round of boxes that mean nothing sees less than people would think.
  async #explain() {
    const round = await this.session.client.round(this.notice).catch(() => null);
    if (round?.bins === "random" && !round.series) this.seen.textContent = ONE_ROUND;
  }

  async #recommend() {
    const items = await this.session.client.recommendations(this.notice.id);
    if (!items.length) return;
    const list = items.map(({ item, reason }) => make("li", {}, make("b", { textContent: item }), make("span", { className: "quiet", textContent: ` ${reason}` })));
    this.liked.append(make("h3", { textContent: "You may like" }), make("ul", { className: "plain" }, ...list));
  }
}
