import { oneLine } from "../../../engine/lib/sanitise.js";
import { withoutUndefined } from "../../../engine/lib/without-undefined.js";
import type { Paper, Rrd } from "../../generated/rrd.js";
import { authorsOf } from "../authors.js";
import { keysOf } from "../paper-keys.js";
import type { Publication } from "../paper-record.js";
import { type AuthorName, personName } from "../person-name.js";
import { parseReference } from "../reference.js";

/** What a citation needs of a paper. A paper of the pool has it, and so has what a search found. */
export type Cited = Pick<
  Paper,
  | "id"
  | "key"
  | "title"
  | "authors"
  | "date"
  | "identifiers"
  | "url"
  | "pdf_url"
  | "abstract"
  | "venue"
  | "volume"
  | "issue"
  | "pages"
  | "publication_type"
  | "publication"
  | "retracted"
> & {
  readonly status?: Paper["status"];
  /** Of its insights. */
  readonly tags?: readonly string[];
  readonly outcome?: Outcome;
};

/** What became of a record in a project, and who says so. */
export interface Outcome {
  /** How far it came: "full text", "abstract", "screening", "duplicate", "not screened", or why it was left out. */
  readonly stage: string;
  readonly decision: "included" | "excluded" | "open";
  /** An agent, several of them, "a person" or "code"; absent where nobody decided or it is not recorded. */
  readonly decidedBy?: string;
  /** The criterion that excluded it, with its text. */
  readonly criterion?: string;
  readonly reason?: string;
  /** The words of the record that bear the criterion out. */
  readonly quote?: string;
  /** Key of the record that it is the same work as. */
  readonly duplicateOf?: string;
  /** Its passages that were found in its text, the quoted words between “ and ”, at most ten. */
  readonly passages?: readonly { readonly text: string; readonly locator?: string }[];
  /** Address of the paper in the report. */
  readonly report?: string;
}

/** A record of a project, with what became of it. */
export type TracedRecord = Cited & Pick<Paper, "source"> & { readonly key: string; readonly outcome: Outcome };

export type WorkKind =
  | "article"
  | "conference"
  | "chapter"
  | "book"
  | "proceedings"
  | "thesis"
  | "masters"
  | "report"
  | "preprint"
  | "dataset"
  | "software"
  | "patent"
  | "web"
  | "other";

/** Whether a work of this kind stands for itself: what services name as its venue is who published it. */
export const isWhole = (kind: WorkKind): boolean =>
  ["book", "proceedings", "thesis", "masters", "report"].includes(kind);

/** Whether a work of this kind stands in a volume: of preprints services give their number as one. */
export const isInVolume = (kind: WorkKind): boolean => kind !== "preprint" && kind !== "other";

/**
 * A work as each of our formats writes it. Texts stand on one line, without control, bidirectional and zero-width
 * characters; addresses are http or https.
 */
export interface CitedWork {
  /** The id in the project, which `show` takes. */
  readonly id: string;
  /** What people call it, unique within the project: "lee2024", "lee2024b". */
  readonly key: string;
  readonly kind: WorkKind;
  readonly title: string;
  readonly authors: readonly AuthorName[];
  readonly year?: number;
  /** Year, month and day, as far as they are known. */
  readonly date?: readonly number[];
  readonly venue?: string;
  readonly volume?: string;
  readonly issue?: string;
  readonly pages?: string;
  readonly doi?: string;
  readonly arxiv?: string;
  readonly pmid?: string;
  readonly pmcid?: string;
  /** Publisher, editors and what else citing it may need. */
  readonly publication: Publication;
  readonly url?: string;
  readonly pdf?: string;
  readonly abstract?: string;
  /** What became of it, such as "presented"; undefined where it belongs to no project. */
  readonly decision?: string;
  readonly tags: readonly string[];
  readonly retracted: boolean;
  readonly outcome?: Outcome;
}

/** The works of a project in the order of its pool. */
export const worksOf = (rrd: Rrd): CitedWork[] => citedWorks(withTags(rrd));

/** The papers of a project, each with the tags of its insights. */
export function withTags(rrd: Rrd): (Paper & { readonly tags: readonly string[] })[] {
  const tags = new Map<string, Set<string>>();
  for (const { paper_id, tags: named } of rrd.insights ?? [])
    if (paper_id != null)
      tags.set(paper_id, new Set([...(tags.get(paper_id) ?? []), ...(named ?? []).map(oneLine)].filter(Boolean)));
  return rrd.papers_pool.map((paper) => ({ ...paper, tags: [...(tags.get(paper.id) ?? [])] }));
}

/** Papers as works with a key each, in their order. */
export function citedWorks(papers: readonly Cited[]): CitedWork[] {
  const keys = keysOf(papers);
  return papers.map((paper, index) => ({ ...workOf(paper), key: keys[index] as string }));
}

function workOf(paper: Cited): Omit<CitedWork, "key"> {
  const doi = doiOf(paper);
  const arxiv = said(arxivOf(paper));
  // A month or a day that no calendar has is not told.
  const [year, ...rest] =
    /^(\d{4})(?:-(0[1-9]|1[0-2])(?:-(0[1-9]|[12]\d|3[01]))?)?/.exec(paper.date ?? "")?.slice(1) ?? [];
  return {
    id: oneLine(paper.id),
    kind: kindOf(paper, arxiv),
    title: oneLine(paper.title),
    authors: authorsOf(paper.authors).map(oneLine).filter(Boolean).map(personName),
    ...(year === undefined
      ? {}
      : { year: Number(year), date: [year, ...rest].filter((part) => part !== undefined).map(Number) }),
    ...withoutUndefined({
      venue: said(paper.venue),
      volume: said(paper.volume),
      issue: said(paper.issue),
      pages: said(paper.pages),
      abstract: said(paper.abstract),
      decision: paper.status?.replaceAll("_", " ") ?? decisionWords(paper.outcome),
      outcome: paper.outcome,
    }),
    ...withoutUndefined({
      doi,
      arxiv,
      url: webAddress(paper.url),
      pdf: webAddress(paper.pdf_url),
      pmid: said(paper.identifiers?.pmid),
      pmcid: said(paper.identifiers?.pmcid),
    }),
    publication: inLines(paper.publication ?? {}),
    tags: paper.tags ?? [],
    retracted: paper.retracted === true,
  };
}

/** What became of a record that is in no pool, as a keyword. */
const decisionWords = (outcome: Outcome | undefined): string | undefined =>
  outcome === undefined || outcome.decision === "open" || outcome.duplicateOf !== undefined
    ? outcome?.stage
    : outcome.decision;

const said = (value: string | null | undefined): string | undefined => oneLine(value ?? "") || undefined;

/** Each text on one line; what is empty is left out. */
function inLines({ editors, keywords, ...texts }: NonNullable<Cited["publication"]>): Publication {
  const lines = (list: readonly string[] | undefined) => (list ?? []).map(oneLine).filter(Boolean);
  const named = Object.entries(texts).flatMap(([name, value]) => {
    const text = typeof value === "string" ? oneLine(value) : "";
    return text === "" ? [] : [[name, text] as const];
  });
  return {
    ...Object.fromEntries(named),
    ...(lines(editors).length === 0 ? {} : { editors: lines(editors) }),
    ...(lines(keywords).length === 0 ? {} : { keywords: lines(keywords) }),
  };
}

/** An address that a browser opens. The sample's and a file's are of this machine alone. */
const webAddress = (value: string | null | undefined): string | undefined => {
  const text = oneLine(value ?? "");
  return /^https?:\/\//i.test(text) ? text : undefined;
};

/** A paper's number on arXiv, undefined where it has none. */
export const arxivOf = ({ id, identifiers }: Pick<Paper, "id" | "identifiers">): string | undefined =>
  identifiers?.arxiv ?? /^arxiv_(.+)$/.exec(id)?.[1]?.replace("_", "/");

/** Folders of the original name a DOI by its address alone. */
function doiOf({ identifiers, url }: Pick<Paper, "identifiers" | "url">): string | undefined {
  const known = said(identifiers?.doi);
  if (known !== undefined) return known;
  const reference = /doi\.org\//i.test(url ?? "") ? parseReference(url ?? "") : undefined;
  return reference?.kind === "doi" ? reference.doi : undefined;
}

/** What sources call works, in the few kinds that the formats tell apart. */
const kinds: readonly (readonly [RegExp, WorkKind])[] = [
  [/preprint|posted-content/i, "preprint"],
  [/^proceedings$/i, "proceedings"],
  [/proceedings|conference/i, "conference"],
  // Before "report": Europe PMC has case reports of journals.
  [/journal/i, "article"],
  [/book-chapter|book-section|chapter/i, "chapter"],
  [/master.*thesis/i, "masters"],
  [/dissertation|thesis/i, "thesis"],
  [/report/i, "report"],
  [/\bbook\b|monograph/i, "book"],
  [/^data-?set$/i, "dataset"],
  [/^software$/i, "software"],
  [/^patent$/i, "patent"],
  [/^web-?page$/i, "web"],
  [/article|review|letter|editorial|survey/i, "article"],
];

function kindOf({ publication_type: type, volume, issue, pages, venue }: Cited, arxiv: string | undefined): WorkKind {
  const inVolume = said(venue) !== undefined && [volume, issue, pages].some((part) => said(part) !== undefined);
  const named = kinds.find(([words]) => words.test(type ?? ""))?.[1];
  if (named !== undefined) {
    const isLoose = named === "article" && type !== "journal-article";
    return isLoose && said(venue) === undefined ? "other" : named;
  }
  if (inVolume) return "article";
  return arxiv === undefined ? "other" : "preprint";
}
