import { redactionMark } from "../engine/lib/redact.js";
import type { Secret } from "./http.js";
import { asBuffer } from "./http-cache.js";

/**
 * Names of query parameters for keys, and for the identity of the user. They must not be in a log that is shared.
 */
const privateParameter =
  /^(?:api[-_]?key|key|apikey|token|access[-_]?token|auth|password|secret|client[-_]secret|mailto|email)$/i;

/** An address that may be logged and shared: without credentials, keys and mail addresses. */
export function publicAddress(address: string): string {
  if (!URL.canParse(address)) return address;
  const url = new URL(address);
  url.username = "";
  url.password = "";
  const pairs = url.search.replace(/^\?/, "").split("&");
  const publicPairs = pairs.filter((pair) => pair !== "" && !privateParameter.test(nameOf(pair)));
  // Set only if a parameter was removed, because `search` would encode the others again.
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

/** A request's address without user name and password, and the header that replaces them. */
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

/** Minimum length of a secret to remove from a page or from a sentence: a page may contain a shorter text by chance. */
const minCharsInBody = 8;
const minCharsInSentence = 4;

/** Removes the secrets of a request from its answer: some services repeat the request in their answers. */
export function scrubber(secret: Secret | undefined): {
  text(text: string): string;
  bytes(bytes: Uint8Array): Uint8Array;
} {
  const secretValues = [...Object.values(secret?.headers ?? {}), ...Object.values(secret?.query ?? {})];
  // In "Bearer <token>" only the token is the secret.
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
    secrets.reduce((clean, value) => clean.replaceAll(value, redactionMark), text);
  return {
    text: (text) => removeSecrets(text, values),
    bytes(bytes) {
      const buffer = asBuffer(bytes);
      const foundValues = longValues.filter((value) => buffer.includes(value));
      // latin1 keeps bytes that are not UTF-8 unchanged; secrets are ASCII.
      return foundValues.length === 0
        ? bytes
        : Buffer.from(removeSecrets(buffer.toString("latin1"), foundValues), "latin1");
    },
  };
}
