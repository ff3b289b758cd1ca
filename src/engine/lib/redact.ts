import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { dirname } from "node:path";

/** Takes secrets out of a text. */
export type Redact = (text: string) => string;

export const redacted = "[secret removed]";

const secretName =
  /(?:^|_)(?:(?:api|access|private|auth)_?(?:keys?|tokens?)|keys?|tokens?|secrets?|password|passwd|passphrase|credentials?|pat|webhook)(?:_|$)|_(?:auth|dsn|pwd)$/i;
/** Whether a variable of this name is likely to hold a secret; also in camel case. */
export const namesSecret = (name: string): boolean => secretName.test(name.replace(/([a-z\d])([A-Z])/g, "$1_$2"));

/** A name that says no more than that a secret is meant, and one that says something about a secret. */
const namesNothingElse = /(?:token|secret|password|passwd|passphrase|pwd|auth)$/i;
const namesProperty =
  /_(?:type|mode|alg|algorithm|provider|name|region|size|length|ttl|expiry|expires|expires_in|version|format|file|path|dir|host|port)$/i;
/** Words that settings have for values. */
const settingWord =
  /^(?:true|false|none|null|default|enabled?|disabled?|required|optional|always|never|automatic|manual|anonymous|basic|bearer|public|private|readonly|production|development|staging|testing|test|local|localhost|password|passwd|secret|changeme|postgres|root|admin|guest)$/i;

/** From this length on, any word is a secret; below it, what also stands in ordinary texts is not. */
const longEnough = 12;
const minSecret = 6;

/** Whether the value of a variable that is named as a secret is one. Paths lead to secrets and are not secret. */
function isSecret(name: string, value: string): boolean {
  if (value.length < minSecret || settingWord.test(value)) return false;
  if (/^[/~]/.test(value)) return value.length >= 8 && !namesProperty.test(name) && !isPath(value);
  if (value.length >= longEnough) return true;
  if (namesProperty.test(name) || /^[\d.,:]+$/.test(value)) return false;
  return namesNothingElse.test(name) || /\d/.test(value) || /[^\w.: -]/.test(value) || /[a-z][A-Z]/.test(value);
}

/** A path that exists, or whose folder does. */
function isPath(value: string): boolean {
  const path = value.replace(/^~(?=\/|$)/, homedir());
  const folder = dirname(path);
  return existsSync(path) || (folder.length > 1 && existsSync(folder));
}

/** The secrets in the value of a variable: the value, its longer lines, the password of an address. */
function secretsOf(name: string, value: string): string[] {
  const inAddress = /^[a-z][\w+.-]*:\/\/([^\s/?#:@]*):([^\s/?#]+)@/i.exec(value);
  const [, user, password = ""] = inAddress ?? [];
  const passwords = password === user ? [] : [password, decoded(password)].filter((each) => isSecret("password", each));
  const whole = value.trim();
  if (!namesSecret(name) || !isSecret(name, whole)) return passwords;
  const lines = whole.split(/\r?\n/).filter((line) => line.trim().length > longEnough);
  return [whole, ...(lines.length > 1 ? lines.filter((line) => !line.startsWith("-----")) : []), ...passwords];
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/**
 * A value as it is, within JSON, within JSON within JSON, within an address or a form, and in base64 amid other text.
 */
function formsOf(value: string): string[] {
  const json = JSON.stringify(value).slice(1, -1);
  const url = encodeURIComponent(value).replace(
    /[!'()*]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  const form = new URLSearchParams([["", value]]).toString().slice(1);
  const urls = [encodeURI(value), encodeURIComponent(value), url, form];
  const lower = urls.map((each) => each.replace(/%[\dA-F]{2}/g, (code) => code.toLowerCase()));
  return [value, json, JSON.stringify(json).slice(1, -1), ...urls, ...lower, ...inBase64(value)];
}

/**
 * What stands in the base64 of any text that holds `value`: it depends on how many bytes stand before it, by thirds.
 */
function inBase64(value: string): string[] {
  const bytes = Buffer.from(value);
  const cores = [0, 1, 2].map((before) => {
    const text = Buffer.concat([Buffer.alloc(before), bytes]).toString("base64");
    return text.slice(Math.ceil((before * 8) / 6), Math.floor(((before + bytes.length) * 8) / 6));
  });
  return [...cores, ...cores.map((core) => core.replaceAll("+", "-").replaceAll("/", "_"))];
}

/** Secrets that are known by their form. A private key cut off in the middle is one too. */
const forms: readonly RegExp[] = [
  /-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----[\s\S]*?(?:-----END (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----|$)/g,
  /\bsk-(?:ant-|proj-|or-)?[\w-]{20,}/g,
  /\b(?:gh[pousr]_\w{30,}|github_pat_\w{30,}|glpat-[\w-]{20,})/g,
  /\bA(?:KIA|SIA)[A-Z0-9]{16}\b/g,
  /\bAIza[\w-]{35}/g,
  /\bxox[abprs]-[\w-]{10,}/g,
  /\bnpm_\w{36}\b/g,
  // The password of an address.
  /(?<=\b[a-z][\w+.-]{0,20}:\/\/[^\s/?#:@"'<>]{0,100}:)[^\s/?#:@"'<>]{3,200}(?=@)/gi,
  // Cut off by us, so too short for the forms above.
  /\b(?:sk-(?:ant-|proj-|or-)|gh[pousr]_|github_pat_|glpat-|A(?:KIA|SIA)|AIza|npm_)[\w-]{4,}(?=…)/g,
];

/** What stands in every text that one of the forms finds something in: most texts are done with one look. */
const hint = /PRIVATE KEY|sk-|gh[pousr]_|github_pat_|glpat-|A(?:KIA|SIA|Iza)|xox|npm_|:\/\/[^\s/@]{1,300}@/;

/** A shorter beginning of a value tells nothing of it. */
const minBeginning = 6;

/**
 * The text without beginnings of a value right before "…": what is cut first and redacted then would keep half of a
 * secret.
 */
function withoutBeginnings(text: string, value: string, except: string): string {
  const parts = text.split("…");
  return parts
    .map((part, index) => {
      if (index === parts.length - 1) return part;
      const from = Math.max(0, part.length - value.length);
      const start = value.slice(0, minBeginning);
      for (let at = part.indexOf(start, from); at !== -1; at = part.indexOf(start, at + 1)) {
        const found = part.slice(at);
        if (value.startsWith(found) && !except.includes(found)) return `${part.slice(0, at)}${redacted}`;
      }
      return part;
    })
    .join("…");
}

/**
 * Knows the values of the variables of `envs` whose name says that they are secret, the passwords of addresses in any
 * of them, and the usual forms of keys and tokens; values also as JSON, addresses and base64 write them, and of all the
 * beginning that is left where our "…" cuts one off. What stands in `except`, such as the text of an article on
 * cryptography, is no secret.
 */
export function redactFor(...envs: readonly NodeJS.ProcessEnv[]): (text: string, except?: string) => string {
  const all = envs.flatMap((env) => Object.entries(env));
  const secrets = new Set(all.flatMap(([name, value = ""]) => secretsOf(name, value)));
  const values = [...new Set([...secrets].flatMap(formsOf))];
  // The longer one first: a value may hold another.
  values.sort((a, b) => b.length - a.length);
  return (text, except = "") => {
    let clean = text;
    if (clean.includes("…")) for (const value of values) clean = withoutBeginnings(clean, value, except);
    for (const value of values)
      if (clean.includes(value) && !except.includes(value)) clean = clean.replaceAll(value, redacted);
    if (hint.test(clean))
      for (const form of forms) clean = clean.replace(form, (found) => (except.includes(found) ? found : redacted));
    return clean;
  };
}

/** Redacts every string of a JSON value, names of fields included, and says whether there was anything to take out. */
export function redactValue(value: unknown, redact: Redact): { readonly value: unknown; readonly found: boolean } {
  let found = false;
  const clean = (each: unknown): unknown => {
    if (typeof each === "string") {
      const text = redact(each);
      found ||= text !== each;
      return text;
    }
    if (Array.isArray(each)) return each.map(clean);
    // From pairs: assigned, a field named __proto__ would be no field.
    if (typeof each === "object" && each !== null)
      return Object.fromEntries(Object.entries(each).map(([name, inner]) => [String(clean(name)), clean(inner)]));
    return each;
  };
  return { value: clean(value), found };
}
