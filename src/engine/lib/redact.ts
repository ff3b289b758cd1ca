/** Takes secrets out of a text. */
export type Redact = (text: string) => string;

export const redacted = "[secret removed]";

const secretName = /(?:^|_)(?:api_?key|key|token|secret|password|passwd|credentials?|pat)(?:_|$)/i;
/** Whether a variable of this name is likely to hold a secret. */
export const namesSecret = (name: string): boolean => secretName.test(name);
/** Shorter values, such as "true", would be taken out of every text; a path leads to a secret and is none. */
const secretValue = /^[^\s/~]\S{11,}$/;

/** Secrets that are known by their form. A private key cut off in the middle is one too. */
const forms: readonly RegExp[] = [
  /-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----[\s\S]*?(?:-----END (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----|$)/g,
  /\bsk-(?:ant-|proj-|or-)?[\w-]{20,}/g,
  /\b(?:gh[pousr]_\w{30,}|github_pat_\w{30,}|glpat-[\w-]{20,})/g,
  /\bA(?:KIA|SIA)[A-Z0-9]{16}\b/g,
  /\bAIza[\w-]{35}/g,
  /\bxox[abprs]-[\w-]{10,}/g,
  /\bnpm_\w{36}\b/g,
  // Cut off by us, so too short for the forms above.
  /\b(?:sk-(?:ant-|proj-|or-)|gh[pousr]_|github_pat_|glpat-|A(?:KIA|SIA)|AIza|npm_)[\w-]{4,}(?=…)/g,
];

/** What stands in every text that one of the forms finds something in: most texts are done with one look. */
const hint = /PRIVATE KEY|sk-|gh[pousr]_|github_pat_|glpat-|A(?:KIA|SIA|Iza)|xox|npm_/;

/** A shorter beginning of a value tells nothing of it. */
const minBeginning = 6;

/** The text without beginnings of a value right before "…": what is cut first and redacted then would keep half of a secret. */
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
 * Knows the values of the variables of `envs` whose name says that they are secret, and the usual forms of keys and tokens; of both also
 * the beginning that is left where our "…" cuts one off.
 * What stands in `except`, such as the text of a paper on cryptography, is no secret.
 */
export function redactFor(...envs: readonly NodeJS.ProcessEnv[]): (text: string, except?: string) => string {
  const all = envs.flatMap((env) => Object.entries(env));
  const values = [
    ...new Set(all.flatMap(([name, value = ""]) => (secretName.test(name) && secretValue.test(value) ? [value] : []))),
  ];
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
