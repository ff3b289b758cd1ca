import type { Page } from "playwright-core";

/** What is wrong with the looks of a page, in words: measured in the browser. */
export interface Looks {
  /** Elements that reach out of the window; what stands in a box that scrolls is not counted. */
  readonly wide: string[];
  /** Buttons whose words take more than two lines. */
  readonly tallButtons: string[];
  /** Labels of pictures that stand upon one another. */
  readonly labels: string[];
  /** Text whose contrast with what is behind it is below 4.5:1. */
  readonly pale: string[];
  /** What can be clicked and not reached by keyboard, or has no name for who does not see it. */
  readonly unreachable: string[];
  readonly counted: { readonly texts: number; readonly labels: number; readonly controls: number };
}

/** Runs in the page. It is one function, as Playwright sends its source. */
export const looksOf = (page: Page): Promise<Looks> => page.evaluate(measure);

/* oxlint-disable */
function measure(): Looks {
  const g = globalThis as any;
  const { document, getComputedStyle, innerWidth } = g;
  const all = (selector: string): any[] => [...document.querySelectorAll(selector)];
  const name = (element: any) =>
    `<${element.tagName.toLowerCase()} class="${element.getAttribute("class") ?? ""}"> ${(element.textContent ?? "").trim().slice(0, 60)}`;
  const shown = (element: any) => element.checkVisibility({ checkVisibilityCSS: true, contentVisibilityAuto: true });
  const some = (list: string[]) => [...new Set(list)].slice(0, 8);

  const wide: string[] = [];
  if (document.documentElement.scrollWidth > innerWidth)
    wide.push(`the page itself: ${document.documentElement.scrollWidth} of ${innerWidth}`);
  for (const element of all("body *")) {
    const box = element.getBoundingClientRect();
    if (box.width === 0 || !shown(element)) continue;
    if ((box.right > innerWidth + 1 || box.left < -1) && element.closest(".table") === null)
      wide.push(`${name(element)} from ${Math.round(box.left)} to ${Math.round(box.right)}`);
  }

  const tallButtons = all("button, summary:not(.head), select")
    .filter(shown)
    .flatMap((button) => {
      const style = getComputedStyle(button);
      const line = parseFloat(style.lineHeight) || parseFloat(style.fontSize) * 1.4;
      const inner =
        button.getBoundingClientRect().height - parseFloat(style.paddingTop) - parseFloat(style.paddingBottom);
      return inner > 2.5 * line ? [name(button)] : [];
    });

  const labels: string[] = [];
  let countedLabels = 0;
  for (const svg of all("figure svg").filter(shown)) {
    const boxes = [...svg.querySelectorAll("text")].map((text: any) => {
      const box = text.getBoundingClientRect();
      // The box of a line is taller than its letters.
      const off = Math.min(box.height, box.width) * 0.18;
      return { text, left: box.left + 1, right: box.right - 1, top: box.top + off, bottom: box.bottom - off };
    });
    countedLabels += boxes.length;
    for (const [index, a] of boxes.entries())
      for (const b of boxes.slice(index + 1))
        if (a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom)
          labels.push(`“${a.text.textContent}” and “${b.text.textContent}”`);
    const frame = svg.closest("figure").getBoundingClientRect();
    for (const { text, left, right } of boxes)
      if (left < frame.left - 2 || right > frame.right + 2) labels.push(`“${text.textContent}” leaves its picture`);
  }

  const parse = (color: string): number[] => (color.match(/[\d.]+/g) ?? []).map(Number);
  const channel = (value: number) => {
    const share = value / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  };
  const luminance = ([r = 0, g = 0, b = 0]: number[]) =>
    0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
  const contrast = (a: number[], b: number[]) => {
    const [one, two] = [luminance(a), luminance(b)];
    return (Math.max(one, two) + 0.05) / (Math.min(one, two) + 0.05);
  };
  const behind = (element: any): number[] => {
    for (let at = element; at !== null; at = at.parentElement) {
      const color = parse(getComputedStyle(at).backgroundColor);
      if (color.length === 3 || (color[3] ?? 0) > 0.5) return color;
    }
    return [255, 255, 255];
  };
  const pale: string[] = [];
  let texts = 0;
  const walker = document.createTreeWalker(document.body, 4);
  const seen = new Set<string>();
  for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
    const element = node.parentElement;
    if (element === null || node.data.trim() === "" || ["TITLE", "SCRIPT", "STYLE", "title"].includes(element.tagName))
      continue;
    if (!shown(element)) continue;
    texts++;
    const style = getComputedStyle(element);
    const svg = element.closest("svg");
    const color = parse(svg === null ? style.color : style.fill);
    const rect = svg === null ? null : element.closest("g")?.querySelector("rect");
    const back = rect == null ? behind(svg ?? element) : parse(getComputedStyle(rect).fill);
    const key = `${color} ${back}`;
    if (seen.has(key)) continue;
    seen.add(key);
    const ratio = contrast(color, back);
    if (ratio < 4.5) pale.push(`${ratio.toFixed(2)}:1 ${name(element)}`);
  }

  const controls = all("a[href], button, input, select, summary, [tabindex]:not([tabindex='-1'])").filter(shown);
  const unreachable = controls.flatMap((control) => {
    control.focus({ preventScroll: true });
    const words =
      control.getAttribute("aria-label") ??
      `${control.labels?.[0]?.textContent ?? ""}${control.textContent}${control.getAttribute("placeholder") ?? ""}`;
    return document.activeElement !== control || control.tabIndex < 0 || words.trim() === "" ? [name(control)] : [];
  });
  document.activeElement?.blur();

  return {
    wide: some(wide),
    tallButtons: some(tallButtons),
    labels: some(labels),
    pale: some(pale),
    unreachable: some(unreachable),
    counted: { texts, labels: countedLabels, controls: controls.length },
  };
}
