import { markAuthors } from "./authors.js";
import { type Group, groupAt, skipArguments } from "./scan.js";
import { inlineText, numberPlaceholder, append, type ReaderState } from "./reader-state.js";
import { angleText, listText, numberText, quantityText, unitText } from "./siunitx.js";
import { argumentsToSkip, withUnicodeFormulas } from "./symbols.js";

/** Reads a command whose name ends at `end`. @returns the index after the command and the arguments that were read. */
export function readNamedCommand(latex: string, name: string, end: number, state: ReaderState, depth: number): number {
  const argument = (from = end): Group | undefined => groupAt(latex, groupAt(latex, from, "[")?.end ?? from);
  const isCitation = /^(?:no|paren|text|auto|foot)?[cC]ite/.test(name);
  const isReference = /^(?:[cC]|auto|eq|page|name|v)?ref\*?$|^[cC]refrange$/.test(name);
  switch (isCitation ? "cite" : isReference ? "ref" : name) {
    case "cite": {
      const keys = argument(groupAt(latex, end, "[")?.end ?? end);
      if (keys === undefined) return end;
      const numbers = keys.content.split(",").map((key) => state.citations.get(key.trim()) ?? key.trim());
      if (name !== "nocite") append(state, `[${numbers.join(", ")}]`);
      return keys.end;
    }
    case "ref": {
      const label = argument();
      if (label === undefined) return end;
      const kind = /^[cC]ref|^autoref/.test(name) ? `${kindOf(label.content)} ` : "";
      const number = label.content.split(",").map(numberPlaceholder).join(", ");
      append(state, name === "eqref" ? `(${number})` : `${kind}${number}`);
      return label.end;
    }
    case "label": {
      const label = argument();
      if (label !== undefined && state.currentNumber !== "")
        state.labels.set(label.content.trim(), state.currentNumber.replace(/^\D+ /, ""));
      return label?.end ?? end;
    }
    case "title":
    case "Title":
    case "icmltitle": {
      const title = argument();
      if (title === undefined) return end;
      state.title ??=
        withUnicodeFormulas(inlineText(title.content, state, depth))
          .replace(/\s+/g, " ")
          .trim() || undefined;
      return title.end;
    }
    case "twocolumn": {
      // The option is text above both columns. Some document classes put the title there.
      const textAbove = groupAt(latex, end, "[");
      if (textAbove !== undefined) state.read(textAbove.content, state, depth + 1);
      return textAbove?.end ?? end;
    }
    case "author":
    case "Author":
    case "icmlauthor":
    case "authors": {
      const names = argument();
      if (names === undefined) return end;
      state.authorText += `\n${inlineText(markAuthors(names.content), state, depth)}`;
      return name === "icmlauthor" ? (groupAt(latex, names.end)?.end ?? names.end) : names.end;
    }
    case "footnote":
    case "footnotetext": {
      const note = argument();
      if (note === undefined) return end;
      const noteText = inlineText(note.content, state, depth);
      if (noteText !== "") state.pendingNotes.push(noteText);
      return note.end;
    }
    case "caption":
    case "captionof": {
      const caption = name === "captionof" ? groupAt(latex, argument()?.end ?? end) : argument();
      if (caption === undefined) return end;
      const kind = /^(?:Table|Algorithm|Listing)\b/.exec(state.currentNumber)?.[0] ?? "Figure";
      const number = state.currentNumber.replace(/^\D+/, "");
      append(
        state,
        `\n\n${kind}${number === "" ? "" : ` ${number}`}: ${inlineText(caption.content, state, depth)}\n\n`,
      );
      return caption.end;
    }
    case "item": {
      const label = groupAt(latex, end, "[");
      append(state, `\n- ${label === undefined ? "" : `${inlineText(label.content, state, depth)} `}`);
      return label?.end ?? skipOneSpace(latex, end);
    }
    case "bibitem": {
      const key = argument();
      append(state, `\n\n[${state.citations.get(key?.content.trim() ?? "") ?? "?"}] `);
      return key?.end ?? end;
    }
    case "paragraph":
    case "subparagraph": {
      const heading = argument();
      if (heading !== undefined) append(state, `\n\n${inlineText(heading.content, state, depth)} `);
      return heading?.end ?? end;
    }
    case "texorpdfstring": {
      const typesetText = groupAt(latex, end);
      if (typesetText === undefined) return end;
      append(state, inlineText(typesetText.content, state, depth));
      return groupAt(latex, typesetText.end)?.end ?? typesetText.end;
    }
    case "SI":
    case "qty": {
      const value = argument();
      const unit = value === undefined ? undefined : argument(value.end);
      if (value === undefined || unit === undefined) return value?.end ?? end;
      append(state, quantityText(value.content, unitText(unit.content)));
      return unit.end;
    }
    case "SIrange":
    case "qtyrange":
    case "numrange": {
      const from = argument();
      const to = from === undefined ? undefined : argument(from.end);
      const unit = to === undefined || name === "numrange" ? undefined : argument(to.end);
      if (from === undefined || to === undefined) return from?.end ?? end;
      const unitSymbol = unit === undefined ? "" : unitText(unit.content);
      append(state, `${quantityText(from.content, unitSymbol)} to ${quantityText(to.content, unitSymbol)}`);
      return unit?.end ?? to.end;
    }
    case "SIlist":
    case "qtylist":
    case "numlist": {
      const numbers = argument();
      const unit = numbers === undefined || name === "numlist" ? undefined : argument(numbers.end);
      if (numbers !== undefined)
        append(state, listText(numbers.content, unit === undefined ? "" : unitText(unit.content)));
      return unit?.end ?? numbers?.end ?? end;
    }
    case "num":
    case "ang": {
      const number = argument();
      if (number !== undefined) append(state, name === "num" ? numberText(number.content) : angleText(number.content));
      return number?.end ?? end;
    }
    case "si":
    case "unit": {
      const unit = argument();
      if (unit !== undefined) append(state, unitText(unit.content));
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
      if (address !== undefined) append(state, address.content.replace(/\\([%#&_~])/g, "$1"));
      return address?.end ?? end;
    }
    case "textcolor":
    case "color":
    case "fontsize":
      return skipIfHidden(latex, name, end, state);
    case "end":
      append(state, "\n\n");
      return groupAt(latex, end)?.end ?? end;
    case "phantom":
    case "hphantom":
    case "vphantom": {
      const invisibleText = argument();
      state.hiddenChars += invisibleText?.content.length ?? 0;
      return invisibleText?.end ?? end;
    }
    case "appendix":
      state.isAppendix = true;
      state.counters.set("section", 0);
      return end;
    case "xspace":
      if (/[\p{L}\p{N}“‘(]/u.test(latex[end] ?? latex[end + 1] ?? "")) append(state, " ");
      return end;
    case "verb": {
      const delimiter = latex[end] ?? "";
      const close = latex.slice(0, end + 500).indexOf(delimiter, end + 1);
      if (close === -1) return end;
      append(state, latex.slice(end + 1, close));
      return close + 1;
    }
    default: {
      const argumentCount = argumentsToSkip[name];
      if (argumentCount !== undefined) {
        const close = latex[end] === "(" ? latex.slice(end, end + maxBracketChars).indexOf(")") : -1;
        return skipArguments(latex, end + close + 1, argumentCount);
      }
      // An assignment of a length, such as \parskip=0pt plus 1pt, is not text.
      const assignment =
        /^\s?=\s?-?\s?[\d.]{1,12}\s?(?:pt|em|ex|cm|mm|in|bp|pc|sp|truept|truecm|\\[a-zA-Z]{1,30})(?:\s?(?:plus|minus)\s?[\d.]{1,12}\s?(?:pt|em|ex|cm|mm|in|fil{1,3}))*/.exec(
          latex.slice(end, end + 120),
        );
      if (assignment !== null) return end + assignment[0].length;
      // An unknown command and its options are skipped. Its arguments are read as text.
      const hasOption = /^\s*\[/.test(latex.slice(end, end + 3));
      return hasOption ? (groupAt(latex, end, "[")?.end ?? end) : skipOneSpace(latex, end);
    }
  }
}

/** Maximum length of an argument in round brackets, such as in `\cmidrule(lr)`. */
const maxBracketChars = 200;

/** What a label belongs to, by its prefix: "fig:" is a figure by convention. */
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

/** Skips the space after the name of a command; it only ends the name. */
export const skipOneSpace = (latex: string, end: number): number =>
  /[ \t\n]/.test(latex[end] ?? "") && latex[end + 1] !== "\n" ? end + 1 : end;

/** Text in a smaller font, in points, is not meant to be read. */
const minFontSize = 1.2;

/**
 * Reads a command for a colour or a font size. Skips the text after it if it is hidden: white, or in a tiny font. White
 * text in a table is not hidden, because the cells may be dark.
 */
function skipIfHidden(latex: string, name: string, end: number, state: ReaderState): number {
  const first = groupAt(latex, groupAt(latex, end, "[")?.end ?? end);
  if (first === undefined) return end;
  const isHidden =
    name === "fontsize"
      ? Number.parseFloat(first.content) < minFontSize
      : /^\s*white\s*$/i.test(first.content) && !state.isTable;
  const textStart = name === "fontsize" ? (groupAt(latex, first.end)?.end ?? first.end) : first.end;
  if (!isHidden) return textStart;
  const textArgument = name === "textcolor" ? groupAt(latex, textStart) : undefined;
  const textEnd = textArgument?.end ?? endOfGroup(latex, textStart);
  state.hiddenChars += latex.slice(textStart, textEnd).replace(/\s+/g, " ").trim().length;
  return textEnd;
}

/** The end of the group that `start` is in; if it is in no group, the end of the paragraph. */
function endOfGroup(latex: string, start: number): number {
  const limit = Math.min(latex.length, start + 20_000);
  let depth = 0;
  for (let index = start; index < limit; index += 1) {
    const character = latex[index];
    if (character === "\\") index += 1;
    else if (character === "{") depth += 1;
    else if (character === "}" && (depth -= 1) < 0) return index;
  }
  const paragraphEnd = latex.indexOf("\n\n", start);
  return paragraphEnd === -1 || paragraphEnd > limit ? limit : paragraphEnd;
}
