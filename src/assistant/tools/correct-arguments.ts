import { isObject, jsonIn } from "../../engine/lib/json-fields.js";

type Fields = Readonly<Record<string, unknown>>;

/** What a schema says of one argument. */
interface Named {
  readonly type?: string;
}

/**
 * Arguments as a model meant them, where one reading alone is possible: a name that is nearly that of an argument which
 * is missing ("filePath" or "path" for `file_path`), a number, a truth or a list written as text.
 * Whatever else is wrong stays, for the schema to name.
 */
export function corrected(given: unknown, parameters: object): unknown {
  const { properties = {} } = parameters as { readonly properties?: Readonly<Record<string, Named>> };
  if (!isObject(given)) return given;
  const open = Object.keys(properties).filter((name) => !(name in given));
  const renamed = new Map(
    Object.keys(given)
      .filter((name) => !Object.hasOwn(properties, name))
      .flatMap((name) => {
        const meant = open.filter((each) => isNearly(name, each));
        return meant.length === 1 ? [[name, meant[0] ?? name] as const] : [];
      }),
  );
  const isTwice = (name: string) => [...renamed.values()].filter((each) => each === name).length > 1;
  const entries = Object.entries(given).map(([name, value]): [string, unknown] => {
    const meant = renamed.get(name);
    const own = meant === undefined || isTwice(meant) ? name : meant;
    return [own, asType(value, Object.hasOwn(properties, own) ? properties[own]?.type : undefined)];
  });
  return Object.fromEntries(entries) satisfies Fields;
}

const plain = (name: string): string => name.toLowerCase().replace(/[^a-z0-9]/g, "");

/** The same letters, or one of the words of which the name is made. */
const isNearly = (written: string, name: string): boolean =>
  plain(written) === plain(name) || name.split("_").includes(written.toLowerCase());

function asType(value: unknown, type: string | undefined): unknown {
  if (typeof value !== "string" || type === undefined || type === "string") return value;
  const read = jsonIn(value.trim());
  const isOf = {
    integer: Number.isInteger(read),
    number: typeof read === "number",
    boolean: typeof read === "boolean",
    array: Array.isArray(read),
    object: isObject(read),
  }[type];
  return isOf === true ? read : value;
}
