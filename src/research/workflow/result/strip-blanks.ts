/** White space, and what shows nothing though it is a character: zero-width spaces, joiners, fillers, an empty braille cell. */
const blank = /^[\s\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\u2800]+$/u;

/** A JSON value in which every text that shows nothing is empty, so that it counts as one where something must be said. */
export function withoutBlanks(value: unknown): unknown {
  if (typeof value === "string") return blank.test(value) ? "" : value;
  if (Array.isArray(value)) return value.map(withoutBlanks);
  if (typeof value !== "object" || value === null) return value;
  // From pairs: assigned, a field named __proto__ would be no field.
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, withoutBlanks(inner)]));
}
