import type { CheerioAPI } from "cheerio";
import { compile } from "css-select";
import parse, { type CssNode } from "css-tree/parser";
import { type Element, elementsOf, type Node } from "./select.js";

/** What a page says of how an element looks: properties and values in lower case. */
export type Style = ReadonlyMap<string, string>;

/** What of a style sheet is looked at. */
const tells = new Set(
  "display visibility opacity content-visibility font font-size color -webkit-text-fill-color background background-color background-clip -webkit-background-clip clip clip-path transform translate left top right bottom inset text-indent margin margin-left margin-top height width overflow animation animation-name".split(
    " ",
  ),
);
/** Rules within one another. */
const maxNesting = 8;
/** Steps of comparing the rules of a page with its elements; long articles with long style sheets need some million. */
const maxComparisons = 20_000_000;

/** A rule that says something, and how much it counts: CSS adds up 10,000 an id, 100 a class and 1 a name. */
interface Rule {
  readonly selector: string;
  readonly parts: readonly CssNode[];
  readonly weight: number;
  readonly declared: readonly Declared[];
}
type Declared = readonly [property: string, value: string, isImportant: boolean];

/** The style of each element that has any: of the page's sheets, and of its own attributes over them. */
export function stylesOf(page: CheerioAPI): ReadonlyMap<Node, Style> {
  const styles = new Map<Node, Map<string, string>>();
  const important = new Set<string>();
  const variables = new Map<string, string>();
  const names = new Map<Node, number>();
  const set = (element: Element, declared: readonly Declared[]): void => {
    const own = styles.get(element) ?? new Map<string, string>();
    styles.set(element, own);
    if (!names.has(element)) names.set(element, names.size);
    for (const [property, value, isImportant] of declared) {
      const key = `${names.get(element)} ${property}`;
      if (important.has(key) && !isImportant) continue;
      if (isImportant) important.add(key);
      if (property.startsWith("--")) variables.set(property, value);
      else own.set(property, value);
    }
  };
  const all = elementsOf(page, "*");
  for (const element of all) {
    const { color, bgcolor } = element.attribs;
    if (bgcolor !== undefined) set(element, [["background-color", bgcolor.toLowerCase(), false]]);
    if (color !== undefined && element.name === "font") set(element, [["color", color.toLowerCase(), false]]);
  }
  const rules = elementsOf(page, "style").flatMap((sheet) => rulesIn(read(page(sheet).text(), "stylesheet"), [""], 0));
  apply(
    all,
    rules.toSorted((a, b) => a.weight - b.weight),
    set,
  );
  for (const element of all) {
    const { style } = element.attribs;
    if (style !== undefined) set(element, declaredIn(read(style, "declarationList")));
  }
  for (const own of styles.values())
    for (const [property, value] of own)
      if (value.includes("var("))
        own.set(
          property,
          value.replace(/var\((--[\w-]+)(?:[^\w()-][^()]*)?\)/g, (_, name: string) => variables.get(name) ?? ""),
        );
  return styles;
}

/** Values and selectors are left as they are written; a sheet with errors gives what stands around them. */
const read = (css: string, context: string): CssNode =>
  parse(css, { context, parseValue: false, parseRulePrelude: false, parseAtrulePrelude: false });

const childrenOf = (node: CssNode | null | undefined): CssNode[] => [...(node?.children ?? [])];
const textOf = (value: CssNode | string | null | undefined): string =>
  typeof value === "object" && value !== null ? textOf(value.value) : (value ?? "");

/** The rules that hold on a wide screen, those within the rule of these selectors included. */
function rulesIn(block: CssNode | null | undefined, within: readonly string[], depth: number): Rule[] {
  if (depth > maxNesting) return [];
  return childrenOf(block).flatMap((node) => {
    // What stands within a rule and does not begin with "&".
    if (node.type === "Raw" && depth > 0) return rulesIn(read(textOf(node), "stylesheet"), within, depth + 1);
    if (node.type === "Atrule") {
      const holds = /^(?:supports|layer|container)$/.test(node.name ?? "") || isForScreen(node);
      return holds ? [...rulesOf(within, node.block), ...rulesIn(node.block, within, depth + 1)] : [];
    }
    if (node.type !== "Rule") return [];
    const selectors = selectorsOf(textOf(node.prelude)).flatMap((selector) =>
      within.map((outer) => (outer === "" ? selector : nested(outer, selector))),
    );
    return [...rulesOf(selectors, node.block), ...rulesIn(node.block, selectors, depth + 1)];
  });
}

const nested = (outer: string, selector: string): string =>
  selector.includes("&") ? selector.replaceAll("&", `:is(${outer})`) : `:is(${outer}) ${selector}`;

/** Selectors set apart by commas that stand in no bracket. */
function selectorsOf(prelude: string): string[] {
  if (prelude.length > maxSelector) return [];
  let depth = 0;
  const marked = Array.from(prelude, (sign) => {
    if (sign === "(" || sign === "[") depth += 1;
    if (sign === ")" || sign === "]") depth -= 1;
    return sign === "," && depth === 0 ? "\0" : sign;
  });
  return marked.join("").split("\0").slice(0, maxSelectors);
}
const [maxSelector, maxSelectors] = [2000, 50];

function rulesOf(selectors: readonly string[], block: CssNode | null | undefined): Rule[] {
  const declared = declaredIn(block);
  if (declared.length === 0) return [];
  return selectors.flatMap((selector) => {
    const parts = partsOf(selector);
    return parts.length === 0 ? [] : [{ selector, parts, weight: weightOf(parts), declared }];
  });
}

/** None of a selector with a typing error. */
function partsOf(selector: string): CssNode[] {
  try {
    return selector.length > maxSelector ? [] : childrenOf(parse(selector, { context: "selector" }));
  } catch {
    return [];
  }
}

function declaredIn(block: CssNode | null | undefined): Declared[] {
  return childrenOf(block).flatMap(({ type, property = "", value, important }) => {
    const name = property.toLowerCase();
    if (type !== "Declaration" || !(tells.has(name) || name.startsWith("--"))) return [];
    const plain = textOf(value)
      .replace(/\/\*.*?\*\//gs, "")
      .replace(/\s+/g, " ");
    return [[name, plain.trim().toLowerCase().slice(0, 300), important !== undefined && important !== false]];
  });
}

/** Of two rules that hold for an element the one with the higher weight counts. */
function weightOf(parts: readonly CssNode[]): number {
  return parts.reduce((sum, part) => {
    if (part.type === "IdSelector") return sum + 10_000;
    if (part.type === "TypeSelector") return sum + (part.name === "*" ? 0 : 1);
    const inside = childrenOf(part).map((each) => weightOf(childrenOf(each)));
    if (part.type !== "PseudoClassSelector") return sum + (/^(?:Class|Attribute)/.test(part.type) ? 100 : 0);
    return sum + (part.name === "where" ? 0 : inside.length > 0 ? Math.max(...inside) : 100);
  }, 0);
}

/** A width that most people read a page at, in CSS pixels. */
const screenWidth = 1280;

const mediaWidth = /\b(min|max)-width\s?:\s?(\d{1,6})(px|r?em)|\bwidth\s?([<>])=?\s?(\d{1,6})(px|r?em)/g;

/** Whether a media query holds on a wide screen in light colours. What is not understood holds. */
const isForScreen = ({ name, prelude }: CssNode): boolean =>
  name === "media" &&
  textOf(prelude)
    .toLowerCase()
    .split(",")
    .some((query) => {
      const widths = [...query.matchAll(mediaWidth)].every(([, bound, least, unit, sign, than, otherUnit]) => {
        const pixels = Number(least ?? than) * ((unit ?? otherUnit) === "px" ? 1 : 16);
        return bound === "min" || sign === ">" ? screenWidth >= pixels : screenWidth <= pixels;
      });
      const holds = widths && !/\b(?:print|speech|prefers-color-scheme\s?:\s?dark)\b/.test(query);
      return /^\s*not\b/.test(query) ? !holds : holds;
    });

/** Sets what the rules say of the elements that they name, as far as comparing them has no end. */
function apply(
  all: readonly Element[],
  rules: readonly Rule[],
  set: (element: Element, declared: readonly Declared[]) => void,
): void {
  const byKey = new Map<string, Element[]>();
  for (const element of all) {
    const { id, class: classes = "" } = element.attribs;
    for (const key of new Set([element.name, `#${id}`, ...classes.split(/\s+/).map((each) => `.${each}`)])) {
      const there = byKey.get(key);
      if (there === undefined) byKey.set(key, [element]);
      else there.push(element);
    }
  }
  let room = maxComparisons;
  for (const { selector, parts, declared } of rules) {
    const key = keyOf(parts);
    const candidates = key === undefined ? all : (byKey.get(key) ?? []);
    // One that costs too much leaves room for the others.
    const cost = candidates.length * costOf(parts, all.length);
    if (cost > room) continue;
    room -= cost;
    const named = matcherOf(selector);
    for (const element of candidates) if (named(element)) set(element, declared);
  }
}

/** What tells most of the elements that a selector may name: an id, a class, or a name of its last part. */
function keyOf(parts: readonly CssNode[]): string | undefined {
  const last = parts.slice(parts.findLastIndex(({ type }) => type === "Combinator") + 1);
  const of = (wanted: string) => last.find(({ type, name }) => type === wanted && name !== "*")?.name;
  const [id, named, tag] = [of("IdSelector"), of("ClassSelector"), of("TypeSelector")];
  return id !== undefined ? `#${id}` : named !== undefined ? `.${named}` : tag?.toLowerCase();
}

/** Steps of one comparison, at most: those that look around an element may look at a good many. */
const costOf = (parts: readonly CssNode[], count: number): number =>
  parts.reduce((sum, { type, name }) => {
    const looksAround = type === "Combinator" || type === "PseudoClassSelector";
    return sum + (name === "has" ? count : looksAround ? Math.min(count, reach) : 1);
  }, 0);
const reach = 50;

/** None is named by a selector that holds what a page on paper has not, such as `:hover`. */
function matcherOf(selector: string): (element: Element) => boolean {
  try {
    const named = compile(selector);
    return (element) => named(element as never);
  } catch {
    return () => false;
  }
}
