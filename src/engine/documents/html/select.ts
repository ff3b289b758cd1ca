import type { Cheerio, CheerioAPI } from "cheerio";
import type { Selector } from "./style-sheet.js";

export type Node = ReturnType<CheerioAPI> extends Cheerio<infer Each> ? Each : never;
export type Element = Extract<Node, { attribs: Record<string, string> }>;

/** The elements of a page by tag, class and id, so that a rule looks at those alone that it may apply to. */
export interface ElementIndex {
  readonly all: readonly Element[];
  readonly byKey: ReadonlyMap<string, readonly Element[]>;
}

export function indexOf(page: CheerioAPI): ElementIndex {
  const all: Element[] = [];
  const byKey = new Map<string, Element[]>();
  const add = (key: string, element: Element): void => {
    const list = byKey.get(key);
    if (list === undefined) byKey.set(key, [element]);
    else list.push(element);
  };
  for (const node of page("*").toArray()) {
    if (!("attribs" in node)) continue;
    all.push(node);
    add(node.name, node);
    if (node.attribs["id"] !== undefined) add(`#${node.attribs["id"]}`, node);
    for (const each of new Set(classesOf(node))) add(`.${each}`, node);
  }
  return { all, byKey };
}

const classesOf = (element: Element): string[] => (element.attribs["class"] ?? "").split(/\s+/).filter(Boolean);

/** The elements that a selector may name, by the most telling part of its last compound. */
export function candidatesOf({ all, byKey }: ElementIndex, selector: Selector): readonly Element[] {
  const compound = selector.at(-1);
  const [first] = compound?.classes ?? [];
  const key = compound?.id !== undefined ? `#${compound.id}` : first === undefined ? compound?.tag : `.${first}`;
  return key === undefined ? all : (byKey.get(key) ?? []);
}

/**
 * The elements that a selector names. Each is compared once with each compound, and what is known of an element's ancestors is kept: a
 * chain of descendants over deep elements would otherwise be tried in every combination.
 */
export function select(index: ElementIndex, selector: Selector): Element[] {
  const last = selector.length - 1;
  const above: Map<Node, boolean>[] = selector.map(() => new Map());
  const matches = (element: Element, at: number): boolean => fits(element, selector[at]) && stands(element, at);
  const stands = (element: Element, at: number): boolean => {
    if (at === 0) return true;
    const parent = element.parent as Node | null;
    if (parent === null || !("attribs" in parent)) return false;
    return selector[at]?.isChild === true ? matches(parent, at - 1) : isBelow(parent, at - 1);
  };
  /** Whether the element or one that holds it matches the selector up to a compound. */
  const isBelow = (from: Element, at: number): boolean => {
    const known = above[at];
    const path: Element[] = [];
    let found = false;
    for (let each: Node | null = from; each !== null && "attribs" in each; each = each.parent as Node | null) {
      const kept = known?.get(each);
      if (kept !== undefined) {
        found = kept;
        break;
      }
      path.push(each);
      if (matches(each, at)) {
        found = true;
        break;
      }
    }
    for (const each of path) known?.set(each, found);
    return found;
  };
  return candidatesOf(index, selector).filter((element) => matches(element, last));
}

function fits(element: Element, compound: Selector[number] | undefined): boolean {
  if (compound === undefined) return false;
  if (compound.tag !== undefined && compound.tag !== element.name) return false;
  if (compound.id !== undefined && compound.id !== element.attribs["id"]) return false;
  const classes = compound.classes.length === 0 ? [] : classesOf(element);
  return (
    compound.classes.every((each) => classes.includes(each)) &&
    compound.attributes.every(({ name, operator, value }) => holds(element.attribs[name], operator, value))
  );
}

function holds(given: string | undefined, operator: string, value: string): boolean {
  if (given === undefined) return false;
  switch (operator) {
    case "=":
      return given === value;
    case "^=":
      return value !== "" && given.startsWith(value);
    case "$=":
      return value !== "" && given.endsWith(value);
    case "*=":
      return value !== "" && given.includes(value);
    case "~=":
      return given.split(/\s+/).includes(value);
    case "|=":
      return given === value || given.startsWith(`${value}-`);
    default:
      return true;
  }
}

/** Takes nodes out of their page. One at a time, each would be searched for among its siblings: quadratic time for many. */
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

/** Puts text in place of an element's content; the element becomes one of `name`, which stands for itself in no reading. */
export function becomeText(page: CheerioAPI, element: Element, text: string, name = "span"): void {
  const [node] = page.parseHTML("x", null, false) ?? [];
  if (node === undefined || !("data" in node)) return;
  node.data = text;
  node.parent = element;
  element.children = [node];
  element.name = name;
  element.attribs = {};
}

/** Whether an element of one of these names stands before a node among its siblings. Cells stand next to each other. */
export function followsOneOf(node: Node, names: ReadonlySet<string>): boolean {
  for (let each = node.prev as Node | null; each !== null; each = each.prev as Node | null)
    if ("name" in each && names.has(each.name)) return true;
  return false;
}
