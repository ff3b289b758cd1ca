import { guessCharset } from "./guess-charset.js";

/**
 * Decodes the bytes of a document. Valid UTF-8 is UTF-8, also if the Content-Type or the document states another
 * charset, because servers are often wrong. Otherwise the stated charset is used. If the document states none, or
 * UTF-8, the charset is guessed from its characters.
 */
export function decodeText(bytes: Uint8Array, type = ""): string {
  const utf16 = utf16Of(bytes, type);
  if (utf16 !== undefined) return new TextDecoder(utf16).decode(bytes);
  const head = Buffer.from(bytes.subarray(0, 1024)).toString("latin1");
  const statedCharset =
    /charset=["']?([\w:-]+)/i.exec(type)?.[1] ??
    /^\s*<\?xml[^>]{0,100}\bencoding=["']([\w:-]+)/i.exec(head)?.[1] ??
    /<meta[^>]+charset=["']?([\w-]+)/i.exec(head)?.[1];
  // ISO-2022 is tested before UTF-8, because its bytes are always valid UTF-8 too.
  const isStatedIso2022 = /^iso-2022/i.test(statedCharset ?? "");
  const isIso2022 = isStatedIso2022 || hasIso2022Shifts(bytes);
  const iso2022Text = isIso2022 ? tryDecode(isStatedIso2022 ? (statedCharset ?? "") : "iso-2022-jp", bytes) : undefined;
  return iso2022Text ?? tryDecode("utf-8", bytes, true) ?? decodeOldCharset(bytes, statedCharset);
}

/**
 * The byte order of a text in UTF-16; undefined for other texts. It has a byte order mark, or every second byte of its
 * ASCII characters is 0. A charset that is stated in the document's own text is ignored: if its bytes can be read as
 * ASCII, the text is not UTF-16.
 */
export function utf16Of(bytes: Uint8Array, type: string): "utf-16le" | "utf-16be" | undefined {
  const [first, second] = bytes;
  if (first === 0xff && second === 0xfe) return "utf-16le";
  if (first === 0xfe && second === 0xff) return "utf-16be";
  const head = bytes.subarray(0, utf16SampleBytes);
  const zeroCounts = [0, 0];
  for (const [index, byte] of head.entries()) if (byte === 0) zeroCounts[index % 2] = (zeroCounts[index % 2] ?? 0) + 1;
  const [evenZeros = 0, oddZeros = 0] = zeroCounts;
  const [fewer, more] = [Math.min(evenZeros, oddZeros), Math.max(evenZeros, oddZeros)];
  const isStated = /charset=["']?(?:utf-16|ucs-2)/i.test(type);
  // In Chinese text, only the punctuation is ASCII, so there are few zeros. But its bytes are not valid UTF-8.
  const isChinese = fewer === 0 && more > 0.02 * head.length && tryDecode("utf-8", bytes, true) === undefined;
  const isUtf16 = isStated
    ? more > 0
    : head.length >= minUtf16Bytes && ((more > 0.3 * head.length && fewer < 0.02 * head.length) || isChinese);
  return isUtf16 ? (evenZeros > oddZeros ? "utf-16be" : "utf-16le") : undefined;
}

/** Number of bytes that are tested for UTF-16. */
const utf16SampleBytes = 4096;
/** A shorter text is not recognised as UTF-16 by its zeros alone. */
const minUtf16Bytes = 64;

/** Whether a text contains the control sequences with which ISO-2022-JP changes to Japanese characters and back. */
const hasIso2022Shifts = (bytes: Uint8Array): boolean => {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return ["\x1b$B", "\x1b$@"].some((shift) => text.includes(shift, 0, "latin1")) && text.includes("\x1b(", 0, "latin1");
};

/** Decodes a text that is not valid UTF-8: in the stated charset, as damaged UTF-8, or in a guessed charset. */
function decodeOldCharset(bytes: Uint8Array, statedCharset: string | undefined): string {
  const isOldCharset = statedCharset !== undefined && !/^(?:utf-?8|utf-?16.{0,2}|ucs-?2)$/i.test(statedCharset);
  const statedText = isOldCharset ? tryDecode(statedCharset, bytes) : undefined;
  if (statedText !== undefined) return statedText;
  const utf8Text = new TextDecoder().decode(bytes);
  // A few damaged characters do not mean that it is not UTF-8.
  if (isMostlyValid(utf8Text)) return utf8Text;
  return tryDecode(guessCharset(bytes), bytes) ?? utf8Text;
}

/** Whether a decoded text has more valid characters outside ASCII than damaged ones. */
function isMostlyValid(text: string): boolean {
  let [validCount, damagedCount] = [0, 0];
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (code === 0xfffd) damagedCount += 1;
    else if (code >= 0x80) validCount += 1;
  }
  return validCount > damagedCount;
}

/** The decoded text. Undefined if the charset is not known, or if `isStrict` and the bytes are not valid in it. */
function tryDecode(charset: string, bytes: Uint8Array, isStrict = false): string | undefined {
  try {
    const decoder = new TextDecoder(charset, { fatal: isStrict });
    const text = decoder.decode(bytes);
    // Node 20 and 22 decode windows-1252 as Latin-1, which has control characters in place of quotation marks.
    return decoder.encoding === "windows-1252"
      ? text.replace(/[\x80-\x9f]/g, (control) => windows1252[control.charCodeAt(0) - 0x80] ?? control)
      : text;
  } catch {
    return undefined;
  }
}

/** The characters 0x80 to 0x9f of windows-1252. */
export const windows1252 = "€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ";
