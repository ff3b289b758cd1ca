import { isLarge } from "../regular-file.js";

/**
 * Bytes of a list that are decoded and parsed in one call. With 16 KB, most strings are ASCII and short-lived; with 256
 * KB the same file takes a third more time.
 */
const pieceBytes = 16_000;

/**
 * Parses JSON, with or without a byte order mark. In a large file the lists at the top level, which contain the
 * records, are decoded piece by piece, because the whole text of 70 MB would need another 140 MB.
 * @throws SyntaxError for invalid JSON.
 */
export function parseJson(content: string | Buffer, useStreaming: boolean = isLarge(content.length)): unknown {
  const parsed = useStreaming && typeof content !== "string" ? parseLists(withoutByteOrderMark(content)) : undefined;
  return parsed ?? JSON.parse(plainText(content));
}

/** The text of a file without its byte order mark. */
export function plainText(content: string | Buffer): string {
  if (typeof content !== "string") return withoutByteOrderMark(content).toString("utf8");
  return content.startsWith("\uFEFF") ? content.slice(1) : content;
}

const withoutByteOrderMark = (bytes: Buffer): Buffer =>
  bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? bytes.subarray(3) : bytes;

const [quote, backslash, comma, openList, closeList, openObject, closeObject] = [...Buffer.from('"\\,[]{}')] as [
  number,
  ...number[],
];

/**
 * Parses an object whose top-level lists are parsed separately. In the rest of the text (`skeleton`), each list is
 * replaced by its number, and the skeleton is parsed too, so JSON.parse checks every byte. Undefined for anything but
 * an object, and for invalid JSON.
 */
function parseLists(bytes: Buffer): unknown {
  const lists: unknown[][] = [];
  const skeleton: string[] = [];
  let depth = 0;
  let copiedEnd = 0;
  try {
    for (let position = 0; position < bytes.length; position += 1) {
      const byte = bytes[position];
      if (byte === quote) position = endOfString(bytes, position);
      else if (byte === openList && depth === 1) {
        const { list, end } = parseIndentedList(bytes, position) ?? parseList(bytes, position);
        skeleton.push(bytes.toString("utf8", copiedEnd, position + 1), String(lists.push(list) - 1));
        copiedEnd = end;
        position = end;
      } else if (byte === openObject || byte === openList) depth += 1;
      else if (byte === closeObject || byte === closeList) depth -= 1;
    }
    skeleton.push(bytes.toString("utf8", copiedEnd));
    const top: unknown = JSON.parse(skeleton.join(""));
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
 * Parses a list of objects with the indentation that this program writes: two spaces per level. JSON strings contain no
 * line feeds, so a search for the separator bytes finds the ends of records, ten times faster than a scan of each byte.
 * Undefined for a list with another indentation: its pieces are cut at wrong places, and JSON.parse rejects them.
 */
function parseIndentedList(
  bytes: Buffer,
  start: number,
): { readonly list: unknown[]; readonly end: number } | undefined {
  const end = bytes.indexOf(listEnd, start);
  if (!bytes.subarray(start, start + listStart.length).equals(listStart) || end === -1) return undefined;
  const list: unknown[] = [];
  try {
    for (let itemsStart = start + 1; itemsStart < end;) {
      const separator = bytes.indexOf(recordSeparator, itemsStart + pieceBytes);
      const itemsEnd = separator === -1 || separator > end ? end : separator + commaOffset;
      const items = JSON.parse(`[${bytes.toString("utf8", itemsStart, itemsEnd)}]`) as unknown[];
      for (const item of items) list.push(item);
      itemsStart = itemsEnd + 1;
    }
  } catch {
    return undefined;
  }
  return { list, end: end + listEnd.length - 1 };
}

const [listStart, recordSeparator, listEnd] = ["[\n    {", "\n    },\n    {", "\n  ]"].map((text) =>
  Buffer.from(text),
) as [Buffer, Buffer, Buffer];
/** Offset of the comma in the separator. */
const commaOffset = recordSeparator.indexOf(",");

/** Parses the list that begins at `start`. Returns it with the position of its closing bracket. @throws SyntaxError */
function parseList(bytes: Buffer, start: number): { readonly list: unknown[]; readonly end: number } {
  const list: unknown[] = [];
  let depth = 0;
  let itemsStart = start + 1;
  const parseItems = (itemsEnd: number) => {
    const items = JSON.parse(`[${bytes.toString("utf8", itemsStart, itemsEnd)}]`) as unknown[];
    for (const item of items) list.push(item);
    return items.length;
  };
  for (let position = itemsStart; position < bytes.length; position += 1) {
    const byte = bytes[position];
    if (byte === quote) position = endOfString(bytes, position);
    else if (byte === comma && depth === 0 && position - itemsStart > pieceBytes) {
      if (parseItems(position) === 0) break;
      itemsStart = position + 1;
    } else if (byte === openObject || byte === openList) depth += 1;
    else if (byte === closeObject || byte === closeList) {
      depth -= 1;
      if (depth >= 0) continue;
      // A comma before the end of a list is invalid.
      if (byte !== closeList || (parseItems(position) === 0 && itemsStart > start + 1)) break;
      return { list, end: position };
    }
  }
  throw new SyntaxError("a list does not end with a closing bracket");
}

/** The position of the closing quote of the string that begins at `start`. */
function endOfString(bytes: Buffer, start: number): number {
  let position = start + 1;
  while (position < bytes.length && bytes[position] !== quote) position += bytes[position] === backslash ? 2 : 1;
  return position;
}
