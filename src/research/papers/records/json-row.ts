import { countFrom, isObject, listFrom, valueAt } from "../../../engine/lib/json-fields.js";

/** Maximum depth of values that are read. The names of columns have at most five parts. */
const maxDepth = 12;

type Item = Readonly<Record<string, unknown>>;

/**
 * The values of an object by the paths of their names, in lower case: `authorships author display name`, as OpenAlex
 * heads its CSV. The values of a list are joined by "|". For answers of OpenAlex, Semantic Scholar and Europe PMC, and
 * for lists that a script has written.
 */
export function rowOf(item: Item): ReadonlyMap<string, string> {
  const row = new Map<string, string>();
  const add = (value: unknown, path: string, depth = 0): void => {
    if (depth > maxDepth) return;
    if (Array.isArray(value)) for (const each of value) add(each, path, depth + 1);
    else if (isObject(value))
      for (const [name, each] of Object.entries(value)) add(each, `${path} ${plainName(name)}`.trim(), depth + 1);
    else if (value !== null && value !== undefined && value !== "") {
      const before = row.get(path);
      row.set(path, before === undefined ? String(value) : `${before}|${String(value)}`);
    }
  };
  const { abstract_inverted_index: index, ...rest } = item;
  add(rest, "");
  if (!row.has("abstract") && index !== undefined) add(textOfIndex(index), "abstract");
  return row;
}

/** The words of a name: "publication date" for "publicationDate" and "publication_date"; "arxiv" for "ArXiv". */
const plainName = (name: string): string =>
  (/^[a-z]/.test(name) ? name.replace(/(?<=[a-z])(?=[A-Z])/g, " ") : name)
    .replace(/[^\p{L}\p{N}]+/gu, " ")
    .trim()
    .toLowerCase();

/** Maximum number of words in an abstract. Broken records contain positions in the billions. */
const maxWords = 20_000;

/** The text of an index of words and their positions, in which OpenAlex has abstracts; empty for another value. */
export function textOfIndex(value: unknown): string {
  // Some records still have the format of Microsoft Academic, from which OpenAlex took them.
  const index = valueAt(value, "InvertedIndex") ?? value;
  if (!isObject(index)) return "";
  return Object.entries(index)
    .flatMap(([word, positions]) => listFrom(positions).map((position) => ({ word, position: countFrom(position) })))
    .filter(({ position }) => position !== undefined)
    .slice(0, maxWords)
    .sort((a, b) => (a.position ?? 0) - (b.position ?? 0))
    .map(({ word }) => word)
    .join(" ");
}
