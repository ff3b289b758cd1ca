/** The names that a document gives itself; a reader of its papers still has to ask whether they are true. */
export interface OwnIds {
  /** In lower case, without a resolver. */
  readonly doi?: string;
  /** As arXiv stamps it, with its version. */
  readonly arxiv?: string;
}

export const doiPattern = /\b10\.\d{4,9}\/[^\s"<>]{2,200}/i;
/** A line that begins with the id of arXiv. */
export const stampedLine = /^arXiv:\s?((?:\d{4}\.\d{4,5}|[a-z-]+(?:\.[A-Z]{2})?\/\d{7})(?:v\d{1,3})?)(?=\s|$)/i;

/** A DOI without what a sentence puts behind it, and without the part for a supplement of its article. */
export function cleanDoi(text: string | undefined): string | undefined {
  const bare = (text ?? "")
    .replace(/(?<![.,;:)\]}'’”])[.,;:)\]}'’”]+$/, "")
    .replace(/\.[st]\d{3}$|\/-?(?:\/dc\d|suppl.*|full|pdf|abstract)$/i, "");
  return /^10\.\d{4,9}\/\S{2,}$/.test(bare) ? bare.toLowerCase() : undefined;
}

/** Lines at the top of a text, without those that are empty, among which its own id stands. */
const maxHead = 14;
const doiLine = /^(?:doi[\s:]{0,4})?(?:https?:\/\/(?:dx\.)?doi\.org\/)?(10\.\d{4,9}\/\S{2,200})$/i;

/** The DOI or arXiv id that a line of a text is, with nothing beside it; undefined for any other line. */
export function idsOnLine(line: string): OwnIds | undefined {
  const plain = line.replace(/[*_`<>]+/g, "").trim();
  const doi = cleanDoi(doiLine.exec(plain)?.[1]);
  const arxiv = stampedLine.exec(plain)?.[1];
  return doi === undefined && arxiv === undefined ? undefined : { doi, arxiv };
}

/** The ids of a plain text: on a line of its own above the abstract. None where several stand there, as in a list. */
export function idsInHead(text: string): OwnIds {
  const lines = text
    .slice(0, 5000)
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "")
    .slice(0, maxHead);
  const end = lines.findIndex((line) =>
    /^(?:#+ *)?(?:\d{1,2}\.? *)?(?:abstract|summary|introduction|references)\b/i.test(line),
  );
  const found = (end === -1 ? lines : lines.slice(0, end)).flatMap((line) => idsOnLine(line) ?? []);
  const [dois, arxivs] = [found.map(({ doi }) => doi), found.map(({ arxiv }) => arxiv)].map(
    (ids) => new Set(ids.filter((id) => id !== undefined)),
  );
  const only = (ids = new Set<string>()) => (ids.size === 1 ? [...ids][0] : undefined);
  return { doi: only(dois), arxiv: only(arxivs) };
}
