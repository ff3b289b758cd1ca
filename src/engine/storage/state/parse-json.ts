import { isLarge } from "../regular-file.js";

/**
 * Bytes of a list that are decoded and parsed at once. Pieces of 16 KB are mostly plain ASCII and short-lived; in
 * pieces of 256 KB the same file takes a third more time.
 */
const pieceLength = 16_000;

/**
 * Parses JSON, with or without a byte order mark. Of the bytes of a large file, the lists at the top level, in which
 * its records stand, are decoded a piece at a time: the text of 70 MB as a whole would take twice that.
 * @throws SyntaxError for what is not JSON.
 */
export function parseJson(content: string | Buffer, isMuch: boolean = isLarge(content.length)): unknown {
  const inPieces = isMuch && typeof content !== "string" ? parseLists(withoutMark(content)) : undefined;
  return inPieces ?? JSON.parse(plainText(content));
}

/** The text of a file without its byte order mark. */
export function plainText(content: string | Buffer): string {
  if (typeof content !== "string") return withoutMark(content).toString("utf8");
  return content.startsWith("\uFEFF") ? content.slice(1) : content;
}

const withoutMark = (bytes: Buffer): Buffer =>
  bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? bytes.subarray(3) : bytes;

const [quote, backslash, comma, openList, closeList, openObject, closeObject] = [...Buffer.from('"\\,[]{}')] as [
  number,
  ...number[],
];

/**
 * An object whose top-level lists are parsed by themselves. What is left of it, with the number of each list in the
 * list's place, is parsed too, so that every byte has gone through JSON.parse. Undefined for anything else, and where
 * something is wrong.
 */
function parseLists(bytes: Buffer): unknown {
  const lists: unknown[][] = [];
  const rest: string[] = [];
  let depth = 0;
  let copied = 0;
  try {
    for (let at = 0; at < bytes.length; at += 1) {
      const byte = bytes[at];
      if (byte === quote) at = endOfString(bytes, at);
      else if (byte === openList && depth === 1) {
        const { list, end } = parseTidyList(bytes, at) ?? parseList(bytes, at);
        rest.push(bytes.toString("utf8", copied, at + 1), String(lists.push(list) - 1));
        copied = end;
        at = end;
      } else if (byte === openObject || byte === openList) depth += 1;
      else if (byte === closeObject || byte === closeList) depth -= 1;
    }
    rest.push(bytes.toString("utf8", copied));
    const top: unknown = JSON.parse(rest.join(""));
    if (typeof top !== "object" || top === null || Array.isArray(top) || Object.hasOwn(top, "__proto__"))
      return undefined;
    for (const [name, value] of Object.entries(top))
      if (Array.isArray(value)) (top as Record<string, unknown>)[name] = lists[Number(value[0])];
    return top;
  } catch {
    return undefined;
  }
}

/**
 * The same of a list of objects as this program writes them, two spaces a level. No string of JSON holds a line end, so
 * the ends of its records are found by their bytes and nothing between is looked at, which is a tenth of the time.
 * Undefined where it is written otherwise: pieces cut at a wrong place are not whole, and JSON.parse says so.
 */
function parseTidyList(bytes: Buffer, start: number): { readonly list: unknown[]; readonly end: number } | undefined {
  const end = bytes.indexOf(tidyEnd, start);
  if (!bytes.subarray(start, start + tidyStart.length).equals(tidyStart) || end === -1) return undefined;
  const list: unknown[] = [];
  try {
    for (let from = start + 1; from < end;) {
      const between = bytes.indexOf(tidyBetween, from + pieceLength);
      const to = between === -1 || between > end ? end : between + recordEnd;
      const items = JSON.parse(`[${bytes.toString("utf8", from, to)}]`) as unknown[];
      for (const item of items) list.push(item);
      from = to + 1;
    }
  } catch {
    return undefined;
  }
  return { list, end: end + tidyEnd.length - 1 };
}

const [tidyStart, tidyBetween, tidyEnd] = ["[\n    {", "\n    },\n    {", "\n  ]"].map((text) => Buffer.from(text)) as [
  Buffer,
  Buffer,
  Buffer,
];
/** Where the comma stands in what lies between two records. */
const recordEnd = tidyBetween.indexOf(",");

/** The list that begins at `start`, and where its closing bracket stands. @throws SyntaxError */
function parseList(bytes: Buffer, start: number): { readonly list: unknown[]; readonly end: number } {
  const list: unknown[] = [];
  let depth = 0;
  let from = start + 1;
  const take = (to: number) => {
    const items = JSON.parse(`[${bytes.toString("utf8", from, to)}]`) as unknown[];
    for (const item of items) list.push(item);
    return items.length;
  };
  for (let at = from; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (byte === quote) at = endOfString(bytes, at);
    else if (byte === comma && depth === 0 && at - from > pieceLength) {
      if (take(at) === 0) break;
      from = at + 1;
    } else if (byte === openObject || byte === openList) depth += 1;
    else if (byte === closeObject || byte === closeList) {
      depth -= 1;
      if (depth >= 0) continue;
      // Nothing may stand between the last comma and the end of a list.
      if (byte !== closeList || (take(at) === 0 && from > start + 1)) break;
      return { list, end: at };
    }
  }
  throw new SyntaxError("a list does not end as one");
}

/** Where the string that begins at `start` has its closing quote. */
function endOfString(bytes: Buffer, start: number): number {
  let at = start + 1;
  while (at < bytes.length && bytes[at] !== quote) at += bytes[at] === backslash ? 2 : 1;
  return at;
}
