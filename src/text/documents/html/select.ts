import type { Cheerio, CheerioAPI } from "cheerio";

export type Node = ReturnType<CheerioAPI> extends Cheerio<infer Each> ? Each : never;
export type Element = Extract<Node, { attribs: Record<string, string> }>;

/**
 * Takes nodes out of their page. One at a time, each would be searched for among its siblings: quadratic time for many.
 */
export function takeAway(nodes: Iterable<Node>): void {
  const gone = new Set(nodes);
  const parents = new Set<{ children: Node[] }>();
  for (const node of gone) {
    const parent = node.parent as { children: Node[] } | null;
    if (parent !== null) parents.add(parent);
  }
  for (const parent of parents) {
    const kept = parent.children.filter((child) => !gone.has(child));
    parent.children = kept;
    for (const [index, child] of kept.entries()) {
      child.prev = (kept[index - 1] ?? null) as typeof child.prev;
      child.next = (kept[index + 1] ?? null) as typeof child.next;
    }
  }
  for (const node of gone) node.parent = null;
}

/**
 * Puts text in place of an element's content; the element becomes one of `name`, which stands for itself in no reading.
 */
export function becomeText(page: CheerioAPI, element: Element, text: string, name = "span"): void {
  const [node] = page.parseHTML("x", null, false) ?? [];
  if (node === undefined || !("data" in node)) return;
  node.data = text;
  node.parent = element;
  element.children = [node];
  element.name = name;
  element.attribs = {};
}

/** The elements that a selector names, in the order of the page. */
export const elementsOf = (page: CheerioAPI, selector: string): Element[] =>
  page(selector)
    .toArray()
    .filter((node): node is Element => "attribs" in node);

const raisedSigns: Readonly<Record<string, string>> = { "+": "⁺", "-": "⁻", "−": "⁻", "–": "⁻" };
const raisedDigits = "⁰¹²³⁴⁵⁶⁷⁸⁹";

/**
 * Writes a raised number behind a digit, or with a minus, in characters that are raised themselves: "10-5" would be a
 * range, and "102" another number. Other raised text stays as it is.
 */
export function raisePower(page: CheerioAPI, element: Element): void {
  const [, sign = "", digits = ""] = /^\s*([-+−–]?)\s?(\d{1,4})\s*$/.exec(page(element).text().slice(0, 20)) ?? [];
  const { prev } = element;
  const before = prev === null ? "" : "data" in prev ? prev.data : page(prev as Node).text();
  const isPower = /\d\)?$/.test(before.slice(-2)) || (/[-−–]/.test(sign) && /[\p{L})]$/u.test(before.slice(-2)));
  if (digits === "" || !isPower) return;
  const raised = Array.from(digits, (digit) => raisedDigits[Number(digit)]).join("");
  becomeText(page, element, (raisedSigns[sign] ?? "") + raised);
}
