import { takeOut } from "../text/paper-text.js";

/** A rule of a style sheet that applies to a page on a screen or on paper. */
export interface StyleRule {
  readonly selectors: readonly Selector[];
  readonly declarations: ReadonlyMap<string, string>;
}

/** Compounds from left to right; each but the first stands below the one before it. */
export type Selector = readonly Compound[];

interface Compound {
  /** How it stands to the compound before it. */
  readonly isChild: boolean;
  /** In lower case. */
  readonly tag?: string;
  readonly id?: string;
  readonly classes: readonly string[];
  readonly attributes: readonly { readonly name: string; readonly operator: string; readonly value: string }[];
}

const maxRules = 5000;
const maxCompounds = 8;
const longestSelector = 1000;

/**
 * The rules of a style sheet, those within `@media`, `@supports` and `@layer` included where they hold on a wide screen. Rules for what
 * is not a page (`@font-face`), for paper or a narrow screen, pseudo classes
 * and selectors that are not understood are left out. One pass; nothing throws.
 */
export function styleRules(css: string): StyleRule[] {
  const sheet = takeOut(css, "/*", "*/").text;
  const rules: StyleRule[] = [];
  /** Whether each open block is an at-rule with rules inside. */
  const open: boolean[] = [];
  let from = 0;
  for (let at = 0; at < sheet.length && rules.length < maxRules; at += 1) {
    const character = sheet[at];
    if (character === "\\") at += 1;
    else if (character === '"' || character === "'") at = endOfString(sheet, at);
    else if (character === ";" && (open.length === 0 || open.at(-1) === true)) from = at + 1;
    else if (character === "{") {
      const head = sheet.slice(from, Math.min(at, from + 4 * longestSelector)).trim();
      if (head.startsWith("@")) {
        const media = /^@media\b(.*)$/is.exec(head)?.[1];
        open.push(media === undefined ? /^@(?:supports|layer|container)\b/i.test(head) : isForScreen(media));
        from = at + 1;
        continue;
      }
      // A rule's own block: up to its end, or to that of the sheet.
      const end = endOfBlock(sheet, at + 1);
      if (open.every(Boolean) && head.length <= longestSelector) {
        const selectors = splitAt(head, ",")
          .map(selectorOf)
          .filter((selector) => selector !== undefined);
        if (selectors.length > 0) rules.push({ selectors, declarations: declarationsOf(sheet.slice(at + 1, end)) });
      }
      at = end;
      from = end + 1;
    } else if (character === "}") {
      open.pop();
      from = at + 1;
    }
  }
  return rules;
}

/** Properties in lower case to their values, later ones over earlier ones but for `!important`. Escapes are written out. */
export function declarationsOf(block: string): ReadonlyMap<string, string> {
  const declarations = new Map<string, string>();
  const important = new Set<string>();
  for (const part of splitAt(takeOut(block, "/*", "*/").text, ";")) {
    const colon = part.indexOf(":");
    if (colon === -1) continue;
    const name = unescaped(part.slice(0, colon).trim()).toLowerCase();
    const given = unescaped(part.slice(colon + 1).trim()).toLowerCase();
    const isImportant = /!\s?important$/.test(given);
    if (important.has(name) && !isImportant) continue;
    if (isImportant) important.add(name);
    declarations.set(name, given.replace(/\s?!\s?important$/, ""));
  }
  return declarations;
}

/** In CSS pixels: what most people read a page on. */
const screenWidth = 1280;

/** Whether a media query holds on a wide screen in light colours. What is not understood holds. */
const isForScreen = (queries: string): boolean =>
  queries
    .toLowerCase()
    .split(",")
    .some((query) => {
      const holdsAll = query.split(/\band\b/).every((part) => {
        const width = /\b(min|max)-(?:device-)?width\s?:\s?(\d{1,6}(?:\.\d{1,6})?)\s?(px|em|rem)/.exec(part);
        if (width !== null) {
          const pixels = Number(width[2]) * (width[3] === "px" ? 1 : 16);
          return width[1] === "min" ? pixels <= screenWidth : pixels >= screenWidth;
        }
        return !/\b(?:print|speech|prefers-color-scheme\s?:\s?dark)\b/.test(part);
      });
      return /^\s?not\b/.test(query.replace(/\s+/g, " ")) ? !holdsAll : holdsAll;
    });

function endOfString(text: string, at: number): number {
  const quote = text[at];
  for (let next = at + 1; next < text.length; next += 1) {
    if (text[next] === "\\") next += 1;
    else if (text[next] === quote || text[next] === "\n") return next;
  }
  return text.length;
}

/** Blocks within a rule (nested rules) belong to it. */
function endOfBlock(text: string, from: number): number {
  let depth = 0;
  for (let at = from; at < text.length; at += 1) {
    const character = text[at];
    if (character === "\\") at += 1;
    else if (character === '"' || character === "'") at = endOfString(text, at);
    else if (character === "{") depth += 1;
    else if (character === "}" && (depth -= 1) < 0) return at;
  }
  return text.length;
}

/** Parts between marks that stand in no string, bracket or escape. */
function splitAt(text: string, mark: string): string[] {
  const parts: string[] = [];
  let depth = 0;
  let from = 0;
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at];
    if (character === "\\") at += 1;
    else if (character === '"' || character === "'") at = endOfString(text, at);
    else if (character === "(" || character === "[") depth += 1;
    else if (character === ")" || character === "]") depth = Math.max(0, depth - 1);
    else if (character === mark && depth === 0) {
      parts.push(text.slice(from, at));
      from = at + 1;
    }
  }
  return [...parts, text.slice(from)];
}

/** `\64 isplay` is `display`. White space becomes one space. */
const unescaped = (text: string): string =>
  text
    .replace(/\\(?:([\da-f]{1,6})\s?|([^\n]))/gi, (_, code: string | undefined, other: string | undefined) => {
      if (code === undefined) return other ?? "";
      const point = Number.parseInt(code, 16);
      return point > 0 && point <= 0x10ffff && (point < 0xd800 || point > 0xdfff)
        ? String.fromCodePoint(point)
        : "\ufffd";
    })
    .replace(/\s+/g, " ");

const name = String.raw`(?:[\w-]|[^\x00-\x7f]|\\[\da-fA-F]{1,6}\s?|\\[^\n\da-fA-F])+`;
const simple = new RegExp(
  String.raw`(?<space>\s*>\s*|\s+)|\*|(?<root>:root)|(?<tag>${name})|#(?<id>${name})|\.(?<class>${name})|\[\s*(?<attribute>${name})\s*(?:(?<operator>[~|^$*]?=)\s*(?:"(?<double>[^"]*)"|'(?<single>[^']*)'|(?<bare>${name}))\s*[is]?\s*)?\]`,
  "y",
);

/** Undefined for a selector that is not understood: pseudo classes, siblings, typing errors. */
function selectorOf(text: string): Selector | undefined {
  const source = text.trim();
  if (source === "") return undefined;
  const compounds: (Compound & {
    tag?: string;
    id?: string;
    classes: string[];
    attributes: Compound["attributes"][number][];
  })[] = [];
  let next: { isChild: boolean } | undefined = { isChild: false };
  simple.lastIndex = 0;
  while (simple.lastIndex < source.length) {
    const groups = simple.exec(source)?.groups;
    if (groups === undefined) return undefined;
    if (groups["space"] !== undefined) {
      if (next !== undefined) return undefined;
      next = { isChild: groups["space"].includes(">") };
      continue;
    }
    if (next !== undefined) {
      if (compounds.length === maxCompounds) return undefined;
      compounds.push({ isChild: next.isChild, classes: [], attributes: [] });
      next = undefined;
    }
    const own = compounds.at(-1);
    if (own === undefined) return undefined;
    if (groups["root"] !== undefined) own.tag = "html";
    if (groups["tag"] !== undefined) own.tag = unescaped(groups["tag"]).toLowerCase();
    if (groups["id"] !== undefined) own.id = unescaped(groups["id"]);
    if (groups["class"] !== undefined) own.classes.push(unescaped(groups["class"]));
    if (groups["attribute"] !== undefined)
      own.attributes.push({
        name: unescaped(groups["attribute"]).toLowerCase(),
        operator: groups["operator"] ?? "",
        value: unescaped(groups["double"] ?? groups["single"] ?? groups["bare"] ?? ""),
      });
  }
  return next === undefined ? compounds : undefined;
}
