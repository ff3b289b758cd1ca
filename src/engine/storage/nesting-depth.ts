/** What we write has some ten levels. JSON.stringify, and every walk that calls itself, breaks at a few thousand. */
export const mostLevels = 100;

/** A pointer of a hundred names helps nobody. */
const namesShown = 3;

/** The place, as a JSON pointer of at most three names, of what is nested deeper than a hundred levels in a value; undefined where nothing is. */
export const tooDeepAt = (value: unknown): string | undefined => deepAt(value, mostLevels)?.slice(0, namesShown).join("");

/** Calls itself, but no deeper than the levels that are allowed. */
function deepAt(value: unknown, levels: number): readonly string[] | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  if (levels === 0) return [];
  for (const [name, inner] of Object.entries(value)) {
    const below = deepAt(inner, levels - 1);
    if (below !== undefined) return [`/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`, ...below];
  }
  return undefined;
}
