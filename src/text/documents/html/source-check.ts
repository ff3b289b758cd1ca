/**
 * Maximum depth of nested elements. Articles have a depth of about fifty. The parser takes quadratic time: six minutes
 * for a depth of fifty thousand.
 */
const maxDepth = 1000;
/** Maximum number of attributes of a tag. The parser takes quadratic time: two minutes for a hundred thousand. */
const maxAttributes = 500;

/** Elements that do not increase the depth: they contain no others, or the next element of the same kind ends them. */
const flatElements = new Set(
  "area base br col dd dt embed hr img input li link meta option p param source td th tr track wbr".split(" "),
);
/** Elements whose content is text, and not markup. */
const rawTextElements = new Set(["script", "style", "textarea", "title", "xmp", "noscript"]);

/**
 * Checks the source of a page before it is parsed, in linear time.
 * @returns the source, in which tags with too many attributes have none; undefined if elements are nested too deeply.
 */
export function checkSource(source: string): string | undefined {
  const pieces: string[] = [];
  let copiedUntil = 0;
  let depth = 0;
  for (let index = source.indexOf("<"); index !== -1; index = source.indexOf("<", index)) {
    if (source.startsWith("<!--", index)) {
      index = indexAfter(source, "-->", index + 4);
      continue;
    }
    const isEndTag = source[index + 1] === "/";
    const name = nameAt(source, index + (isEndTag ? 2 : 1));
    if (name === "") {
      index += 1;
      continue;
    }
    const nameEnd = index + (isEndTag ? 2 : 1) + name.length;
    const { end, attributeCount } = readAttributes(source, nameEnd);
    if (attributeCount > maxAttributes) {
      pieces.push(source.slice(copiedUntil, nameEnd), ">");
      copiedUntil = end;
    }
    index = end;
    if (!isEndTag && rawTextElements.has(name)) {
      index = rawTextEnd(source, name, end);
      continue;
    }
    if (flatElements.has(name) || rawTextElements.has(name) || source[end - 2] === "/") continue;
    depth = isEndTag ? Math.max(0, depth - 1) : depth + 1;
    if (depth > maxDepth) return undefined;
  }
  return copiedUntil === 0 ? source : pieces.join("") + source.slice(copiedUntil);
}

/** The index after the next `text`; the end of the source if it is missing. */
const indexAfter = (source: string, text: string, from: number): number => {
  const start = source.indexOf(text, from);
  return start === -1 ? source.length : start + text.length;
};

/** The name at `start`, in lower case and cut to 40 characters; empty if there is no letter at `start`. */
function nameAt(source: string, start: number): string {
  return /^[a-z][a-z\d:-]*/i.exec(source.slice(start, start + 40))?.[0].toLowerCase() ?? "";
}

/** The index after a tag, and the approximate number of its attributes. `start` is the end of the tag's name. */
function readAttributes(source: string, start: number): { readonly end: number; readonly attributeCount: number } {
  let attributeCount = 0;
  let canBeginAttribute = false;
  let last = "";
  for (let index = start; index < source.length; index += 1) {
    const character = source[index] ?? "";
    if (character === ">") return { end: index + 1, attributeCount };
    if (last === "=" && (character === '"' || character === "'")) index = indexAfter(source, character, index + 1) - 1;
    const isSeparator =
      character === " " || character === "\n" || character === "\t" || character === "/" || character === "\f";
    if (canBeginAttribute && !isSeparator) attributeCount += 1;
    // After a quoted value, the next attribute may begin without a space.
    canBeginAttribute = isSeparator || character === '"' || character === "'";
    if (!isSeparator || last !== "=") last = character;
  }
  return { end: source.length, attributeCount };
}

/** The index of the end tag of a raw text element; the end of the source if it is missing. */
function rawTextEnd(source: string, name: string, from: number): number {
  for (let index = source.indexOf("</", from); index !== -1; index = source.indexOf("</", index + 2))
    if (source.slice(index + 2, index + 2 + name.length).toLowerCase() === name) return index;
  return source.length;
}
