/**
 * The script of the page: what a reader without it does not miss. It listens on the document, so that it also serves
 * sections that a live page replaces. It stands in the head: a theme that was chosen is there before the first paint.
 */
export const client = `(() => {
  const root = document.documentElement;
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const named = (id) => document.getElementById(id);
  const stored = (theme) => { try { return theme ? localStorage.setItem("theme", theme) : localStorage.getItem("theme"); } catch { return null; } };
  root.classList.add("js");
  if (stored()) root.dataset.theme = stored();

  const texts = new WeakMap();
  const textOf = (paper) => texts.get(paper) ?? texts.set(paper, paper.firstElementChild.textContent.toLowerCase()).get(paper);
  const filter = () => {
    const words = (named("find")?.value ?? "").toLowerCase().split(/\\s+/).filter(Boolean);
    const kinds = all("[data-only][aria-pressed=true]").map((button) => button.dataset.only);
    const papers = all("#list > .paper");
    let shown = 0;
    for (const paper of papers) {
      const on = (kinds.length === 0 || kinds.includes(paper.classList[1])) && words.every((word) => textOf(paper).includes(word));
      if (paper.hidden === on) paper.hidden = !on;
      if (on) shown++;
    }
    const [some, count] = [shown, papers.length].map((number) => number.toLocaleString("en"));
    if (named("shown")) named("shown").textContent = (shown === papers.length ? "" : some + " of ") + count + " papers";
  };
  const first = new WeakMap();
  const keys = {
    score: (paper) => first.get(paper),
    date: (paper) => paper.dataset.date ?? (/(?:^| )(\\d{4}) ·/.exec(textOf(paper))?.[1] ?? ""),
    title: (paper) => paper.querySelector(".title").textContent,
  };
  const sort = (by) => {
    const orders = { score: (a, b) => a - b, date: (a, b) => (a < b ? 1 : a > b ? -1 : 0), title: new Intl.Collator("en").compare };
    const papers = all("#list > .paper");
    papers.forEach((paper, place) => first.has(paper) || first.set(paper, place));
    named("list").append(...papers.map((paper) => [paper, keys[by](paper)]).sort(([, a], [, b]) => orders[by](a, b)).map(([paper]) => paper));
  };
  let soon;
  addEventListener("input", ({ target }) => target.id === "find" && (clearTimeout(soon), (soon = setTimeout(filter, 60))));
  addEventListener("change", ({ target }) => target.id === "sort" && sort(target.value));
  addEventListener("click", ({ target }) => {
    const button = target.closest?.("button");
    if (button?.dataset.only) {
      button.setAttribute("aria-pressed", button.getAttribute("aria-pressed") !== "true");
      filter();
    } else if (button?.id === "theme") {
      const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme:dark)").matches;
      stored((root.dataset.theme = dark ? "light" : "dark"));
    }
  });

  const reveal = () => {
    const at = location.hash.length > 1 && named(decodeURIComponent(location.hash.slice(1)));
    const paper = at && at.closest(".paper");
    if (!paper) return;
    Object.assign(paper, { hidden: false, open: true });
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
    const pass = (entries) => entries.forEach(({ target, isIntersecting }) => links.get(target.id)?.classList.toggle("on", isIntersecting));
    const line = new IntersectionObserver(pass, { rootMargin: "-25% 0px -74% 0px" });
    for (const section of all("main > section[id]")) line.observe(section);
  });
  let opened = [];
  addEventListener("beforeprint", () => (opened = all(".paper.presented:not([open]), .words:not([open])")).forEach((one) => (one.open = true)));
  addEventListener("afterprint", () => opened.forEach((one) => (one.open = false)));
})();
`;
