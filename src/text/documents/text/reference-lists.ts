/** A heading of a list of references, in several languages. */
const headingPattern =
  /^(?:#{1,6} ?)?(?:\d{1,2}\.? ?|[IVX]{1,4}\.? )?(?:references|reference list|bibliography|works cited|literature cited|literature|references and notes|cited references|references cited|literature references|literature cited and notes|bibliographic references|citations|further reading|reference|quellen|quellenverzeichnis|literaturangaben|referenzen|literatur|literaturverzeichnis|références|références bibliographiques|bibliographie|referencias|bibliografía|bibliografia|riferimenti bibliografici|referências|literatura|referenser|litteratur|kaynaklar|литература|список литературы|参考文献)\s{0,3}:?$/i;
/** A heading with spaces between its letters: "R E F E R E N C E S", "R EFERENCES". */
const letterSpacedHeading = /\p{Lu}(?: \p{Lu}){5,20}$|\p{Lu} \p{Lu}{6,20}$/u;
/** A heading that may follow a list of references. */
const nextHeading =
  /^(?:#{1,6} |(?:appendix|appendices|supplement|supplementary|supporting information|acknowledge?ments?|annex|author contributions|competing interests|figures? and tables?)\b|[A-Z](?:\.\d{1,2})?\.? [A-Z][a-z]{2,40})/i;

/** A list of references in a text. */
export interface ReferenceList {
  /** Offset of the first character. */
  readonly start: number;
  /** Offset after the last character. */
  readonly end: number;
  /** True if its heading is marked as a heading in the document, so that the list is certain. */
  readonly isSure: boolean;
}

/** Finds the lists of references in a text. Linear in its length. */
export function referenceLists(text: string): readonly ReferenceList[] {
  const lists: ReferenceList[] = [];
  let openList: { readonly start: number; readonly isSure: boolean } | undefined;
  let lineStart = 0;
  for (const line of text.split("\n")) {
    const heading = line.length > 80 ? "" : line.trim().replace(letterSpacedHeading, (word) => word.replace(/\s/g, ""));
    if (headingPattern.test(heading)) openList ??= { start: lineStart, isSure: heading.startsWith("#") };
    else if (openList !== undefined && nextHeading.test(heading) && !hasYears(text, lineStart)) {
      lists.push({ ...openList, end: lineStart });
      openList = undefined;
    }
    lineStart += line.length + 1;
  }
  if (openList !== undefined) lists.push({ ...openList, end: text.length });
  // The heading may also be in a table of contents, where no references follow.
  return lists.filter((list) => hasYears(text, list.start));
}

/** Whether the text after an offset has as many years as references have. */
function hasYears(text: string, offset: number): boolean {
  const piece = text.slice(offset, offset + 1200);
  // A year may follow its journal without a space: "Circulation2009;119".
  const years = piece.match(/(?<!\d)(?:19|20)\d\d(?!\d)/g)?.length ?? 0;
  return years >= Math.min(3, Math.max(1, Math.floor(piece.length / 250)));
}

/** Maximum length of a reference. */
const maxEntryChars = 500;
/** The mark at the beginning of a reference, such as "[3]" or "12.". */
const entryMark = /(?:^|\n)\s{0,9}(?:\[[^\]\n]{1,20}\]|\d{1,3}\.|•) /g;

/**
 * Whether a passage in a list of references is part of a reference, such as its title: it is after the mark of the
 * reference, or beside its year. The end of a list is only a guess, so a passage may also be in a text after it, such
 * as the biographies of the authors.
 */
export function isInEntry(text: string, { start, end }: Pick<ReferenceList, "start" | "end">): boolean {
  const before = text.slice(Math.max(0, start - maxEntryChars), start);
  const marks = [...before.matchAll(entryMark)];
  const entry = marks.length === 0 ? before.slice(-200) : before.slice(marks.at(-1)?.index);
  if (marks.length > 0 && entry.length < 300 && !/(?:19|20)\d\d\b[^\n]{0,20}\.\s/.test(entry)) return true;
  const isSentence = /\b(?:he|she|his|her|they|we|our|was|were|has|have)\b/i.test(text.slice(start, end));
  return !isSentence && /\b(?:19|20)\d\d\b/.test(entry.slice(-200) + text.slice(end, end + 200));
}
