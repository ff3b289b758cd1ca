/**
 * The script of the page: what a reader without it does not miss. It listens on the document, so that it also serves
 * sections that a live page replaces. It stands in the head: a theme that was chosen is there before the first paint.
 */
export const client = `(() => {
  const root = document.documentElement;
  const all = (selector) => [...document.querySelectorAll(selector)];
  const named = (id) => document.getElementById(id);
  const listed = () => all("#list > .paper");
  const stored = (theme) => { try { return theme ? localStorage.setItem("theme", theme) : localStorage.getItem("theme"); } catch { return null; } };
  root.classList.add("js");
  if (stored()) root.dataset.theme = stored();

  let heads = new WeakMap();
  const headOf = (paper) => heads.get(paper) ?? heads.set(paper, (paper.querySelector("summary") ?? paper).textContent.toLowerCase()).get(paper);
  const filter = () => {
    const words = (named("find")?.value ?? "").toLowerCase().split(/\\s+/).filter(Boolean);
    const kinds = all("[data-only][aria-pressed=true]").map((button) => button.dataset.only);
    const papers = listed();
    const shown = papers.filter((paper) => {
      const isShown = (kinds.length === 0 || kinds.includes(paper.classList[1])) && words.every((word) => headOf(paper).includes(word));
      if (paper.hidden === isShown) paper.hidden = !isShown;
      return isShown;
    });
    const [some, count] = [shown, papers].map(({ length }) => length.toLocaleString("en"));
    if (named("shown")) named("shown").textContent = (some === count ? "" : some + " of ") + count + " papers";
  };

  const textOf = (paper, part) => paper.querySelector(part).textContent;
  const status = ["presented", "insights", "waiting", "rejected", "unread"];
  const yearOf = (paper) => /(?:^| )(\\d{4}) ·/.exec(textOf(paper, ".meta"))?.[1] ?? "";
  const keys = {
    score: (paper) => status.indexOf(paper.classList[1]) * 100 - (parseFloat(textOf(paper, ".rank")) || 0),
    date: (paper) => -(paper.dataset.date ?? yearOf(paper)).replace(/\\D/g, "").padEnd(8, "0"),
    title: () => 0,
  };
  const sort = (by) => {
    const { compare } = new Intl.Collator("en");
    const papers = listed().map((paper) => ({ paper, key: keys[by](paper), title: textOf(paper, ".title") }));
    papers.sort((a, b) => a.key - b.key || compare(a.title, b.title));
    named("list").append(...papers.map(({ paper }) => paper));
  };

  // Read when a person comes to the box, so that no letter waits for the words of ten thousand papers.
  addEventListener("focusin", ({ target }) => target.id === "find" && ((heads = new WeakMap()), listed().forEach(headOf)));
  let soon;
  addEventListener("input", ({ target }) => target.id === "find" && (clearTimeout(soon), (soon = setTimeout(filter, 60))));
  addEventListener("change", ({ target }) => target.id === "sort" && sort(target.value));
  addEventListener("click", ({ target }) => {
    const button = target.closest?.("[data-only],#theme");
    if (button?.id === "theme") {
      const isDark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme:dark)").matches;
      stored((root.dataset.theme = isDark ? "light" : "dark"));
    } else if (button) {
      button.setAttribute("aria-pressed", button.getAttribute("aria-pressed") !== "true");
      filter();
    }
  });

  const reveal = () => {
    const at = named(decodeURIComponent(location.hash.slice(1)));
    const paper = at?.closest(".paper");
    if (!paper) return;
    Object.assign(paper, { hidden: false, open: true });
    at.scrollIntoView();
  };
  addEventListener("hashchange", reveal);
  addEventListener("DOMContentLoaded", () => {
    reveal();
    const linkTo = (id) => document.querySelector('.contents a[href="#' + id + '"]');
    const pass = (entries) => entries.forEach(({ target, isIntersecting }) => linkTo(target.id)?.classList.toggle("on", isIntersecting));
    const line = new IntersectionObserver(pass, { rootMargin: "-25% 0px -74% 0px" });
    all("main > section[id]").forEach((section) => line.observe(section));
  });
  let opened = [];
  addEventListener("beforeprint", () => (opened = all(".paper.presented:not([open]), .words:not([open])")).forEach((one) => (one.open = true)));
  addEventListener("afterprint", () => opened.forEach((one) => (one.open = false)));
})();
`;
