import { guessedCharset } from "./guess-charset.js";

/**
 * A document's bytes as text. What reads as UTF-8 is UTF-8, whatever its Content-Type or its own head says: servers are
 * often wrong about it. Else the charset that they name holds. Where they name none, or UTF-8, the text itself tells by
 * its letters; Windows-1252, the most used of the old ones, where it doesn't.
 */
export function decodeText(bytes: Uint8Array, type = ""): string {
  const wide = utf16Of(bytes, type);
  if (wide !== undefined) return new TextDecoder(wide).decode(bytes);
  const head = Buffer.from(bytes.subarray(0, 1024)).toString("latin1");
  const named =
    /charset=["']?([\w:-]+)/i.exec(type)?.[1] ??
    /^\s*<\?xml[^>]{0,100}\bencoding=["']([\w:-]+)/i.exec(head)?.[1] ??
    /<meta[^>]+charset=["']?([\w-]+)/i.exec(head)?.[1];
  // Every text in this has bytes that are UTF-8 too.
  const isShifted = /^iso-2022/i.test(named ?? "") || holdsShifts(bytes);
  const own = isShifted ? decodedAs(/^iso-2022/i.test(named ?? "") ? (named ?? "") : "iso-2022-jp", bytes) : undefined;
  return own ?? decodedAs("utf-8", bytes, true) ?? otherwise(bytes, named);
}

/**
 * The byte order of a text of UTF-16; undefined of any other. A mark at its beginning tells it, or that every other
 * byte of its ASCII characters is 0. A name that can be read byte by byte ("<meta charset=utf-16>") is wrong.
 */
export function utf16Of(bytes: Uint8Array, type = ""): "utf-16le" | "utf-16be" | undefined {
  const [first, second] = bytes;
  if (first === 0xff && second === 0xfe) return "utf-16le";
  if (first === 0xfe && second === 0xff) return "utf-16be";
  const head = bytes.subarray(0, wideHead);
  const counts = [0, 0];
  for (const [at, byte] of head.entries()) if (byte === 0) counts[at % 2] = (counts[at % 2] ?? 0) + 1;
  const [even = 0, odd = 0] = counts;
  const [fewer, more] = [Math.min(even, odd), Math.max(even, odd)];
  const isNamed = /charset=["']?(?:utf-16|ucs-2)/i.test(type);
  // Of Chinese text only the marks between its words are ASCII; read byte by byte it is not UTF-8.
  const isSparse = fewer === 0 && more > 0.02 * head.length && decodedAs("utf-8", bytes, true) === undefined;
  const isWide = isNamed
    ? more > 0
    : head.length >= leastWide && ((more > 0.3 * head.length && fewer < 0.02 * head.length) || isSparse);
  return isWide ? (even > odd ? "utf-16be" : "utf-16le") : undefined;
}

/** Bytes of a text that tell whether it is one of UTF-16, and so many at least. */
const [wideHead, leastWide] = [4096, 64];

/** ISO-2022-JP changes to Japanese characters, and back, by what is nowhere else. */
const holdsShifts = (bytes: Uint8Array): boolean => {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return ["\x1b$B", "\x1b$@"].some((shift) => text.includes(shift, 0, "latin1")) && text.includes("\x1b(", 0, "latin1");
};

function otherwise(bytes: Uint8Array, named: string | undefined): string {
  const isNamed = named !== undefined && !/^(?:utf-?8|utf-?16.{0,2}|ucs-?2)$/i.test(named);
  const other = isNamed ? decodedAs(named, bytes) : undefined;
  if (other !== undefined) return other;
  const text = new TextDecoder().decode(bytes);
  // Some broken characters in a text of UTF-8 do not make it another.
  if (isMostlyWhole(text)) return text;
  return decodedAs(guessedCharset(bytes), bytes) ?? text;
}

/** Whether a text has more characters beyond ASCII than broken ones. */
function isMostlyWhole(text: string): boolean {
  let [whole, broken] = [0, 0];
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === 0xfffd) broken += 1;
    else if (code >= 0x80) whole += 1;
  }
  return whole > broken;
}

/** Undefined for a charset that nobody knows, and for bytes that a `strict` one does not have. */
function decodedAs(charset: string, bytes: Uint8Array, strict = false): string | undefined {
  try {
    const decoder = new TextDecoder(charset, { fatal: strict });
    const text = decoder.decode(bytes);
    // Node 20 and 22 take it for Latin-1, which has control characters in place of quotation marks.
    return decoder.encoding === "windows-1252"
      ? text.replace(/[\x80-\x9f]/g, (control) => windows[control.charCodeAt(0) - 0x80] ?? control)
      : text;
  } catch {
    return undefined;
  }
}

const windows = "€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ";
