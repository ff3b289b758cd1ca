import { gunzipSync } from "node:zlib";
import { decodeText } from "../text/decode.js";

/**
 * An e-print unpacks to a few megabytes; its figures, which are skipped, to more. A bomb is larger than any of them.
 */
const maxUnpacked = 128 * 1024 * 1024;
const maxFile = 10 * 1024 * 1024;
const maxFiles = 5000;
/** What a text is made of; figures, styles and data are left alone. */
const sourceEnding = /\.(?:tex|ltx|latex|bbl|txt)$/i;

/** The source files of an e-print by their paths, in memory: nothing of it is written to the disk. */
export type SourceFiles = ReadonlyMap<string, string>;

export const isGzip = (bytes: Uint8Array): boolean => bytes[0] === 0x1f && bytes[1] === 0x8b;

/**
 * Unpacks an e-print: a gzipped tar, a gzipped single file, or either without gzip. Links, devices and names that lead
 * out of the archive are skipped. `reason` where it is not such a thing or unpacks to more than any article does.
 */
export function unpackSource(bytes: Uint8Array): { readonly files: SourceFiles } | { readonly reason: string } {
  let plain = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (isGzip(bytes)) {
    try {
      plain = gunzipSync(bytes, { maxOutputLength: maxUnpacked });
    } catch (error) {
      const isBomb = error instanceof RangeError;
      return {
        reason: isBomb
          ? `The source unpacks to more than ${maxUnpacked / 1024 / 1024} MB.`
          : "The source's archive is damaged; download it again.",
      };
    }
  }
  if (isTar(plain)) return { files: filesOfTar(plain) };
  const whole = plain.subarray(0, maxFile);
  const text = textOf(whole, charsetOf(whole));
  return /\\(?:documentclass|documentstyle|begin\s*\{document\})/.test(text)
    ? { files: new Map([["main.tex", text]]) }
    : { reason: "The source contains no LaTeX." };
}

const untilNul = (text: string): string => text.split("\0", 1)[0] ?? "";

const block = 512;
const field = (header: Buffer, from: number, length: number): string =>
  untilNul(header.toString("latin1", from, from + length));

/** A header's checksum is that of its bytes with spaces in place of the checksum itself. */
function isTar(bytes: Buffer): boolean {
  if (bytes.length < block) return false;
  let sum = 0;
  for (let at = 0; at < block; at += 1) sum += at >= 148 && at < 156 ? 32 : (bytes[at] ?? 0);
  return sum === Number.parseInt(field(bytes, 148, 8).trim(), 8);
}

function filesOfTar(bytes: Buffer): SourceFiles {
  const files = new Map<string, Buffer>();
  let longName: string | undefined;
  for (let at = 0; at + block <= bytes.length && files.size < maxFiles;) {
    const header = bytes.subarray(at, at + block);
    if (header[0] === 0) break;
    const size = Number.parseInt(field(header, 124, 12).trim() || "0", 8);
    if (!Number.isSafeInteger(size) || size < 0) break;
    const body = bytes.subarray(at + block, at + block + Math.min(size, maxFile));
    at += block + Math.ceil(size / block) * block;
    const type = String.fromCharCode(header[156] ?? 0);
    if (type === "L") longName = untilNul(body.toString("utf8"));
    if (type === "x") longName = /(?:^|\n)\d+ path=([^\n]*)\n/.exec(body.toString("utf8"))?.[1];
    if (type === "L" || type === "x" || type === "g") continue;

    const prefix = field(header, 257, 5) === "ustar" ? field(header, 345, 155) : "";
    const name = longName ?? (prefix === "" ? field(header, 0, 100) : `${prefix}/${field(header, 0, 100)}`);
    longName = undefined;
    const path = pathWithin(name);
    // Files only: a link could stand for a file of the user's.
    if ((type === "0" || type === "\0") && path !== undefined && sourceEnding.test(path) && size <= maxFile)
      files.set(path, body);
  }
  let charset: string | undefined;
  for (const body of files.values()) charset ??= charsetOf(body);
  return new Map([...files].map(([path, body]) => [path, textOf(body, charset)]));
}

/** A path inside the archive in its plainest form; undefined where it leads out of it. */
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

/** How LaTeX names the charsets of its sources, where it is not as everyone does. */
const charsets: Readonly<Record<string, string>> = {
  ansinew: "windows-1252",
  latin5: "windows-1254",
  latin9: "iso-8859-15",
  latin10: "iso-8859-16",
  applemac: "macintosh",
  maccyr: "x-mac-cyrillic",
  "koi8-ru": "koi8-u",
  cp866: "ibm866",
};

/** The charset that a source states for itself; one file of a source states it for all. */
function charsetOf(bytes: Buffer): string | undefined {
  const name =
    /(?:^|\n)[^%\n]*\\(?:usepackage\s{0,9}\[\s{0,9}([\w-]+)\s{0,9}\]\s{0,9}\{inputenc\}|inputencoding\{([\w-]+)\})/.exec(
      bytes.toString("latin1"),
    );
  const stated = name?.[1] ?? name?.[2];
  return stated === undefined ? undefined : (charsets[stated] ?? stated);
}

const textOf = (bytes: Uint8Array, charset: string | undefined): string =>
  decodeText(bytes, charset === undefined ? "" : `charset=${charset}`);
