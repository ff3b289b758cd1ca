/**
 * The script of the page. The page is complete without it. It listens on the document, so that it also works for
 * sections that a live page replaces. It is in the head of the page, so that a chosen theme is set before the first
 * paint.
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
  const status = ["presented", "insights", "waiting", "rejected", "missing", "unread"];
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

  const rowsOf = (id) => [...named(id).tBodies[0].rows];
  const valueAt = (row, column) => row.cells[column].dataset.value ?? row.cells[column].textContent;
  const narrow = ({ dataset, value }) => {
    const words = value.toLowerCase().split(/\\s+/).filter(Boolean);
    const rows = rowsOf(dataset.filter);
    for (const row of rows) row.hidden = !words.every((word) => [...row.cells].some((each, at) => (at ? valueAt(row, at) : each.textContent).toLowerCase().includes(word)));
    const some = rows.filter(({ hidden }) => !hidden).length;
    named(dataset.filter + "-shown").textContent = (some === rows.length ? "" : some + " of ") + rows.length + " papers";
  };
  const order = (button) => {
    const [head, column] = [button.closest("th"), Number(button.dataset.sort)];
    const isUp = head.ariaSort !== "ascending";
    for (const each of head.parentElement.cells) each.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", isUp ? "ascending" : "descending");
    const { compare } = new Intl.Collator("en", { numeric: true });
    const rows = rowsOf(button.closest("table").id).map((row) => ({ row, value: valueAt(row, column) }));
    // What is not reported stands last, whatever the order.
    rows.sort((a, b) => (a.value === "") - (b.value === "") || (isUp ? 1 : -1) * compare(a.value, b.value));
    button.closest("table").tBodies[0].append(...rows.map(({ row }) => row));
  };

  // Read when a person comes to the box, so that no letter waits for the words of ten thousand papers.
  addEventListener("focusin", ({ target }) => target.id === "find" && ((heads = new WeakMap()), listed().forEach(headOf)));
  let soon;
  addEventListener("input", ({ target }) => target.dataset.filter && narrow(target));
  addEventListener("input", ({ target }) => target.id === "find" && (clearTimeout(soon), (soon = setTimeout(filter, 60))));
  addEventListener("change", ({ target }) => target.id === "sort" && sort(target.value));
  addEventListener("click", ({ target }) => {
    const button = target.closest?.("[data-only],[data-sort],#theme");
    if (button?.id === "theme") {
      const isDark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme:dark)").matches;
      stored((root.dataset.theme = isDark ? "light" : "dark"));
    } else if (button?.dataset.sort) order(button);
    else if (button) {
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
