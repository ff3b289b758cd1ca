import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { dirname } from "node:path";

/** Takes secrets out of a text. */
export type Redact = (text: string) => string;

export const redacted = "[secret removed]";

const secretName = new RegExp(
  [
    "(?:^|_)(?:(?:api|access|private|auth)_?(?:keys?|tokens?)|keys?|tokens?|secrets?|pass(?:word|wd|phrase)?|credentials?|pat|webhook",
    "|cookies?|jwt|bearer|mnemonic|seed_?phrase|conn(?:ection)?_?str(?:ing)?)(?:_|$)",
    // Written in one, as PGPASSWORD is.
    "|(?:password|passwd|passphrase|token|secret|apikey|sshpass)$",
    // Elsewhere in a name these say something else: SSH_AUTH_SOCK, PWD.
    "|(?:^|_)auth(?:orization)?$|_(?:dsn|pwd)$",
  ].join(""),
  "i",
);
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

/** "api-key=a%20b,tenant=lab", or "x-key: abc", a line each; what is in a header like `x-api-key` is a secret by it. */
const headersIn = (value: string): [string, string][] =>
  value.split(/[,\n]/).flatMap((pair): [string, string][] => {
    const at = pair.search(/[=:]/);
    const [name, held] = [pair.slice(0, at).trim().replaceAll("-", "_"), pair.slice(at + 1).trim()];
    return at < 0 ? [] : [...new Set([held, decoded(held)])].map((each) => [name, each]);
  });

const isPrivateKey = /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY/;

/** What says how the rest of a value is sent, and what a connection string calls its secret. */
const scheme = /^(?:bearer|basic|token)\s+/i;
const inConnection = /(?:^|;)\s*(?:password|pwd|account_?key|shared_?access_?key)\s*=\s*([^;]+)/gi;

/**
 * The secrets in the value of a variable: the value, its longer lines, the password of an address, and the same of each
 * field where the value is a JSON object, as that of a service account is.
 */
function secretsOf(name: string, value: string): string[] {
  const fields = fieldsOf(value);
  if (fields.length > 0) {
    const inside = fields.flatMap(([field, inner]) => (typeof inner === "string" ? secretsOf(field, inner) : []));
    return [...(namesSecret(name) || inside.length > 0 ? [value.trim()] : []), ...inside];
  }
  if (/_headers$/i.test(name)) return headersIn(value).flatMap(([header, held]) => secretsOf(header, held));
  const inAddress = /^[a-z][\w+.-]*:\/\/([^\s/?#:@]*):([^\s/?#]+)@/i.exec(value);
  const [, user, password = ""] = inAddress ?? [];
  const passwords = password === user ? [] : [password, decoded(password)].filter((each) => isSecret("password", each));
  const whole = value.trim();
  passwords.push(
    ...[...value.matchAll(inConnection)].flatMap(([, word = ""]) => (isSecret("password", word) ? [word] : [])),
  );
  if (!(namesSecret(name) || isPrivateKey.test(whole)) || !isSecret(name, whole)) return passwords;
  if (scheme.test(whole)) passwords.push(...secretsOf(name, whole.replace(scheme, "")));
  // A file of settings writes the ends of lines as \n.
  const lines = whole.split(/\r?\n|\\n/).map((line) => line.trim());
  const long = lines.length > 1 ? lines.filter((line) => line.length > longEnough && !line.startsWith("-----")) : [];
  return [whole, ...long, ...passwords];
}

function fieldsOf(value: string): [string, unknown][] {
  try {
    return value.trimStart().startsWith("{") ? Object.entries(JSON.parse(value) as object) : [];
  } catch {
    return [];
  }
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
  // A line of such a key by itself, as tools that print line by line show it: 64, 70 or 76 letters and digits.
  /(?<=^|\\n|["'\s])(?=[A-Za-z+/]{0,75}\d)(?=[A-Z\d+/]{0,75}[a-z])(?=[a-z\d+/]{0,75}[A-Z])(?:[A-Za-z\d+/]{76}|[A-Za-z\d+/]{70}|[A-Za-z\d+/]{64})(?=$|\\n|["'\s])/g,
  /\bsk-(?:ant|proj|or|svcacct|admin)-[\w-]{20,}/g,
  // With an unbroken part that is not a word: sk-learn-based-models are words, and the name of a file.
  /\bsk-(?=[\w-]{0,80}?(?<![A-Za-z\d])(?:(?=[A-Za-z]{0,11}\d)[A-Za-z\d]{12}|[A-Za-z\d]{24}))[\w-]{20,}/g,
  /\b(?:gh[pousr]_\w{30,}|github_pat_\w{30,}|glpat-[\w-]{20,})/g,
  /\bA(?:KIA|SIA)[A-Z0-9]{16}\b/g,
  /\bAIza[\w-]{35}/g,
  /\bxox[abprs]-[\w-]{10,}/g,
  /\bnpm_\w{36}\b/g,
  /\b(?:sk|rk)_(?:live|test)_\w{16,}/g,
  // Without "_" and "-": hf_model_for_… is a name in code, xai-for-explainable-… the address of a page.
  /\b(?:(?:hf|gsk|r8|glsa|ntn|lin_api)_|(?:xai|pplx)-)[A-Za-z\d]{30,}(?:_[a-f\d]{8}\b)?/g,
  /\bnvapi-[\w-]{60,}/g,
  /\b(?:ya29\.|GOCSPX-|hvs\.|pypi-AgE|dckr_pat_)[\w-]{20,}/g,
  /\b(?:do[opr]_v1_|sbp_|shp(?:at|ca|pa|ss)_|dapi)[a-f\d]{32,}/g,
  /\bSG\.[\w-]{16,}\.[\w-]{16,}/g,
  // A JSON Web Token, and the token of a Telegram bot.
  /(?<![\w-])eyJ[\w-]{10,}\.eyJ[\w-]{10,}\.[\w-]{10,}/g,
  /\b\d{8,10}:AA[\w-]{32,}/g,
  // Addresses that are secrets themselves.
  /\bhooks\.slack\.com\/(?:services|workflows|triggers)\/[\w/-]{20,}/g,
  /\bdiscord(?:app)?\.com\/api\/webhooks\/\d{1,30}\/[\w-]{20,}/g,
  // Named by what stands before them. Without a digit it is a word, or a name in code: process.env.CLIENT_SECRET.
  /(?<=\bauthorization["']?\s?[:=]\s?["']?(?:bearer|basic|token)\s)(?=[\w.~+/=-]{0,200}\d)[\w.~+/=-]{8,}/gi,
  /(?<=\b(?:aws_secret_access_key|account_?key|shared_?access_?key|client_secret)["']?\s?[:=]\s?["']?)(?=[\w.~+/=-]{0,200}\d)[\w.~+/=-]{16,}/gi,
  // The password of an address.
  /(?<=\b[a-z][\w+.-]{0,20}:\/\/[^\s/?#:@"'<>]{0,100}:)[^\s/?#:@"'<>]{3,200}(?=@)/gi,
  // Cut off by us, so too short for the forms above.
  /\b(?:sk-(?:ant-|proj-|or-)|gh[pousr]_|github_pat_|glpat-|A(?:KIA|SIA)|AIza|npm_)[\w-]{4,}(?=…)/g,
];

/** What stands in every text that one of the forms finds something in: most texts are done with one look. */
const hint = new RegExp(
  [
    "PRIVATE KEY|[A-Za-z\\d+/]{64}|sk-|gh[pousr]_|github_pat_|glpat-|A(?:KIA|SIA|Iza)|xox|npm_|://[^\\s/@]{1,300}@",
    "|[sr]k_(?:live|test)_|(?:hf|gsk|r8|glsa|ntn|lin_api)_[a-z\\d]{30}|(?:xai|pplx|nvapi)-|ya29|GOCSPX|hvs\\.|pypi-AgE|dckr_pat|_v1_|sbp_|shp\\w\\w_",
    "|dapi[a-f\\d]{32}|\\bSG\\.|eyJ|:AA|hooks\\.slack|api/webhooks",
    "|authorization|_access_key|account_?key|access_?key|client_secret",
  ].join(""),
  "i",
);

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
 * cryptography, is not a secret.
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
