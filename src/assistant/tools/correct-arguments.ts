import { isObject, jsonIn } from "../../engine/lib/json-fields.js";

type Fields = Readonly<Record<string, unknown>>;

/** The schema of one argument. */
interface ArgumentSchema {
  readonly type?: string;
}

/**
 * Corrects arguments if only one correction is possible: a name that is similar to the name of a missing argument
 * ("filePath" or "path" for `file_path`), and a number, boolean or list in a string. Other errors are left for the
 * schema check.
 */
export function correctArguments(givenArgs: unknown, parameters: object): unknown {
  const { properties = {} } = parameters as { readonly properties?: Readonly<Record<string, ArgumentSchema>> };
  if (!isObject(givenArgs)) return givenArgs;
  const missingNames = Object.keys(properties).filter((name) => !(name in givenArgs));
  const correctNames = new Map(
    Object.keys(givenArgs)
      .filter((name) => !Object.hasOwn(properties, name))
      .flatMap((name) => {
        const candidates = missingNames.filter((candidate) => isSimilarName(name, candidate));
        return candidates.length === 1 ? [[name, candidates[0] ?? name] as const] : [];
      }),
  );
  const isUsedTwice = (name: string) =>
    [...correctNames.values()].filter((correctName) => correctName === name).length > 1;
  const entries = Object.entries(givenArgs).map(([name, value]): [string, unknown] => {
    const correctName = correctNames.get(name);
    const finalName = correctName === undefined || isUsedTwice(correctName) ? name : correctName;
    return [
      finalName,
      convertTo(value, Object.hasOwn(properties, finalName) ? properties[finalName]?.type : undefined),
    ];
  });
  return Object.fromEntries(entries) satisfies Fields;
}

const lettersOf = (name: string): string => name.toLowerCase().replace(/[^a-z0-9]/g, "");

/** Whether two names have the same letters, or the given name is one word of the correct name. */
const isSimilarName = (givenName: string, name: string): boolean =>
  lettersOf(givenName) === lettersOf(name) || name.split("_").includes(givenName.toLowerCase());

function convertTo(value: unknown, type: string | undefined): unknown {
  if (typeof value !== "string" || type === undefined || type === "string") return value;
  const parsed = jsonIn(value.trim());
  const isOfType = {
    integer: Number.isInteger(parsed),
    number: typeof parsed === "number",
    boolean: typeof parsed === "boolean",
    array: Array.isArray(parsed),
    object: isObject(parsed),
  }[type];
  return isOfType === true ? parsed : value;
}
