import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { dirname } from "node:path";

/** Removes secrets from a text. */
export type Redact = (text: string) => string;

export const redactionMark = "[secret removed]";

const secretNamePattern = new RegExp(
  [
    "(?:^|_)(?:(?:api|access|private|auth)_?(?:keys?|tokens?)|keys?|tokens?|secrets?|pass(?:word|wd|phrase)?|credentials?|pat|webhook",
    "|cookies?|jwt|bearer|mnemonic|seed_?phrase|conn(?:ection)?_?str(?:ing)?)(?:_|$)",
    // Written as one word, such as PGPASSWORD.
    "|(?:password|passwd|passphrase|token|secret|apikey|sshpass)$",
    // In another position of a name these words mean something else: SSH_AUTH_SOCK, PWD.
    "|(?:^|_)auth(?:orization)?$|_(?:dsn|pwd)$",
  ].join(""),
  "i",
);
/** Whether the name of a variable, also in camel case, says that its value is probably a secret. */
export const isSecretName = (name: string): boolean =>
  secretNamePattern.test(name.replace(/([a-z\d])([A-Z])/g, "$1_$2"));

/** Endings of the names of secrets, and endings of the names of their properties, such as the type of a token. */
const plainSecretNamePattern = /(?:token|secret|password|passwd|passphrase|pwd|auth)$/i;
const propertyNamePattern =
  /_(?:type|mode|alg|algorithm|provider|name|region|size|length|ttl|expiry|expires|expires_in|version|format|file|path|dir|host|port)$/i;
/** Common values of settings, which are not secrets. */
const settingWordPattern =
  /^(?:true|false|none|null|default|enabled?|disabled?|required|optional|always|never|automatic|manual|anonymous|basic|bearer|public|private|readonly|production|development|staging|testing|test|local|localhost|password|passwd|secret|changeme|postgres|root|admin|guest)$/i;

/**
 * A value with at least `minCertainSecretChars` characters is always a secret; a shorter value only if it is not an
 * ordinary word.
 */
const minCertainSecretChars = 12;
const minSecretChars = 6;

/** Whether the value of a variable with a secret's name is a secret. Paths to secrets are not secret. */
function isSecret(name: string, value: string): boolean {
  if (value.length < minSecretChars || settingWordPattern.test(value)) return false;
  if (/^[/~]/.test(value)) return value.length >= 8 && !propertyNamePattern.test(name) && !isPath(value);
  if (value.length >= minCertainSecretChars) return true;
  if (propertyNamePattern.test(name) || /^[\d.,:]+$/.test(value)) return false;
  return plainSecretNamePattern.test(name) || /\d/.test(value) || /[^\w.: -]/.test(value) || /[a-z][A-Z]/.test(value);
}

/** Whether a value is the path of an existing file, or of a file in an existing folder. */
function isPath(value: string): boolean {
  const path = value.replace(/^~(?=\/|$)/, homedir());
  const folder = dirname(path);
  return existsSync(path) || (folder.length > 1 && existsSync(folder));
}

/** Parses headers such as "api-key=a%20b,tenant=lab" or "x-key: abc", one per line, into names and values. */
const headersIn = (value: string): [string, string][] =>
  value.split(/[,\n]/).flatMap((pair): [string, string][] => {
    const index = pair.search(/[=:]/);
    const [name, headerValue] = [pair.slice(0, index).trim().replaceAll("-", "_"), pair.slice(index + 1).trim()];
    return index < 0 ? [] : [...new Set([headerValue, decodeUri(headerValue)])].map((headerText) => [name, headerText]);
  });

const privateKeyPattern = /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY/;

/** Patterns for the authorization scheme before a secret, and for the secret fields of a connection string. */
const schemePattern = /^(?:bearer|basic|token)\s+/i;
const connectionSecretPattern = /(?:^|;)\s*(?:password|pwd|account_?key|shared_?access_?key)\s*=\s*([^;]+)/gi;

/**
 * The secrets in the value of a variable: the value itself, its longer lines, and the password of an address. If the
 * value is a JSON object, such as the key of a service account, also the secrets in each field.
 */
function secretsOf(name: string, value: string): string[] {
  const fields = fieldsOf(value);
  if (fields.length > 0) {
    const fieldSecrets = fields.flatMap(([field, inner]) => (typeof inner === "string" ? secretsOf(field, inner) : []));
    return [...(isSecretName(name) || fieldSecrets.length > 0 ? [value.trim()] : []), ...fieldSecrets];
  }
  if (/_headers$/i.test(name))
    return headersIn(value).flatMap(([header, headerValue]) => secretsOf(header, headerValue));
  const addressMatch = /^[a-z][\w+.-]*:\/\/([^\s/?#:@]*):([^\s/?#]+)@/i.exec(value);
  const [, user, password = ""] = addressMatch ?? [];
  const passwords =
    password === user ? [] : [password, decodeUri(password)].filter((text) => isSecret("password", text));
  const trimmed = value.trim();
  passwords.push(
    ...[...value.matchAll(connectionSecretPattern)].flatMap(([, password = ""]) =>
      isSecret("password", password) ? [password] : [],
    ),
  );
  if (!(isSecretName(name) || privateKeyPattern.test(trimmed)) || !isSecret(name, trimmed)) return passwords;
  if (schemePattern.test(trimmed)) passwords.push(...secretsOf(name, trimmed.replace(schemePattern, "")));
  // A settings file may contain line ends as "\n".
  const lines = trimmed.split(/\r?\n|\\n/).map((line) => line.trim());
  const longLines =
    lines.length > 1 ? lines.filter((line) => line.length > minCertainSecretChars && !line.startsWith("-----")) : [];
  return [trimmed, ...longLines, ...passwords];
}

function fieldsOf(value: string): [string, unknown][] {
  try {
    return value.trimStart().startsWith("{") ? Object.entries(JSON.parse(value) as object) : [];
  } catch {
    return [];
  }
}

function decodeUri(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/**
 * A value in all encodings in which a text may contain it: unchanged, in JSON, in JSON within JSON, in an address or a
 * web form, and in base64.
 */
function encodingsOf(value: string): string[] {
  const json = JSON.stringify(value).slice(1, -1);
  const url = encodeURIComponent(value).replace(
    /[!'()*]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  const form = new URLSearchParams([["", value]]).toString().slice(1);
  const urls = [encodeURI(value), encodeURIComponent(value), url, form];
  const lowerCaseUrls = urls.map((url) => url.replace(/%[\dA-F]{2}/g, (code) => code.toLowerCase()));
  return [value, json, JSON.stringify(json).slice(1, -1), ...urls, ...lowerCaseUrls, ...base64Cores(value)];
}

/**
 * The parts that are equal in the base64 of all texts that contain `value`. They depend on the number of bytes before
 * `value`, modulo 3, so there are three.
 */
function base64Cores(value: string): string[] {
  const bytes = Buffer.from(value);
  const cores = [0, 1, 2].map((bytesBefore) => {
    const text = Buffer.concat([Buffer.alloc(bytesBefore), bytes]).toString("base64");
    return text.slice(Math.ceil((bytesBefore * 8) / 6), Math.floor(((bytesBefore + bytes.length) * 8) / 6));
  });
  return [...cores, ...cores.map((core) => core.replaceAll("+", "-").replaceAll("/", "_"))];
}

/** Patterns of secrets with a known form. A truncated private key matches too. */
const secretPatterns: readonly RegExp[] = [
  /-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----[\s\S]*?(?:-----END (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----|$)/g,
  // One line of such a key, because some tools print line by line: 64, 70 or 76 letters and digits.
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
  // A key has no further "_" or "-": hf_model_for_… is a name in code, xai-for-explainable-… the address of a page.
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
  // Values after a name such as "client_secret:". A value without a digit is a word or a name in code, such as
  // process.env.CLIENT_SECRET.
  /(?<=\bauthorization["']?\s?[:=]\s?["']?(?:bearer|basic|token)\s)(?=[\w.~+/=-]{0,200}\d)[\w.~+/=-]{8,}/gi,
  /(?<=\b(?:aws_secret_access_key|account_?key|shared_?access_?key|client_secret)["']?\s?[:=]\s?["']?)(?=[\w.~+/=-]{0,200}\d)[\w.~+/=-]{16,}/gi,
  // The password of an address.
  /(?<=\b[a-z][\w+.-]{0,20}:\/\/[^\s/?#:@"'<>]{0,100}:)[^\s/?#:@"'<>]{3,200}(?=@)/gi,
  // Truncated by this program, so too short for the patterns above.
  /\b(?:sk-(?:ant-|proj-|or-)|gh[pousr]_|github_pat_|glpat-|A(?:KIA|SIA)|AIza|npm_)[\w-]{4,}(?=…)/g,
];

/** Matches every text in which one of the patterns can match, so that most texts need only one test. */
const anySecretPattern = new RegExp(
  [
    "PRIVATE KEY|[A-Za-z\\d+/]{64}|sk-|gh[pousr]_|github_pat_|glpat-|A(?:KIA|SIA|Iza)|xox|npm_|://[^\\s/@]{1,300}@",
    "|[sr]k_(?:live|test)_|(?:hf|gsk|r8|glsa|ntn|lin_api)_[a-z\\d]{30}|(?:xai|pplx|nvapi)-|ya29|GOCSPX|hvs\\.|pypi-AgE|dckr_pat|_v1_|sbp_|shp\\w\\w_",
    "|dapi[a-f\\d]{32}|\\bSG\\.|eyJ|:AA|hooks\\.slack|api/webhooks",
    "|authorization|_access_key|account_?key|access_?key|client_secret",
  ].join(""),
  "i",
);

/** The beginning of a secret is removed if it has at least so many characters; a shorter one reveals nothing. */
const minBeginningChars = 6;

/**
 * Removes the beginning of a secret before "…": a text that was truncated before redaction may contain half of a
 * secret.
 */
function withoutTruncatedSecrets(text: string, value: string, exceptText: string): string {
  const parts = text.split("…");
  return parts
    .map((part, index) => {
      if (index === parts.length - 1) return part;
      const from = Math.max(0, part.length - value.length);
      const start = value.slice(0, minBeginningChars);
      for (let index = part.indexOf(start, from); index !== -1; index = part.indexOf(start, index + 1)) {
        const found = part.slice(index);
        if (value.startsWith(found) && !exceptText.includes(found)) return `${part.slice(0, index)}${redactionMark}`;
      }
      return part;
    })
    .join("…");
}

/**
 * Creates a function that removes secrets: the values of variables in `envs` whose name is the name of a secret,
 * passwords in addresses, and keys and tokens of known forms. Secrets are also found if they are encoded in JSON,
 * addresses or base64, or truncated before "…". Text that also occurs in `exceptText`, such as an article on
 * cryptography, is kept.
 */
export function redactFor(...envs: readonly NodeJS.ProcessEnv[]): (text: string, exceptText?: string) => string {
  const variables = envs.flatMap((env) => Object.entries(env));
  const secrets = new Set(variables.flatMap(([name, value = ""]) => secretsOf(name, value)));
  const values = [...new Set([...secrets].flatMap(encodingsOf))];
  // Longer values first, because a value may contain another.
  values.sort((a, b) => b.length - a.length);
  return (text, exceptText = "") => {
    let cleanText = text;
    if (cleanText.includes("…"))
      for (const value of values) cleanText = withoutTruncatedSecrets(cleanText, value, exceptText);
    for (const value of values)
      if (cleanText.includes(value) && !exceptText.includes(value))
        cleanText = cleanText.replaceAll(value, redactionMark);
    if (anySecretPattern.test(cleanText))
      for (const form of secretPatterns)
        cleanText = cleanText.replace(form, (found) => (exceptText.includes(found) ? found : redactionMark));
    return cleanText;
  };
}

/** Redacts every string of a JSON value, including field names. `found`: whether a secret was removed. */
export function redactValue(value: unknown, redact: Redact): { readonly value: unknown; readonly found: boolean } {
  let found = false;
  const cleanText = (part: unknown): unknown => {
    if (typeof part === "string") {
      const text = redact(part);
      found ||= text !== part;
      return text;
    }
    if (Array.isArray(part)) return part.map(cleanText);
    // Built from pairs, because an assignment to __proto__ would not create a field.
    if (typeof part === "object" && part !== null)
      return Object.fromEntries(
        Object.entries(part).map(([name, inner]) => [String(cleanText(name)), cleanText(inner)]),
      );
    return part;
  };
  return { value: cleanText(value), found };
}
