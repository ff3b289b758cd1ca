/**
 * The script of the page. The page is complete without the script. The script listens on the document, so that it also
 * works for sections that a live page replaces. It is in the head of the page, so that a chosen theme is set before the
 * browser first paints the page.
 */
export const reportScript = `(() => {
  const root = document.documentElement;
  const elementsOf = (selector) => [...document.querySelectorAll(selector)];
  const byId = (id) => document.getElementById(id);
  const listedPapers = () => elementsOf("#list > .paper");
  const readTheme = () => { try { return localStorage.getItem("theme"); } catch { return null; } };
  const storeTheme = (theme) => { try { localStorage.setItem("theme", theme); } catch {} };
  root.classList.add("js");
  if (readTheme()) root.dataset.theme = readTheme();

  let searchTexts = new WeakMap();
  const searchTextOf = (paper) => searchTexts.get(paper) ?? searchTexts.set(paper, (paper.querySelector("summary") ?? paper).textContent.toLowerCase()).get(paper);
  const wordsOf = (text) => text.toLowerCase().split(/\\s+/).filter(Boolean);
  const filterPapers = () => {
    const words = wordsOf(byId("find")?.value ?? "");
    const statuses = elementsOf("[data-only][aria-pressed=true]").map((button) => button.dataset.only);
    const papers = listedPapers();
    const shownPapers = papers.filter((paper) => {
      const isShown = (statuses.length === 0 || statuses.includes(paper.classList[1])) && words.every((word) => searchTextOf(paper).includes(word));
      if (paper.hidden === isShown) paper.hidden = !isShown;
      return isShown;
    });
    const [shownCount, count] = [shownPapers, papers].map(({ length }) => length.toLocaleString("en"));
    if (byId("shown")) byId("shown").textContent = (shownCount === count ? "" : shownCount + " of ") + count + " papers";
  };

  const textOf = (paper, selector) => paper.querySelector(selector).textContent;
  const statusOrder = ["presented", "insights", "waiting", "rejected", "missing", "unread"];
  const yearOf = (paper) => /(?:^| )(\\d{4}) ·/.exec(textOf(paper, ".meta"))?.[1] ?? "";
  const sortKeys = {
    score: (paper) => statusOrder.indexOf(paper.classList[1]) * 100 - (parseFloat(textOf(paper, ".rank")) || 0),
    date: (paper) => -(paper.dataset.date ?? yearOf(paper)).replace(/\\D/g, "").padEnd(8, "0"),
    title: () => 0,
  };
  const sortPapers = (order) => {
    const { compare } = new Intl.Collator("en");
    const papers = listedPapers().map((paper) => ({ paper, key: sortKeys[order](paper), title: textOf(paper, ".title") }));
    papers.sort((a, b) => a.key - b.key || compare(a.title, b.title));
    byId("list").append(...papers.map(({ paper }) => paper));
  };

  const rowsOf = (tableId) => [...byId(tableId).tBodies[0].rows];
  const valueAt = (row, column) => row.cells[column].dataset.value ?? row.cells[column].textContent;
  const filterRows = ({ dataset, value }) => {
    const words = wordsOf(value);
    const rows = rowsOf(dataset.filter);
    const cellTexts = (row) => [...row.cells].map((cell, column) => (column === 0 ? cell.textContent : valueAt(row, column)).toLowerCase());
    for (const row of rows) {
      const texts = cellTexts(row);
      row.hidden = !words.every((word) => texts.some((text) => text.includes(word)));
    }
    const shownCount = rows.filter(({ hidden }) => !hidden).length;
    byId(dataset.filter + "-shown").textContent = (shownCount === rows.length ? "" : shownCount + " of ") + rows.length + " papers";
  };
  const sortRows = (button) => {
    const [headCell, column] = [button.closest("th"), Number(button.dataset.sort)];
    const isAscending = headCell.ariaSort !== "ascending";
    for (const cell of headCell.parentElement.cells) cell.removeAttribute("aria-sort");
    headCell.setAttribute("aria-sort", isAscending ? "ascending" : "descending");
    const { compare } = new Intl.Collator("en", { numeric: true });
    const rows = rowsOf(button.closest("table").id).map((row) => ({ row, value: valueAt(row, column) }));
    // Rows without a value are last in both orders.
    rows.sort((a, b) => (a.value === "") - (b.value === "") || (isAscending ? 1 : -1) * compare(a.value, b.value));
    button.closest("table").tBodies[0].append(...rows.map(({ row }) => row));
  };

  // The texts of all papers are read when the search box gets the focus, so that typing is not slow with many papers.
  addEventListener("focusin", ({ target }) => target.id === "find" && ((searchTexts = new WeakMap()), listedPapers().forEach(searchTextOf)));
  let filterTimer;
  addEventListener("input", ({ target }) => target.dataset.filter && filterRows(target));
  addEventListener("input", ({ target }) => target.id === "find" && (clearTimeout(filterTimer), (filterTimer = setTimeout(filterPapers, 60))));
  addEventListener("change", ({ target }) => target.id === "sort" && sortPapers(target.value));
  addEventListener("click", ({ target }) => {
    const button = target.closest?.("[data-only],[data-sort],#theme");
    if (button?.id === "theme") {
      const isDark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme:dark)").matches;
      root.dataset.theme = isDark ? "light" : "dark";
      storeTheme(root.dataset.theme);
    } else if (button?.dataset.sort) sortRows(button);
    else if (button) {
      button.setAttribute("aria-pressed", button.getAttribute("aria-pressed") !== "true");
      filterPapers();
    }
  });

  const openLinkedPaper = () => {
    const target = byId(decodeURIComponent(location.hash.slice(1)));
    const paper = target?.closest(".paper");
    if (!paper) return;
    Object.assign(paper, { hidden: false, open: true });
    target.scrollIntoView();
  };
  addEventListener("hashchange", openLinkedPaper);
  addEventListener("DOMContentLoaded", () => {
    openLinkedPaper();
    const contentsLink = (id) => document.querySelector('.contents a[href="#' + id + '"]');
    // The section in a narrow band near the top of the window is the current one.
    const markCurrent = (entries) => entries.forEach(({ target, isIntersecting }) => contentsLink(target.id)?.classList.toggle("on", isIntersecting));
    const observer = new IntersectionObserver(markCurrent, { rootMargin: "-25% 0px -74% 0px" });
    elementsOf("main > section[id]").forEach((section) => observer.observe(section));
  });
  let openedToPrint = [];
  addEventListener("beforeprint", () => (openedToPrint = elementsOf(".paper.presented:not([open]), .words:not([open])")).forEach((element) => (element.open = true)));
  addEventListener("afterprint", () => openedToPrint.forEach((element) => (element.open = false)));
})();
`;
