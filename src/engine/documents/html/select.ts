import type { Cheerio, CheerioAPI } from "cheerio";
import { _compileToken } from "css-select";
import type { Selector } from "./style-sheet.js";

export type Node = ReturnType<CheerioAPI> extends Cheerio<infer Each> ? Each : never;
export type Element = Extract<Node, { attribs: Record<string, string> }>;

/** The elements of a page by tag, class and id, so that a rule looks at those alone that it may apply to. */
export interface ElementIndex {
  readonly all: readonly Element[];
  readonly byKey: ReadonlyMap<string, readonly Element[]>;
  /** Elements in one another, and children of one element, at most. */
  readonly depth: number;
  readonly siblings: number;
}

export function indexOf(page: CheerioAPI): ElementIndex {
  const all: Element[] = [];
  const byKey = new Map<string, Element[]>();
  const depths = new Map<Node, number>();
  let [depth, siblings] = [0, 0];
  const add = (key: string, element: Element): void => {
    const list = byKey.get(key);
    if (list === undefined) byKey.set(key, [element]);
    else list.push(element);
  };
  for (const node of page("*").toArray()) {
    if (!("attribs" in node)) continue;
    all.push(node);
    const own = 1 + (depths.get(node.parent as Node) ?? 0);
    depths.set(node, own);
    depth = Math.max(depth, own);
    siblings = Math.max(siblings, node.children.length);
    add(node.name, node);
    if (node.attribs["id"] !== undefined) add(`#${node.attribs["id"]}`, node);
    for (const each of new Set((node.attribs["class"] ?? "").split(/\s+/))) add(`.${each}`, node);
  }
  return { all, byKey, depth, siblings };
}

/** The elements that a selector may name, by the most telling part of its last compound. */
function candidatesOf({ all, byKey }: ElementIndex, selector: Selector): readonly Element[] {
  const last = selector.slice(selector.findLastIndex((token) => combinators.has(token.type)) + 1);
  const keyOf = (token: Token): string | undefined => {
    if (token.type === "tag") return token.name;
    if (token.type !== "attribute") return undefined;
    return token.name === "class" && token.action === "element"
      ? `.${token.value}`
      : token.name === "id" && token.action === "equals"
        ? `#${token.value}`
        : undefined;
  };
  const keys = last.map(keyOf).filter((key) => key !== undefined);
  const key = keys.find((each) => each.startsWith("#")) ?? keys.find((each) => each.startsWith(".")) ?? keys[0];
  return key === undefined ? all : (byKey.get(key) ?? []);
}

type Token = Selector[number];
const combinators = new Set(["descendant", "child", "sibling", "adjacent", "parent", "column-combinator"]);

/** The tokens of a selector and of those in its brackets. */
const allTokens = (selector: Selector): Token[] =>
  selector.flatMap((token) =>
    token.type === "pseudo" && Array.isArray(token.data) ? [token, ...token.data.flatMap(allTokens)] : [token],
  );

/** Steps that it takes at most to tell which elements a selector names. */
export function costOf(index: ElementIndex, selector: Selector): number {
  const each = allTokens(selector).reduce((sum, token) => {
    if (token.type === "descendant") return sum + index.depth;
    if (token.type === "sibling") return sum + index.siblings;
    if (token.type !== "pseudo") return sum + 1;
    return sum + (token.name === "has" ? index.all.length : /nth|of-type|only/.test(token.name) ? index.siblings : 1);
  }, 0);
  return each * candidatesOf(index, selector).length;
}

/** The elements that a selector names; none where it holds what a page on paper has not, such as `:hover`. */
export function select(index: ElementIndex, selector: Selector): Element[] {
  try {
    const matches = _compileToken([[...selector]], {});
    return candidatesOf(index, selector).filter((element) => matches(element as never));
  } catch {
    return [];
  }
}

/** Of two rules that hold for an element the one with the higher specificity counts, as CSS adds it up. */
export const specificityOf = (selector: Selector): number =>
  selector.reduce((sum, token) => {
    if (token.type === "tag") return sum + 1;
    if (token.type === "attribute") return sum + (token.name === "id" && token.action === "equals" ? 10_000 : 100);
    if (token.type !== "pseudo" || token.name === "where") return sum;
    return sum + (Array.isArray(token.data) ? Math.max(...token.data.map(specificityOf)) : 100);
  }, 0);

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
