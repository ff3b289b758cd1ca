/**
 * The parser's time grows with the square of the depth: fifty thousand elements in one another took six minutes.
 * Articles need some fifty.
 */
const maxDepth = 1000;
/** The parser compares each attribute of a tag with all before it: a hundred thousand took two minutes. */
const maxAttributes = 500;

/** Elements that hold no others, or that another of their kind closes. */
const neverDeepens = new Set(
  "area base br col dd dt embed hr img input li link meta option p param source td th tr track wbr".split(" "),
);
/** What stands in these is not markup. */
const rawText = new Set(["script", "style", "textarea", "title", "xmp", "noscript"]);

/**
 * Looks through a page's source before it is parsed, in one pass without going back. Gives the source with the
 * attributes of a tag that has too many left out, or undefined where its elements are nested too deeply.
 */
export function checkedSource(source: string): string | undefined {
  const pieces: string[] = [];
  let kept = 0;
  let depth = 0;
  for (let at = source.indexOf("<"); at !== -1; at = source.indexOf("<", at)) {
    if (source.startsWith("<!--", at)) {
      at = after(source, "-->", at + 4);
      continue;
    }
    const isClosing = source[at + 1] === "/";
    const name = nameAt(source, at + (isClosing ? 2 : 1));
    if (name === "") {
      at += 1;
      continue;
    }
    const from = at + (isClosing ? 2 : 1) + name.length;
    const { end, attributes } = tagEnd(source, from);
    if (attributes > maxAttributes) {
      pieces.push(source.slice(kept, from), ">");
      kept = end;
    }
    at = end;
    if (!isClosing && rawText.has(name)) {
      at = endOfRaw(source, name, end);
      continue;
    }
    // The end of raw text closes what was not counted.
    if (neverDeepens.has(name) || rawText.has(name) || source[end - 2] === "/") continue;
    depth = isClosing ? Math.max(0, depth - 1) : depth + 1;
    if (depth > maxDepth) return undefined;
  }
  return kept === 0 ? source : pieces.join("") + source.slice(kept);
}

const after = (source: string, mark: string, from: number): number => {
  const found = source.indexOf(mark, from);
  return found === -1 ? source.length : found + mark.length;
};

/** In lower case; empty where no name begins with a letter. Names are short: of a longer one the beginning. */
function nameAt(source: string, at: number): string {
  return /^[a-z][a-z\d:-]*/i.exec(source.slice(at, at + 40))?.[0].toLowerCase() ?? "";
}

/**
 * Where a tag ends, and about how many attributes it has: what stands in quotation marks behind an equals sign is one.
 */
function tagEnd(source: string, from: number): { readonly end: number; readonly attributes: number } {
  let attributes = 0;
  let isSpace = false;
  let last = "";
  for (let at = from; at < source.length; at += 1) {
    const character = source[at] ?? "";
    if (character === ">") return { end: at + 1, attributes };
    if (last === "=" && (character === '"' || character === "'")) at = after(source, character, at + 1) - 1;
    const isNext =
      character === " " || character === "\n" || character === "\t" || character === "/" || character === "\f";
    if (isSpace && !isNext) attributes += 1;
    // Without a space behind a quoted value the next attribute begins there.
    isSpace = isNext || character === '"' || character === "'";
    if (!isNext || last !== "=") last = character;
  }
  return { end: source.length, attributes };
}

/** Where the end tag of an element begins whose content is not markup; the source's end where it is missing. */
function endOfRaw(source: string, name: string, from: number): number {
  for (let at = source.indexOf("</", from); at !== -1; at = source.indexOf("</", at + 2))
    if (source.slice(at + 2, at + 2 + name.length).toLowerCase() === name) return at;
  return source.length;
}
