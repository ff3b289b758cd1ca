import { isSecretName, type Redact, redactionMark, redactValue } from "../../engine/lib/redact.js";
import { oneLine } from "../../engine/lib/sanitise.js";

/** The value after a flag such as --api-key. */
const valueAfterSecretFlag =
  /(?<=(?:^|\s)--?[\w-]*(?:key|token|secret|password)(?:=|\s{1,9}))(?:"[^"]*"|'[^']*'|[^\s-]\S*)/gi;

const secretFlag = /^--?[\w-]*(?:key|token|secret|password)$/i;

/** A configuration value for display: without the user's secrets and without control codes for the terminal. */
export const withoutSecrets = (value: unknown, redact: Redact): unknown =>
  redactValue(withoutEnvironment(value), (text) => oneLine(redact(text).replace(valueAfterSecretFlag, redactionMark)))
    .value;

/** Hides values that are secret because of their name: variables of agents and hooks, and words after secret flags. */
function withoutEnvironment(value: unknown, isEnv = false): unknown {
  if (Array.isArray(value))
    return value.map((item, index) =>
      secretFlag.test(String(value[index - 1])) ? redactionMark : withoutEnvironment(item),
    );
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, innerValue]) => [
      name,
      innerValue !== "" && ((isEnv && isSecretName(name)) || /(?:^|_)api_key$/.test(name))
        ? redactionMark
        : withoutEnvironment(innerValue, name === "env"),
    ]),
  );
}
