import type { CheerioAPI } from "cheerio";
import { compile } from "css-select";
import parse, { type CssNode } from "css-tree/parser";
import { type Element, elementsOf, type Node } from "./select.js";

/** The CSS properties of an element and their values, in lower case. */
export type Style = ReadonlyMap<string, string>;

/** The CSS properties that may hide an element. The others are not read. */
const relevantProperties = new Set(
  "display visibility opacity content-visibility font font-size color -webkit-text-fill-color background background-color background-clip -webkit-background-clip clip clip-path transform translate left top right bottom inset text-indent margin margin-left margin-top height width overflow animation animation-name".split(
    " ",
  ),
);
/** Maximum depth of nested rules. */
const maxDepth = 8;
/** Maximum number of steps to compare rules with elements. Long articles with long style sheets need a few million. */
const maxComparisons = 20_000_000;

/** A rule for one selector. */
interface Rule {
  readonly selector: string;
  readonly parts: readonly CssNode[];
  /** The specificity of the selector: 10,000 for each id, 100 for each class and 1 for each element name. */
  readonly specificity: number;
  readonly declarations: readonly Declaration[];
}
type Declaration = readonly [property: string, value: string, isImportant: boolean];

/** The style of each element that has one, from the page's style sheets and from the attributes of the element. */
export function stylesOf(page: CheerioAPI): ReadonlyMap<Node, Style> {
  const styles = new Map<Node, Map<string, string>>();
  /** Elements' numbers and properties that were set by an "!important" declaration, such as "12 color". */
  const importantKeys = new Set<string>();
  const variables = new Map<string, string>();
  const elementNumbers = new Map<Node, number>();
  const addDeclarations = (element: Element, declarations: readonly Declaration[]): void => {
    const style = styles.get(element) ?? new Map<string, string>();
    styles.set(element, style);
    if (!elementNumbers.has(element)) elementNumbers.set(element, elementNumbers.size);
    for (const [property, value, isImportant] of declarations) {
      const key = `${elementNumbers.get(element)} ${property}`;
      if (importantKeys.has(key) && !isImportant) continue;
      if (isImportant) importantKeys.add(key);
      if (property.startsWith("--")) variables.set(property, value);
      else style.set(property, value);
    }
  };
  const elements = elementsOf(page, "*");
  for (const element of elements) {
    const { color, bgcolor } = element.attribs;
    if (bgcolor !== undefined) addDeclarations(element, [["background-color", bgcolor.toLowerCase(), false]]);
    if (color !== undefined && element.name === "font")
      addDeclarations(element, [["color", color.toLowerCase(), false]]);
  }
  const rules = elementsOf(page, "style").flatMap((sheet) =>
    rulesIn(parseCss(page(sheet).text(), "stylesheet"), [""], 0),
  );
  applyRules(
    elements,
    rules.toSorted((a, b) => a.specificity - b.specificity),
    addDeclarations,
  );
  for (const element of elements) {
    const { style } = element.attribs;
    if (style !== undefined) addDeclarations(element, declarationsIn(parseCss(style, "declarationList")));
  }
  for (const style of styles.values())
    for (const [property, value] of style)
      if (value.includes("var("))
        style.set(
          property,
          value.replace(/var\((--[\w-]+)(?:[^\w()-][^()]*)?\)/g, (_, name: string) => variables.get(name) ?? ""),
        );
  return styles;
}

/** Parses CSS. Values and selectors stay as text. If there are errors, the correct parts are returned. */
const parseCss = (css: string, context: string): CssNode =>
  parse(css, { context, parseValue: false, parseRulePrelude: false, parseAtrulePrelude: false });

const childrenOf = (node: CssNode | null | undefined): CssNode[] => [...(node?.children ?? [])];
const textOf = (value: CssNode | string | null | undefined): string =>
  typeof value === "object" && value !== null ? textOf(value.value) : (value ?? "");

/**
 * The rules in a block that apply on a wide screen. `outerSelectors` are the selectors of the rule around the block; ""
 * for a block outside of rules.
 */
function rulesIn(block: CssNode | null | undefined, outerSelectors: readonly string[], depth: number): Rule[] {
  if (depth > maxDepth) return [];
  return childrenOf(block).flatMap((node) => {
    // css-tree does not parse a nested rule that does not begin with "&".
    if (node.type === "Raw" && depth > 0)
      return rulesIn(parseCss(textOf(node), "stylesheet"), outerSelectors, depth + 1);
    if (node.type === "Atrule") {
      const applies = /^(?:supports|layer|container)$/.test(node.name ?? "") || isForScreen(node);
      return applies ? [...rulesOf(outerSelectors, node.block), ...rulesIn(node.block, outerSelectors, depth + 1)] : [];
    }
    if (node.type !== "Rule") return [];
    const selectors = selectorsOf(textOf(node.prelude)).flatMap((selector) =>
      outerSelectors.map((outer) => (outer === "" ? selector : combineSelectors(outer, selector))),
    );
    return [...rulesOf(selectors, node.block), ...rulesIn(node.block, selectors, depth + 1)];
  });
}

const combineSelectors = (outer: string, selector: string): string =>
  selector.includes("&") ? selector.replaceAll("&", `:is(${outer})`) : `:is(${outer}) ${selector}`;

const maxSelectorChars = 2000;
/** Maximum number of selectors of one rule. */
const maxSelectors = 50;

/** Splits a list of selectors at its commas, except commas in brackets. */
function selectorsOf(prelude: string): string[] {
  if (prelude.length > maxSelectorChars) return [];
  let depth = 0;
  const characters = Array.from(prelude, (character) => {
    if (character === "(" || character === "[") depth += 1;
    if (character === ")" || character === "]") depth -= 1;
    return character === "," && depth === 0 ? "\0" : character;
  });
  return characters.join("").split("\0").slice(0, maxSelectors);
}

/** One rule for each selector, with the declarations in a block. */
function rulesOf(selectors: readonly string[], block: CssNode | null | undefined): Rule[] {
  const declarations = declarationsIn(block);
  if (declarations.length === 0) return [];
  return selectors.flatMap((selector) => {
    const parts = partsOf(selector);
    return parts.length === 0 ? [] : [{ selector, parts, specificity: specificityOf(parts), declarations }];
  });
}

/** The parts of a selector; empty if it has a syntax error. */
function partsOf(selector: string): CssNode[] {
  try {
    return selector.length > maxSelectorChars ? [] : childrenOf(parse(selector, { context: "selector" }));
  } catch {
    return [];
  }
}

function declarationsIn(block: CssNode | null | undefined): Declaration[] {
  return childrenOf(block).flatMap(({ type, property = "", value, important }) => {
    const name = property.toLowerCase();
    if (type !== "Declaration" || !(relevantProperties.has(name) || name.startsWith("--"))) return [];
    const valueWithoutComments = textOf(value)
      .replace(/\/\*.*?\*\//gs, "")
      .replace(/\s+/g, " ");
    const isImportant = important !== undefined && important !== false;
    return [[name, valueWithoutComments.trim().toLowerCase().slice(0, 300), isImportant]];
  });
}

/** The specificity of a selector. If two rules apply to an element, the one with the higher specificity wins. */
function specificityOf(parts: readonly CssNode[]): number {
  return parts.reduce((sum, part) => {
    if (part.type === "IdSelector") return sum + 10_000;
    if (part.type === "TypeSelector") return sum + (part.name === "*" ? 0 : 1);
    if (part.type !== "PseudoClassSelector") return sum + (/^(?:Class|Attribute)/.test(part.type) ? 100 : 0);
    const inner = childrenOf(part).map((argument) => specificityOf(childrenOf(argument)));
    return sum + (part.name === "where" ? 0 : inner.length > 0 ? Math.max(...inner) : 100);
  }, 0);
}

/** The width of a usual screen, in CSS pixels. */
const screenWidthPx = 1280;

const mediaWidth = /\b(min|max)-width\s?:\s?(\d{1,6})(px|r?em)|\bwidth\s?([<>])=?\s?(\d{1,6})(px|r?em)/g;

/** Whether a media query is true on a wide screen with light colours. Unknown conditions count as true. */
const isForScreen = ({ name, prelude }: CssNode): boolean =>
  name === "media" &&
  textOf(prelude)
    .toLowerCase()
    .split(",")
    .some((query) => {
      const hasRightWidth = [...query.matchAll(mediaWidth)].every(
        ([, bound, boundNumber, boundUnit, sign, signNumber, signUnit]) => {
          const pixels = Number(boundNumber ?? signNumber) * ((boundUnit ?? signUnit) === "px" ? 1 : 16);
          return bound === "min" || sign === ">" ? screenWidthPx >= pixels : screenWidthPx <= pixels;
        },
      );
      const isTrue = hasRightWidth && !/\b(?:print|speech|prefers-color-scheme\s?:\s?dark)\b/.test(query);
      return /^\s*not\b/.test(query) ? !isTrue : isTrue;
    });

/** Calls `addDeclarations` for each rule and each element that it applies to, up to a maximum number of comparisons. */
function applyRules(
  elements: readonly Element[],
  rules: readonly Rule[],
  addDeclarations: (element: Element, declarations: readonly Declaration[]) => void,
): void {
  const elementsByKey = new Map<string, Element[]>();
  for (const element of elements) {
    const { id, class: classes = "" } = element.attribs;
    for (const key of new Set([element.name, `#${id}`, ...classes.split(/\s+/).map((name) => `.${name}`)])) {
      const sameKey = elementsByKey.get(key);
      if (sameKey === undefined) elementsByKey.set(key, [element]);
      else sameKey.push(element);
    }
  }
  let remainingComparisons = maxComparisons;
  for (const { selector, parts, declarations } of rules) {
    const key = keyOf(parts);
    const candidates = key === undefined ? elements : (elementsByKey.get(key) ?? []);
    // A rule that needs too many comparisons is skipped, so that the others can be applied.
    const comparisons = candidates.length * maxComparisonsOf(parts, elements.length);
    if (comparisons > remainingComparisons) continue;
    remainingComparisons -= comparisons;
    const matches = matcherOf(selector);
    for (const element of candidates) if (matches(element)) addDeclarations(element, declarations);
  }
}

/**
 * The id, a class or the element name in the last part of a selector. All elements that the selector matches have it.
 */
function keyOf(parts: readonly CssNode[]): string | undefined {
  const lastPart = parts.slice(parts.findLastIndex(({ type }) => type === "Combinator") + 1);
  const nameIn = (wantedType: string) => lastPart.find(({ type, name }) => type === wantedType && name !== "*")?.name;
  const [id, className, tag] = [nameIn("IdSelector"), nameIn("ClassSelector"), nameIn("TypeSelector")];
  return id !== undefined ? `#${id}` : className !== undefined ? `.${className}` : tag?.toLowerCase();
}

/** Maximum number of elements that are compared to test one element: some selectors also test elements around it. */
const maxComparisonsOf = (parts: readonly CssNode[], elementCount: number): number =>
  parts.reduce((sum, { type, name }) => {
    const testsOthers = type === "Combinator" || type === "PseudoClassSelector";
    return sum + (name === "has" ? elementCount : testsOthers ? Math.min(elementCount, maxNeighbours) : 1);
  }, 0);
const maxNeighbours = 50;

/** Tests whether a selector matches an element. False for selectors with a state of the page, such as `:hover`. */
function matcherOf(selector: string): (element: Element) => boolean {
  try {
    const matches = compile(selector);
    return (element) => matches(element as never);
  } catch {
    return () => false;
  }
}
