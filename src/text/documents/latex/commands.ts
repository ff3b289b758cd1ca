import { authorsSource } from "./authors.js";
import { type Group, groupAt, skipArguments } from "./scan.js";
import { inline, reference, say, type Walk } from "./walk.js";
import { angleText, listText, numberText, quantityText, unitText } from "./siunitx.js";
import { dropped, formulasInSigns } from "./symbols.js";

/** What a command of letters says, and where the text goes on. */
export function wordCommand(latex: string, name: string, end: number, walk: Walk, depth: number): number {
  const argument = (from = end): Group | undefined => groupAt(latex, groupAt(latex, from, "[")?.end ?? from);
  const cites = /^(?:no|paren|text|auto|foot)?[cC]ite/.test(name);
  switch (cites ? "cite" : /^(?:[cC]|auto|eq|page|name|v)?ref\*?$|^[cC]refrange$/.test(name) ? "ref" : name) {
    case "cite": {
      const keys = argument(groupAt(latex, end, "[")?.end ?? end);
      if (keys === undefined) return end;
      const numbers = keys.content.split(",").map((key) => walk.citations.get(key.trim()) ?? key.trim());
      if (name !== "nocite") say(walk, `[${numbers.join(", ")}]`);
      return keys.end;
    }
    case "ref": {
      const label = argument();
      if (label === undefined) return end;
      const word = /^[cC]ref|^autoref/.test(name) ? `${kindOf(label.content)} ` : "";
      const number = label.content.split(",").map(reference).join(", ");
      say(walk, name === "eqref" ? `(${number})` : `${word}${number}`);
      return label.end;
    }
    case "label": {
      const label = argument();
      if (label !== undefined && walk.current !== "")
        walk.labels.set(label.content.trim(), walk.current.replace(/^\D+ /, ""));
      return label?.end ?? end;
    }
    case "title":
    case "Title":
    case "icmltitle": {
      const title = argument();
      if (title === undefined) return end;
      walk.title ??=
        formulasInSigns(inline(title.content, walk, depth))
          .replace(/\s+/g, " ")
          .trim() || undefined;
      return title.end;
    }
    case "twocolumn": {
      // What stands above both columns: some classes set the title there.
      const above = groupAt(latex, end, "[");
      if (above !== undefined) walk.write(above.content, walk, depth + 1);
      return above?.end ?? end;
    }
    case "author":
    case "Author":
    case "icmlauthor":
    case "authors": {
      const names = argument();
      if (names === undefined) return end;
      walk.authors += `\n${inline(authorsSource(names.content), walk, depth)}`;
      return name === "icmlauthor" ? (groupAt(latex, names.end)?.end ?? names.end) : names.end;
    }
    case "footnote":
    case "footnotetext": {
      const note = argument();
      if (note === undefined) return end;
      const written = inline(note.content, walk, depth);
      if (written !== "") walk.notes.push(written);
      return note.end;
    }
    case "caption":
    case "captionof": {
      const caption = name === "captionof" ? groupAt(latex, argument()?.end ?? end) : argument();
      if (caption === undefined) return end;
      const kind = /^(?:Table|Algorithm|Listing)\b/.exec(walk.current)?.[0] ?? "Figure";
      const number = walk.current.replace(/^\D+/, "");
      say(walk, `\n\n${kind}${number === "" ? "" : ` ${number}`}: ${inline(caption.content, walk, depth)}\n\n`);
      return caption.end;
    }
    case "item": {
      const label = groupAt(latex, end, "[");
      say(walk, `\n- ${label === undefined ? "" : `${inline(label.content, walk, depth)} `}`);
      return label?.end ?? swallowed(latex, end);
    }
    case "bibitem": {
      const key = argument();
      say(walk, `\n\n[${walk.citations.get(key?.content.trim() ?? "") ?? "?"}] `);
      return key?.end ?? end;
    }
    case "paragraph":
    case "subparagraph": {
      const heading = argument();
      if (heading !== undefined) say(walk, `\n\n${inline(heading.content, walk, depth)} `);
      return heading?.end ?? end;
    }
    case "texorpdfstring": {
      const shown = groupAt(latex, end);
      if (shown === undefined) return end;
      say(walk, inline(shown.content, walk, depth));
      return groupAt(latex, shown.end)?.end ?? shown.end;
    }
    case "SI":
    case "qty": {
      const value = argument();
      const unit = value === undefined ? undefined : argument(value.end);
      if (value === undefined || unit === undefined) return value?.end ?? end;
      say(walk, quantityText(value.content, unitText(unit.content)));
      return unit.end;
    }
    case "SIrange":
    case "qtyrange":
    case "numrange": {
      const from = argument();
      const to = from === undefined ? undefined : argument(from.end);
      const unit = to === undefined || name === "numrange" ? undefined : argument(to.end);
      if (from === undefined || to === undefined) return from?.end ?? end;
      const text = unit === undefined ? "" : unitText(unit.content);
      say(walk, `${quantityText(from.content, text)} to ${quantityText(to.content, text)}`);
      return unit?.end ?? to.end;
    }
    case "SIlist":
    case "qtylist":
    case "numlist": {
      const numbers = argument();
      const unit = numbers === undefined || name === "numlist" ? undefined : argument(numbers.end);
      if (numbers !== undefined) say(walk, listText(numbers.content, unit === undefined ? "" : unitText(unit.content)));
      return unit?.end ?? numbers?.end ?? end;
    }
    case "num":
    case "ang": {
      const number = argument();
      if (number !== undefined) say(walk, name === "num" ? numberText(number.content) : angleText(number.content));
      return number?.end ?? end;
    }
    case "si":
    case "unit": {
      const unit = argument();
      if (unit !== undefined) say(walk, unitText(unit.content));
      return unit?.end ?? end;
    }
    case "href": {
      const address = groupAt(latex, end);
      return address?.end ?? end;
    }
    case "url":
    case "path":
    case "nolinkurl": {
      const address = groupAt(latex, end);
      if (address !== undefined) say(walk, address.content.replace(/\\([%#&_~])/g, "$1"));
      return address?.end ?? end;
    }
    case "textcolor":
    case "color":
    case "fontsize":
      return ink(latex, name, end, walk);
    case "end":
      say(walk, "\n\n");
      return groupAt(latex, end)?.end ?? end;
    case "phantom":
    case "hphantom":
    case "vphantom": {
      const unseen = argument();
      walk.hidden += unseen?.content.length ?? 0;
      return unseen?.end ?? end;
    }
    case "appendix":
      walk.isAppendix = true;
      walk.counters.set("section", 0);
      return end;
    case "xspace":
      if (/[\p{L}\p{N}“‘(]/u.test(latex[end] ?? latex[end + 1] ?? "")) say(walk, " ");
      return end;
    case "verb": {
      const mark = latex[end] ?? "";
      const close = latex.slice(0, end + 500).indexOf(mark, end + 1);
      if (close === -1) return end;
      say(walk, latex.slice(end + 1, close));
      return close + 1;
    }
    default: {
      const skipped = dropped[name];
      if (skipped !== undefined) {
        // An unclosed bracket would lead back to the beginning of the text.
        const close = latex[end] === "(" ? latex.slice(end, end + longestBracket).indexOf(")") : -1;
        return skipArguments(latex, end + close + 1, skipped);
      }
      // A length that is set, such as \\parskip=0pt plus 1pt, is not text.
      const set =
        /^\s?=\s?-?\s?[\d.]{1,12}\s?(?:pt|em|ex|cm|mm|in|bp|pc|sp|truept|truecm|\\[a-zA-Z]{1,30})(?:\s?(?:plus|minus)\s?[\d.]{1,12}\s?(?:pt|em|ex|cm|mm|in|fil{1,3}))*/.exec(
          latex.slice(end, end + 120),
        );
      if (set !== null) return end + set[0].length;
      // The command itself says nothing; what stands in its arguments is read on.
      return /^\s*\[/.test(latex.slice(end, end + 3)) ? (groupAt(latex, end, "[")?.end ?? end) : swallowed(latex, end);
    }
  }
}

/** Characters of an argument in round brackets, such as `\\cmidrule(lr)`. */
const longestBracket = 200;

/** A label's prefix says by convention what it names. */
function kindOf(label: string): string {
  const kinds: Readonly<Record<string, string>> = {
    fig: "Figure",
    tab: "Table",
    eq: "Equation",
    app: "Appendix",
    alg: "Algorithm",
    thm: "Theorem",
  };
  return (
    kinds[/^([a-z]{2,4})\w*:/.exec(label.trim())?.[1]?.slice(0, 3) ?? ""] ??
    (label.startsWith("eq:") ? "Equation" : "Section")
  );
}

/** TeX takes the space after a command's name for its end. */
export const swallowed = (latex: string, end: number): number =>
  /[ \t\n]/.test(latex[end] ?? "") && latex[end + 1] !== "\n" ? end + 1 : end;

/** Text set smaller than this, in points, is not meant for eyes. */
const minPrint = 1.2;

/** Text that nobody sees, white on white or of no size, is left out; white on a table's dark cells is a design. */
function ink(latex: string, name: string, end: number, walk: Walk): number {
  const first = groupAt(latex, groupAt(latex, end, "[")?.end ?? end);
  if (first === undefined) return end;
  const hides =
    name === "fontsize"
      ? Number.parseFloat(first.content) < minPrint
      : /^\s*white\s*$/i.test(first.content) && !walk.isTable;
  const after = name === "fontsize" ? (groupAt(latex, first.end)?.end ?? first.end) : first.end;
  if (!hides) return after;
  const inner = name === "textcolor" ? groupAt(latex, after) : undefined;
  const until = inner?.end ?? endOfGroup(latex, after);
  walk.hidden += latex.slice(after, until).replace(/\s+/g, " ").trim().length;
  return until;
}

/** Where the group that `at` stands in ends, or the paragraph where it stands in none. */
function endOfGroup(latex: string, at: number): number {
  const limit = Math.min(latex.length, at + 20_000);
  let depth = 0;
  for (let next = at; next < limit; next += 1) {
    const character = latex[next];
    if (character === "\\") next += 1;
    else if (character === "{") depth += 1;
    else if (character === "}" && (depth -= 1) < 0) return next;
  }
  const paragraph = latex.indexOf("\n\n", at);
  return paragraph === -1 || paragraph > limit ? limit : paragraph;
}
