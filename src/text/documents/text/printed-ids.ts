/** The ids that are printed in a document. They may be wrong, so the caller must check them. */
export interface OwnIds {
  /** In lower case, without https://doi.org/. */
  readonly doi?: string;
  /** The arXiv id, with the version if it is printed. */
  readonly arxiv?: string;
}

export const doiPattern = /\b10\.\d{4,9}\/[^\s"<>]{2,200}/i;
/** A line that begins with an arXiv id. */
export const stampedLine = /^arXiv:\s?((?:\d{4}\.\d{4,5}|[a-z-]+(?:\.[A-Z]{2})?\/\d{7})(?:v\d{1,3})?)(?=\s|$)/i;

/**
 * A DOI in lower case, without the punctuation after it, and without a suffix for a supplement or a format of the
 * article. Undefined if it is not a DOI.
 */
export function cleanDoi(text: string | undefined): string | undefined {
  const doi = (text ?? "")
    .replace(/(?<![.,;:)\]}'’”])[.,;:)\]}'’”]+$/, "")
    .replace(/\.[st]\d{3}$|\/-?(?:\/dc\d|suppl.*|full|pdf|abstract)$/i, "");
  return /^10\.\d{4,9}\/\S{2,}$/.test(doi) ? doi.toLowerCase() : undefined;
}

/** Number of lines at the top of a text that are searched for its id, without empty lines. */
const maxHeadLines = 14;
const doiLine = /^(?:doi[\s:]{0,4})?(?:https?:\/\/(?:dx\.)?doi\.org\/)?(10\.\d{4,9}\/\S{2,200})$/i;

/** The DOI or arXiv id on a line. Undefined if the line does not consist of an id. */
export function idsOnLine(line: string): OwnIds | undefined {
  const plain = line.replace(/[*_`<>]+/g, "").trim();
  const doi = cleanDoi(doiLine.exec(plain)?.[1]);
  const arxiv = stampedLine.exec(plain)?.[1];
  return doi === undefined && arxiv === undefined ? undefined : { doi, arxiv };
}

/**
 * The ids of a plain text: each is alone on a line above the abstract. If there are several DOIs, as in a list, the
 * text has no DOI; the same for arXiv ids.
 */
export function idsInHead(text: string): OwnIds {
  const lines = text
    .slice(0, 5000)
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "")
    .slice(0, maxHeadLines);
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
