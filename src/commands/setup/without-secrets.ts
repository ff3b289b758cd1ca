import { namesSecret, type Redact, redacted, redactValue } from "../../engine/lib/redact.js";
import { oneLine } from "../../engine/lib/sanitise.js";

/** What stands behind a flag such as --api-key. */
const behindFlag = /(?<=(?:^|\s)--?[\w-]*(?:key|token|secret|password)(?:=|\s{1,9}))(?:"[^"]*"|'[^']*'|[^\s-]\S*)/gi;

const flag = /^--?[\w-]*(?:key|token|secret|password)$/i;

/** A value of the settings as it may be shown: without the user's secrets, and without codes that a terminal obeys. */
export const withoutSecrets = (value: unknown, redact: Redact): unknown =>
  redactValue(withoutEnvironment(value), (text) => oneLine(redact(text).replace(behindFlag, redacted))).value;

/** What is named as a secret is one, however short: a variable of an agent or a hook, a word behind a flag. */
function withoutEnvironment(value: unknown, isEnv = false): unknown {
  if (Array.isArray(value))
    return value.map((each, index) => (flag.test(String(value[index - 1])) ? redacted : withoutEnvironment(each)));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [
      name,
      inner !== "" && ((isEnv && namesSecret(name)) || /(?:^|_)api_key$/.test(name))
        ? redacted
        : withoutEnvironment(inner, name === "env"),
    ]),
  );
}
