import type { Cheerio, CheerioAPI } from "cheerio";

export type Node = ReturnType<CheerioAPI> extends Cheerio<infer Each> ? Each : never;
export type Element = Extract<Node, { attribs: Record<string, string> }>;

/** Removes nodes from their page. All at once, because to remove many one after the other takes quadratic time. */
export function removeNodes(nodes: Iterable<Node>): void {
  const removed = new Set(nodes);
  const parents = new Set<{ children: Node[] }>();
  for (const node of removed) {
    const parent = node.parent as { children: Node[] } | null;
    if (parent !== null) parents.add(parent);
  }
  for (const parent of parents) {
    const remaining = parent.children.filter((child) => !removed.has(child));
    parent.children = remaining;
    for (const [index, child] of remaining.entries()) {
      child.prev = (remaining[index - 1] ?? null) as typeof child.prev;
      child.next = (remaining[index + 1] ?? null) as typeof child.next;
    }
  }
  for (const node of removed) node.parent = null;
}

/** Replaces the content of an element by text. The element gets the name `name` and loses its attributes. */
export function replaceByText(page: CheerioAPI, element: Element, text: string, name = "span"): void {
  const [node] = page.parseHTML("x", null, false);
  if (node === undefined || !("data" in node)) return;
  node.data = text;
  node.parent = element;
  element.children = [node];
  element.name = name;
  element.attribs = {};
}

/** The elements that a selector matches, in the order of the page. */
export const elementsOf = (page: CheerioAPI, selector: string): Element[] =>
  page(selector)
    .toArray()
    .filter((node): node is Element => "attribs" in node);

const superscriptSigns: Readonly<Record<string, string>> = { "+": "⁺", "-": "⁻", "−": "⁻", "–": "⁻" };
const superscriptDigits = "⁰¹²³⁴⁵⁶⁷⁸⁹";

/**
 * Converts a `sup` element with a power to superscript characters, as in 10⁻⁵ and m⁻¹. As usual characters, "10-5"
 * would be a range, and "102" another number. A power is a number after a digit, or a negative number after a letter.
 * Other superscripts stay as they are.
 */
export function convertPower(page: CheerioAPI, element: Element): void {
  const [, sign = "", digits = ""] = /^\s*([-+−–]?)\s?(\d{1,4})\s*$/.exec(page(element).text().slice(0, 20)) ?? [];
  const { prev } = element;
  const before = prev === null ? "" : "data" in prev ? prev.data : page(prev as Node).text();
  const isPower = /\d\)?$/.test(before.slice(-2)) || (/[-−–]/.test(sign) && /[\p{L})]$/u.test(before.slice(-2)));
  if (digits === "" || !isPower) return;
  const power = Array.from(digits, (digit) => superscriptDigits[Number(digit)]).join("");
  replaceByText(page, element, (superscriptSigns[sign] ?? "") + power);
}
