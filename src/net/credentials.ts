import { redacted } from "../engine/lib/redact.js";
import type { Secret } from "./http.js";

/**
 * Query parameters under which services take keys, and those that tell who asks: neither belongs into a log that is
 * shared.
 */
const privateParameter =
  /^(?:api[-_]?key|key|apikey|token|access[-_]?token|auth|password|secret|client[-_]secret|mailto|email)$/i;

/** An address as it may be logged and shared: without credentials, keys and mail addresses. */
export function publicAddress(address: string): string {
  if (!URL.canParse(address)) return address;
  const url = new URL(address);
  url.username = "";
  url.password = "";
  const pairs = url.search.replace(/^\?/, "").split("&");
  const publicPairs = pairs.filter((pair) => pair !== "" && !privateParameter.test(nameOf(pair)));
  // Written back only if something goes: `search` would encode the rest again.
  if (publicPairs.length < pairs.length) url.search = publicPairs.join("&");
  url.hash = "";
  return url.href;
}

function nameOf(pair: string): string {
  try {
    return decodeURIComponent(pair.split("=")[0] ?? "");
  } catch {
    return pair;
  }
}

/** A request's address without user name and password, and those as the header that stands for them. */
export function withoutCredentials(
  address: string,
  secret: Secret | undefined,
): { readonly url: string; readonly secret?: Secret } {
  if (!URL.canParse(address)) return { url: address, secret };
  const url = new URL(address);
  const { username, password } = url;
  if (username === "" && password === "") return { url: address, secret };
  url.username = "";
  url.password = "";
  const pair = Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`).toString("base64");
  return { url: url.href, secret: { ...secret, headers: { Authorization: `Basic ${pair}`, ...secret?.headers } } };
}

/** In a page of text a shorter value may stand by chance; in a sentence of this program it does not. */
const minCharsInBody = 8;
const minCharsInSentence = 4;

/** Takes the secrets of one request out of what came back: some services repeat the request in their answers. */
export function scrubber(secret: Secret | undefined): {
  text(text: string): string;
  bytes(bytes: Uint8Array): Uint8Array;
} {
  const secretValues = [...Object.values(secret?.headers ?? {}), ...Object.values(secret?.query ?? {})];
  // "Bearer <token>": the token alone is the secret.
  const plainValues = secretValues.flatMap((value) => [value, value.trim(), value.trim().split(/\s+/).at(-1) ?? ""]);
  const forms = plainValues.flatMap((value) => [
    value,
    encodeURIComponent(value),
    new URLSearchParams({ v: value }).toString().slice(2),
  ]);
  const values = [...new Set(forms)]
    .filter((value) => value.length >= minCharsInSentence)
    .sort((a, b) => b.length - a.length);
  const longValues = values.filter((value) => value.length >= minCharsInBody);
  const removeSecrets = (text: string, secrets: readonly string[]) =>
    secrets.reduce((clean, value) => clean.replaceAll(value, redacted), text);
  return {
    text: (text) => removeSecrets(text, values),
    bytes(bytes) {
      const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
      const foundValues = longValues.filter((value) => buffer.includes(value));
      // Byte by byte, so that what is not UTF-8 stays what it is; secrets are ASCII.
      return foundValues.length === 0
        ? bytes
        : Buffer.from(removeSecrets(buffer.toString("latin1"), foundValues), "latin1");
    },
  };
}
