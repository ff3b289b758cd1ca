import { gunzipSync } from "node:zlib";
import { decodeText } from "../text/decode.js";

/** Maximum size of an unpacked e-print. Usually it is a few megabytes, with figures more. A zip bomb is larger. */
const maxUnpackedBytes = 128 * 1024 * 1024;
const maxFileBytes = 10 * 1024 * 1024;
const maxFiles = 5000;
/** File names with text. Figures, styles and data are not read. */
const textFileName = /\.(?:tex|ltx|latex|bbl|txt)$/i;

/** The text of each source file of an e-print, by path. They are only in memory, and never written to the disk. */
export type SourceFiles = ReadonlyMap<string, string>;

export const isGzip = (bytes: Uint8Array): boolean => bytes[0] === 0x1f && bytes[1] === 0x8b;

/**
 * Unpacks an e-print: a tar archive or a single file, with or without gzip. Links, devices, and paths outside the
 * archive are skipped.
 * @returns the files; or the reason, if it is damaged, too large, or has no LaTeX.
 */
export function unpackSource(bytes: Uint8Array): { readonly files: SourceFiles } | { readonly reason: string } {
  let unpacked = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (isGzip(bytes)) {
    try {
      unpacked = gunzipSync(bytes, { maxOutputLength: maxUnpackedBytes });
    } catch (error) {
      const isTooLarge = error instanceof RangeError;
      return {
        reason: isTooLarge
          ? `The source unpacks to more than ${maxUnpackedBytes / 1024 / 1024} MB.`
          : "The source's archive is damaged; download it again.",
      };
    }
  }
  if (isTar(unpacked)) return { files: filesOfTar(unpacked) };
  const singleFile = unpacked.subarray(0, maxFileBytes);
  const text = textOf(singleFile, charsetOf(singleFile));
  return /\\(?:documentclass|documentstyle|begin\s*\{document\})/.test(text)
    ? { files: new Map([["main.tex", text]]) }
    : { reason: "The source contains no LaTeX." };
}

const untilNul = (text: string): string => text.split("\0", 1)[0] ?? "";

/** A tar archive consists of blocks of this size: for each file a header, and then the content. */
const blockBytes = 512;
const headerField = (header: Buffer, start: number, length: number): string =>
  untilNul(header.toString("latin1", start, start + length));

/** Whether the first header has the right checksum: the sum of its bytes, with spaces for the checksum itself. */
function isTar(bytes: Buffer): boolean {
  if (bytes.length < blockBytes) return false;
  let sum = 0;
  for (let index = 0; index < blockBytes; index += 1) sum += index >= 148 && index < 156 ? 32 : (bytes[index] ?? 0);
  return sum === Number.parseInt(headerField(bytes, 148, 8).trim(), 8);
}

function filesOfTar(bytes: Buffer): SourceFiles {
  const files = new Map<string, Buffer>();
  let longName: string | undefined;
  for (let offset = 0; offset + blockBytes <= bytes.length && files.size < maxFiles;) {
    const header = bytes.subarray(offset, offset + blockBytes);
    if (header[0] === 0) break;
    const size = Number.parseInt(headerField(header, 124, 12).trim() || "0", 8);
    if (!Number.isSafeInteger(size) || size < 0) break;
    const contentStart = offset + blockBytes;
    const content = bytes.subarray(contentStart, contentStart + Math.min(size, maxFileBytes));
    offset = contentStart + Math.ceil(size / blockBytes) * blockBytes;
    // Entries of type "L" and "x" contain the long name of the next file.
    const type = String.fromCharCode(header[156] ?? 0);
    if (type === "L") longName = untilNul(content.toString("utf8"));
    if (type === "x") longName = /(?:^|\n)\d+ path=([^\n]*)\n/.exec(content.toString("utf8"))?.[1];
    if (type === "L" || type === "x" || type === "g") continue;

    const prefix = headerField(header, 257, 5) === "ustar" ? headerField(header, 345, 155) : "";
    const shortName = headerField(header, 0, 100);
    const name = longName ?? (prefix === "" ? shortName : `${prefix}/${shortName}`);
    longName = undefined;
    const path = pathWithin(name);
    // Only regular files are read, because a link could lead to a file of the user.
    const isRegularFile = type === "0" || type === "\0";
    if (isRegularFile && path !== undefined && textFileName.test(path) && size <= maxFileBytes)
      files.set(path, content);
  }
  let charset: string | undefined;
  for (const content of files.values()) charset ??= charsetOf(content);
  return new Map([...files].map(([path, content]) => [path, textOf(content, charset)]));
}

/** A path in the archive without "." and "..". Undefined if it leads out of the archive. */
export function pathWithin(name: string): string | undefined {
  if (name.startsWith("/") || name.startsWith("\\") || /^[a-z]:/i.test(name) || name.includes("\0")) return undefined;
  const parts: string[] = [];
  for (const part of name.split(/[\\/]/)) {
    if (part === "..") {
      if (parts.pop() === undefined) return undefined;
    } else if (part !== "" && part !== ".") parts.push(part);
  }
  return parts.length === 0 ? undefined : parts.join("/");
}

/** The standard names of charsets for which LaTeX has names of its own. */
const standardCharsets: Readonly<Record<string, string>> = {
  ansinew: "windows-1252",
  latin5: "windows-1254",
  latin9: "iso-8859-15",
  latin10: "iso-8859-16",
  applemac: "macintosh",
  maccyr: "x-mac-cyrillic",
  "koi8-ru": "koi8-u",
  cp866: "ibm866",
};

/** The charset that a file states. It is valid for all files of the source. */
function charsetOf(bytes: Buffer): string | undefined {
  const match =
    /(?:^|\n)[^%\n]*\\(?:usepackage\s{0,9}\[\s{0,9}([\w-]+)\s{0,9}\]\s{0,9}\{inputenc\}|inputencoding\{([\w-]+)\})/.exec(
      bytes.toString("latin1"),
    );
  const latexName = match?.[1] ?? match?.[2];
  return latexName === undefined ? undefined : (standardCharsets[latexName] ?? latexName);
}

const textOf = (bytes: Uint8Array, charset: string | undefined): string =>
  decodeText(bytes, charset === undefined ? "" : `charset=${charset}`);
