/**
 * A document's bytes as text. What reads as UTF-8 is UTF-8, whatever its Content-Type or its own head says: servers are
 * often wrong about it. Else the charset that they name holds, and Windows-1252, the most used of the old ones, where
 * they name none.
 */
export function decodeText(bytes: Uint8Array, type = ""): string {
  const head = Buffer.from(bytes.subarray(0, 1024)).toString("latin1");
  const named =
    /^(?:\xff\xfe|\xfe\xff)/.exec(head)?.[0].replace("\xff\xfe", "utf-16le").replace("\xfe\xff", "utf-16be") ??
    /charset=["']?([\w:-]+)/i.exec(type)?.[1] ??
    /^\s*<\?xml[^>]{0,100}\bencoding=["']([\w:-]+)/i.exec(head)?.[1] ??
    /<meta[^>]+charset=["']?([\w-]+)/i.exec(head)?.[1];
  // Every text in these has bytes that are UTF-8 too.
  const own = named !== undefined && /^(?:utf-16|ucs-2|iso-2022)/i.test(named) ? decodedAs(named, bytes) : undefined;
  return own ?? decodedAs("utf-8", bytes, true) ?? otherwise(bytes, named);
}

function otherwise(bytes: Uint8Array, named: string | undefined): string {
  const isNamed = named !== undefined && !/^utf-?8$/i.test(named);
  const other = isNamed ? decodedAs(named, bytes) : undefined;
  if (other !== undefined) return other;
  const text = new TextDecoder().decode(bytes);
  // One broken character in a text of UTF-8 does not make it another.
  return /[^\x00-\x7f\ufffd]/.test(text) ? text : (decodedAs("windows-1252", bytes) ?? text);
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
