const headings =
  /^(?:#{1,6} ?)?(?:\d{1,2}\.? ?|[IVX]{1,4}\.? )?(?:references|reference list|bibliography|works cited|literature cited|literature|references and notes|cited references|references cited|literature references|literature cited and notes|bibliographic references|citations|further reading|reference|quellen|quellenverzeichnis|literaturangaben|referenzen|literatur|literaturverzeichnis|références|références bibliographiques|bibliographie|referencias|bibliografía|bibliografia|riferimenti bibliografici|referências|literatura|referenser|litteratur|kaynaklar|литература|список литературы|参考文献)\s{0,3}:?$/i;
/** A heading whose letters are set apart: "R E F E R E N C E S", "R EFERENCES". */
const letterspaced = /\p{Lu}(?: \p{Lu}){5,20}$|\p{Lu} \p{Lu}{6,20}$/u;
/** What may follow a list of references. */
const behind =
  /^(?:#{1,6} |(?:appendix|appendices|supplement|supplementary|supporting information|acknowledge?ments?|annex|author contributions|competing interests|figures? and tables?)\b|[A-Z](?:\.\d{1,2})?\.? [A-Z][a-z]{2,40})/i;

/** A list of references; `isSure` where a reader of a structured document set its heading. */
export interface ReferenceList {
  /** Offsets of characters; the end is behind the last. */
  readonly start: number;
  readonly end: number;
  readonly isSure: boolean;
}

/** The stretches of a text that are its lists of references. Linear in its length. */
export function referenceLists(text: string): readonly ReferenceList[] {
  const lists: ReferenceList[] = [];
  let begun: { readonly start: number; readonly isSure: boolean } | undefined;
  let at = 0;
  for (const line of text.split("\n")) {
    const plain = line.length > 80 ? "" : line.trim().replace(letterspaced, (word) => word.replace(/\s/g, ""));
    if (headings.test(plain)) begun ??= { start: at, isSure: plain.startsWith("#") };
    else if (begun !== undefined && plain !== "" && behind.test(plain) && !looksCited(text, at)) {
      lists.push({ ...begun, end: at });
      begun = undefined;
    }
    at += line.length + 1;
  }
  if (begun !== undefined) lists.push({ ...begun, end: text.length });
  // A table of contents names the list on its first page: what follows is the paper.
  return lists.filter((list) => looksCited(text, list.start));
}

/** Whether what follows an offset reads like cited works: years, a few in a paragraph's length. */
function looksCited(text: string, at: number): boolean {
  const piece = text.slice(at, at + 1200);
  // A year may follow its journal without a space: "Circulation2009;119".
  const years = piece.match(/(?<!\d)(?:19|20)\d\d(?!\d)/g)?.length ?? 0;
  return years >= Math.min(3, Math.max(1, Math.floor(piece.length / 250)));
}

/** Characters of one cited work at most. */
const maxEntry = 500;
const entryMark = /(?:^|\n)\s{0,9}(?:\[[^\]\n]{1,20}\]|\d{1,3}\.|•) /g;

/**
 * Whether a passage of a list whose end is only guessed stands in the entry of a cited work, as its title does: behind
 * the entry's mark or next to its year. Lives of the authors that follow the list do not.
 */
export function isInEntry(text: string, { start, end }: Pick<ReferenceList, "start" | "end">): boolean {
  const before = text.slice(Math.max(0, start - maxEntry), start);
  const marks = [...before.matchAll(entryMark)];
  const entry = marks.length === 0 ? before.slice(-200) : before.slice(marks.at(-1)?.index);
  if (marks.length > 0 && entry.length < 300 && !/(?:19|20)\d\d\b[^\n]{0,20}\.\s/.test(entry)) return true;
  const isSaid = /\b(?:he|she|his|her|they|we|our|was|were|has|have)\b/i.test(text.slice(start, end));
  return !isSaid && /\b(?:19|20)\d\d\b/.test(entry.slice(-200) + text.slice(end, end + 200));
}
