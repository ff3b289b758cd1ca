/**
 * The script of the page: what a reader without it does not miss. It listens on the document, so that it also serves
 * sections that a live page replaces. It stands in the head: a theme that was chosen is there before the first paint.
 */
export const client = `(() => {
  const root = document.documentElement;
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const stored = (value) => {
    try { return value === undefined ? localStorage.getItem("theme") : localStorage.setItem("theme", value); } catch { return null; }
  };
  root.classList.add("js");
  if (stored()) root.dataset.theme = stored();

  const texts = new WeakMap();
  const textOf = (paper) => {
    if (!texts.has(paper)) texts.set(paper, paper.firstElementChild.textContent.toLowerCase());
    return texts.get(paper);
  };
  const filter = () => {
    const words = (document.getElementById("find")?.value ?? "").toLowerCase().split(/\\s+/).filter(Boolean);
    const kinds = all("[data-only][aria-pressed=true]").map((button) => button.dataset.only);
    let shown = 0;
    const papers = all("#list > .paper");
    for (const paper of papers) {
      const on = (kinds.length === 0 || kinds.includes(paper.classList[1])) && words.every((word) => textOf(paper).includes(word));
      if (paper.hidden === on) paper.hidden = !on;
      if (on) shown++;
    }
    const count = papers.length.toLocaleString("en");
    const said = document.getElementById("shown");
    if (said) said.textContent = shown === papers.length ? count + " papers" : shown.toLocaleString("en") + " of " + count + " papers";
  };
  const keys = { date: (paper) => paper.dataset.date ?? (/(?:^| )(\\d{4}) ·/.exec(textOf(paper))?.[1] ?? ""), title: (paper) => paper.querySelector(".title").textContent };
  const first = new WeakMap();
  const sort = (by) => {
    const list = document.getElementById("list");
    let place = 0;
    for (const paper of all(":scope > .paper", list)) if (!first.has(paper)) first.set(paper, place++);
    const papers = all(":scope > .paper", list).map((paper) => [paper, by === "score" ? first.get(paper) : keys[by](paper)]);
    const order = new Intl.Collator("en").compare;
    papers.sort(([, a], [, b]) => by === "score" ? a - b : by === "date" ? (a < b ? 1 : a > b ? -1 : 0) : order(a, b));
    list.append(...papers.map(([paper]) => paper));
  };
  let soon;
  addEventListener("input", ({ target }) => {
    if (target.id !== "find") return;
    clearTimeout(soon);
    soon = setTimeout(filter, 60);
  });
  addEventListener("change", ({ target }) => target.id === "sort" && sort(target.value));
  addEventListener("click", ({ target }) => {
    const button = target.closest?.("button");
    if (button?.dataset.only) {
      button.setAttribute("aria-pressed", button.getAttribute("aria-pressed") !== "true");
      filter();
    } else if (button?.id === "theme") {
      const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme:dark)").matches;
      root.dataset.theme = dark ? "light" : "dark";
      stored(root.dataset.theme);
    }
  });

  const reveal = () => {
    const at = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    const paper = at && at.closest(".paper");
    if (!paper) return;
    paper.hidden = false;
    paper.open = true;
    at.scrollIntoView();
  };
  addEventListener("hashchange", reveal);
  addEventListener("DOMContentLoaded", () => {
    reveal();
    // So that the first letter that is typed does not wait for the words of ten thousand papers.
    const later = all("#list > .paper");
    const read = (idle) => {
      while (later.length > 0 && idle.timeRemaining() > 2) textOf(later.pop());
      if (later.length > 0) requestIdleCallback(read);
    };
    globalThis.requestIdleCallback?.(read);
    const links = new Map(all(".contents a").map((link) => [link.hash.slice(1), link]));
    const seen = new IntersectionObserver((entries) => {
      const entry = entries.findLast(({ isIntersecting }) => isIntersecting);
      if (entry) for (const [id, link] of links) link.classList.toggle("on", id === entry.target.id);
    }, { rootMargin: "0px 0px -70% 0px" });
    for (const section of all("main > section[id]")) seen.observe(section);
  });
  let opened = [];
  addEventListener("beforeprint", () => {
    opened = all(".paper.presented:not([open]), .words:not([open]), details.print:not([open])");
    for (const one of opened) one.open = true;
  });
  addEventListener("afterprint", () => { for (const one of opened) one.open = false; });
})();
`;
