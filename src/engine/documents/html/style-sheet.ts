import { parse, type Selector as Token } from "css-what";
import { takeOut } from "../text/document-text.js";

/** A rule of a style sheet that applies to a page on a screen or on paper. */
export interface StyleRule {
  readonly selectors: readonly Selector[];
  readonly declarations: ReadonlyMap<string, string>;
}

/** The declarations of each step of an animation, from its beginning to its end, by the animation's name. */
export type Keyframes = ReadonlyMap<string, readonly ReadonlyMap<string, string>[]>;

/** What a style sheet says of a page on a wide screen. */
export interface StyleSheet {
  readonly rules: readonly StyleRule[];
  readonly keyframes: Keyframes;
}

/** One selector as css-what parses it. */
export type Selector = readonly Token[];

const maxRules = 5000;
const maxNesting = 8;
const longestSelector = 1000;

/** What has been read so far. */
interface Found {
  readonly rules: StyleRule[];
  readonly keyframes: Map<string, readonly ReadonlyMap<string, string>[]>;
}

/**
 * The rules of a style sheet, those within other rules and within `@media`, `@supports` and `@layer` included where
 * they hold on a wide screen, and those of sheets that it imports by an address which holds the sheet itself. Rules for
 * what is not a page (`@font-face`), for paper or a narrow screen, and selectors with typing errors are left out.
 */
export function readStyleSheet(css: string): StyleSheet {
  const found: Found = { rules: [], keyframes: new Map() };
  readSheet(css, 0, found);
  return found;
}

function readSheet(css: string, depth: number, found: Found): void {
  let sheet = takeOut(css, "/*", "*/").text.trimStart();
  let at = 0;
  // Imports stand before all rules.
  for (let head = atImports.exec(sheet); head !== null; head = atImports.exec(sheet)) {
    at = atImports.lastIndex;
    const [, inQuotes, inApostrophes, plain, media = ""] = head;
    const imported = sheetInAddress(unescaped((inQuotes ?? inApostrophes ?? plain ?? "").trim()));
    if (imported !== "" && depth < maxNesting && isForScreen(media.replace(conditions, "")))
      readSheet(imported, depth + 1, found);
    atImports.lastIndex = at;
  }
  sheet = sheet.slice(at);
  readRules(sheet, undefined, depth, found);
}

const atImports =
  /\s*(?:@charset\s[^;{}]{0,60};|@layer\s[^;{}]{0,200};|@import\s*(?:url\(\s*)?(?:"([^"\n]*)"|'([^'\n]*)'|([^\s"')(][^\s"')]*))\s*\)?([^;{}"']{0,300})(?:;|$))/iy;
/** What an import says of layers and of what the browser can do. */
const conditions = /\b(?:layer(?:\([^()]{0,80}\))?|supports\((?:[^()]|\([^()]{0,80}\)){0,120}\))/gi;

/** A style sheet that stands in its address itself; others are not fetched, and empty here. */
export function sheetInAddress(address: string): string {
  const [, isBase64, data] = /^data:text\/css[^,]{0,100}?(;base64)?,(.*)$/is.exec(address) ?? [];
  if (data === undefined) return "";
  if (isBase64 !== undefined) return Buffer.from(data, "base64").toString("utf8");
  try {
    return decodeURIComponent(data);
  } catch {
    return data;
  }
}

/** `within`: the selector of the rule that the text stands in. */
function readRules(sheet: string, within: string | undefined, depth: number, found: Found): void {
  const { rules } = found;
  let from = 0;
  for (let at = 0; at < sheet.length && rules.length < maxRules; at += 1) {
    const character = sheet[at];
    if (character === "\\") at += 1;
    else if (character === '"' || character === "'") at = endOfString(sheet, at);
    else if (character === ";" || character === "}") from = at + 1;
    else if (character === "{") {
      const head = sheet.slice(from, Math.min(at, from + 4 * longestSelector)).trim();
      const end = endOfBlock(sheet, at + 1);
      const block = sheet.slice(at + 1, end);
      const scope = /^@scope\s{0,9}\(([^{}]*?)\)\s{0,9}(?:to\b[^{}]*)?$/i.exec(head)?.[1];
      const animation = /^@(?:-webkit-)?keyframes\s+["']?([^\s"']{1,80})/i.exec(head)?.[1];
      if (animation !== undefined) {
        if (found.keyframes.size < maxRules) found.keyframes.set(animation.toLowerCase(), framesOf(block));
      } else if (scope !== undefined) {
        if (depth < maxNesting) readRules(block, selectorWithin(within, scope), depth + 1, found);
      } else if (!head.startsWith("@")) readRule(selectorWithin(within, head), block, depth, found);
      else if (holds(head) && depth < maxNesting) {
        if (within === undefined) readRules(block, undefined, depth + 1, found);
        else readRule(within, block, depth, found);
      }
      at = end;
      from = end + 1;
    }
  }
}

function readRule(selector: string, block: string, depth: number, found: Found): void {
  if (selector.length > longestSelector) return;
  const selectors = splitAt(selector, ",").flatMap(parsed);
  if (selectors.length > 0) found.rules.push({ selectors, declarations: declarationsOf(block) });
  if (block.includes("{") && depth < maxNesting) readRules(block, selector, depth + 1, found);
}

/** Steps of one animation that are kept. */
const maxFrames = 100;

/** The steps of an animation in the order of time. Where it names no beginning or end, that is the element's own. */
function framesOf(block: string): ReadonlyMap<string, string>[] {
  const frames: { readonly at: number; readonly style: ReadonlyMap<string, string> }[] = [];
  for (let at = 0; at < block.length && frames.length < maxFrames;) {
    const open = block.indexOf("{", at);
    if (open === -1) break;
    const end = endOfBlock(block, open + 1);
    const style = declarationsOf(block.slice(open + 1, end));
    for (const step of block
      .slice(at, Math.min(open, at + longestSelector))
      .toLowerCase()
      .split(",")) {
      const name = step.trim();
      const share = name === "from" ? 0 : name === "to" ? 100 : Number.parseFloat(name);
      if (Number.isFinite(share)) frames.push({ at: share, style });
    }
    at = end + 1;
  }
  for (const at of [0, 100])
    if (frames.length > 0 && !frames.some((frame) => frame.at === at)) frames.push({ at, style: new Map() });
  return frames.toSorted((a, b) => a.at - b.at).map(({ style }) => style);
}

const selectorWithin = (within: string | undefined, head: string): string =>
  within === undefined
    ? head
    : splitAt(head, ",")
        .map((each) => (each.includes("&") ? each.replaceAll("&", `:is(${within})`) : `:is(${within}) ${each.trim()}`))
        .join(",");

/** Whether what stands within an at-rule applies. */
function holds(head: string): boolean {
  const media = /^@media\b(.*)$/is.exec(head)?.[1];
  return media === undefined ? /^@(?:supports|layer|container)\b/i.test(head) : isForScreen(media);
}

/** None for a selector that cannot be parsed. */
function parsed(selector: string): Selector[] {
  try {
    return parse(selector.trim()).filter((tokens) => !tokens.some(({ type }) => type === "pseudo-element"));
  } catch {
    return [];
  }
}

/**
 * Properties in lower case to their values, later ones over earlier ones but for `!important`. Escapes are written out.
 */
export function declarationsOf(block: string): ReadonlyMap<string, string> {
  const declarations = new Map<string, string>();
  for (const part of splitAt(takeOut(block, "/*", "*/").text, ";")) {
    // A nested rule, and what stands behind it.
    const plain = part.slice(part.lastIndexOf("}") + 1);
    const colon = plain.indexOf(":");
    if (colon === -1 || plain.includes("{")) continue;
    const value = unescaped(plain.slice(colon + 1).trim()).toLowerCase();
    declare(declarations, unescaped(plain.slice(0, colon).trim()).toLowerCase(), value);
  }
  return declarations;
}

const important = /\s?!\s?important$/;

/** Sets a property, unless it is set as important and this value is not. */
export function declare(declarations: Map<string, string>, name: string, value: string): void {
  if (important.test(declarations.get(name) ?? "") && !important.test(value)) return;
  declarations.set(name, value);
}

/** A value without its mark of importance. */
export const plainValue = (value: string): string => value.replace(important, "");

/** In CSS pixels: what most people read a page on. */
const screenWidth = 1280;

/** Whether a media query holds on a wide screen in light colours. What is not understood holds. */
const isForScreen = (queries: string): boolean =>
  queries
    .toLowerCase()
    .split(",")
    .some((query) => {
      const holdsAll = query.split(/\band\b/).every((part) => {
        const range = rangeOf(part);
        if (range !== undefined) return range;
        const width = /\b(min|max)-(?:device-)?width\s?:\s?(\d{1,6}(?:\.\d{1,6})?)\s?(px|em|rem)/.exec(part);
        if (width !== null) {
          const pixels = Number(width[2]) * (width[3] === "px" ? 1 : 16);
          return width[1] === "min" ? pixels <= screenWidth : pixels >= screenWidth;
        }
        return !/\b(?:print|speech|prefers-color-scheme\s?:\s?dark)\b/.test(part);
      });
      return /^\s?not\b/.test(query.replace(/\s+/g, " ")) ? !holdsAll : holdsAll;
    });

/** Whether `(width >= 600px)` or `(400px < width)` holds on the screen; undefined for another part of a query. */
function rangeOf(part: string): boolean | undefined {
  const length = String.raw`(\d{1,6}(?:\.\d{1,6})?)\s?(px|em|rem)`;
  const behind = new RegExp(String.raw`\bwidth\s?([<>]=?)\s?${length}`).exec(part);
  const before = new RegExp(String.raw`${length}\s?([<>]=?)\s?width\b`).exec(part);
  if (behind === null && before === null) return undefined;
  const pixels = (number = "", unit = "") => Number(number) * (unit === "px" ? 1 : 16);
  const isWider = (sign = "", than: number) => (sign.startsWith(">") ? screenWidth >= than : screenWidth <= than);
  return (
    (behind === null || isWider(behind[1], pixels(behind[2], behind[3]))) &&
    (before === null || !isWider(before[3], pixels(before[1], before[2])))
  );
}

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
    else if (character === "(" || character === "[" || character === "{") depth += 1;
    else if (character === ")" || character === "]" || character === "}") depth = Math.max(0, depth - 1);
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
