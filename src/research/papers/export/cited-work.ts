import { groupBy } from "../../../engine/lib/group.js";
import { oneLine } from "../../../engine/lib/sanitise.js";
import { withoutUndefined } from "../../../engine/lib/without-undefined.js";
import type { Paper, Rrd } from "../../generated/rrd.js";
import { authorsOf } from "../authors.js";
import { keysOf } from "../paper-keys.js";
import type { Publication } from "../paper-record.js";
import { statusWords } from "../rubric/rubric.js";
import { type AuthorName, personName } from "../person-name.js";
import { parseReference } from "../reference.js";

/**
 * The input of `citedWorks`: the fields of a paper in the pool, or of a found record, that a citation needs.
 */
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
  /** The tags of its insights. */
  readonly tags?: readonly string[];
  readonly outcome?: Outcome;
};

/** The outcome of a record in a project, and who decided it. */
export interface Outcome {
  /** The last stage: "full text", "abstract", "screening", "duplicate", "not screened", or why it was excluded. */
  readonly stage: string;
  readonly decision: "included" | "excluded" | "open";
  /** One or more agents, "a person" or "code"; absent without a decision, or if it was not recorded. */
  readonly decidedBy?: string;
  /** The criterion that excluded it, with its text. */
  readonly criterion?: string;
  readonly reason?: string;
  /** The quote of the record that proves it. */
  readonly quote?: string;
  /** The key of the record of the same work. */
  readonly duplicateOf?: string;
  /** At most ten passages of its text, with the quoted words between “ and ”. */
  readonly passages?: readonly { readonly text: string; readonly locator?: string }[];
  /** The paper in the report: the name of the page and the anchor. */
  readonly report?: string;
}

/** A record of a project with its outcome. */
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

/** Whether works of this kind are published by themselves, so that the venue is the publisher. */
export const isStandalone = (kind: WorkKind): boolean =>
  ["book", "proceedings", "thesis", "masters", "report"].includes(kind);

/** Whether works of this kind have a volume. For preprints, services give the preprint's number as a volume. */
export const canHaveVolume = (kind: WorkKind): boolean => kind !== "preprint" && kind !== "other";

/**
 * A work for all export formats. Texts are on one line, without control, bidirectional and zero-width characters;
 * addresses are http or https.
 */
export interface CitedWork {
  /** The id in the project, which `show` takes. */
  readonly id: string;
  /** The key, unique within the project: "lee2024", "lee2024b". */
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
  /** Publisher, editors and other fields for citations. */
  readonly publication: Omit<Publication, "editors" | "groups">;
  readonly editors: readonly AuthorName[];
  readonly url?: string;
  readonly pdf?: string;
  readonly abstract?: string;
  /** Its decision, such as "included"; undefined if it does not belong to a project. */
  readonly decision?: string;
  readonly tags: readonly string[];
  readonly retracted: boolean;
  readonly outcome?: Outcome;
}

/** The works of a project in the order of its pool. */
export const worksOf = (rrd: Rrd): CitedWork[] => citedWorks(withTags(rrd));

/** The papers of a project, each with the tags of its insights. */
export function withTags(rrd: Rrd): (Paper & { readonly tags: readonly string[] })[] {
  const insights = groupBy(rrd.insights ?? [], ({ paper_id }) => paper_id);
  return rrd.papers_pool.map((paper) => {
    const tags = (insights.get(paper.id) ?? []).flatMap((insight) => insight.tags ?? []);
    return { ...paper, tags: [...new Set(tags.map(oneLine).filter(Boolean))] };
  });
}

/** Papers as works with keys, in their order. */
export function citedWorks(papers: readonly Cited[]): CitedWork[] {
  const keys = keysOf(papers);
  return papers.map((paper, index) => ({ ...workOf(paper), key: keys[index] as string }));
}

function workOf(paper: Cited): Omit<CitedWork, "key"> {
  const doi = doiOf(paper);
  const arxiv = oneLineOf(arxivOf(paper));
  const { editors = [], groups = [], ...publication } = paper.publication ?? {};
  const groupNames = groups.map(oneLine);
  const namesOf = (names: readonly string[]): AuthorName[] =>
    names
      .map(oneLine)
      .filter(Boolean)
      .map((name) => personName(name, groupNames));
  // An invalid month or day is omitted.
  const [year, ...monthAndDay] =
    /^(\d{4})(?:-(0[1-9]|1[0-2])(?:-(0[1-9]|[12]\d|3[01]))?)?/.exec(paper.date ?? "")?.slice(1) ?? [];
  return {
    id: oneLine(paper.id),
    kind: kindOf(paper, arxiv),
    title: oneLine(paper.title),
    authors: namesOf(authorsOf(paper.authors)),
    editors: namesOf(editors),
    ...(year === undefined
      ? {}
      : { year: Number(year), date: [year, ...monthAndDay].filter((part) => part !== undefined).map(Number) }),
    ...withoutUndefined({
      venue: oneLineOf(paper.venue),
      volume: oneLineOf(paper.volume),
      issue: oneLineOf(paper.issue),
      pages: oneLineOf(paper.pages),
      abstract: oneLineOf(paper.abstract),
      decision: paper.status === undefined ? decisionKeyword(paper.outcome) : statusWords[paper.status],
      outcome: paper.outcome,
    }),
    ...withoutUndefined({
      doi,
      arxiv,
      url: webAddress(paper.url),
      pdf: webAddress(paper.pdf_url),
      pmid: oneLineOf(paper.identifiers?.pmid),
      pmcid: oneLineOf(paper.identifiers?.pmcid),
    }),
    publication: publicationOf(publication),
    tags: paper.tags ?? [],
    retracted: paper.retracted === true,
  };
}

/** The keywords of a work, its decision first, as one text: separated by semicolons if one contains a comma. */
export function keywordText({ decision, tags, publication }: CitedWork): string {
  const words = [...(decision === undefined ? [] : [decision]), ...tags, ...(publication.keywords ?? [])];
  if (!words.some((word) => word.includes(","))) return words.join(", ");
  return words.length === 1 ? `${words.join("")};` : words.join("; ");
}

/** The outcome of a record outside of the pool, as a keyword. */
const decisionKeyword = (outcome: Outcome | undefined): string | undefined =>
  outcome === undefined || outcome.decision === "open" || outcome.duplicateOf !== undefined
    ? outcome?.stage
    : outcome.decision;

const oneLineOf = (value: string | null | undefined): string | undefined => oneLine(value ?? "") || undefined;

/** The publication with each text on one line and without empty fields. */
function publicationOf({ keywords = [], ...texts }: CitedWork["publication"]): CitedWork["publication"] {
  const words = keywords.map(oneLine).filter(Boolean);
  const entries = Object.entries(texts).flatMap(([name, value]) => {
    const text = typeof value === "string" ? oneLine(value) : "";
    return text === "" ? [] : [[name, text] as const];
  });
  return { ...Object.fromEntries(entries), ...(words.length === 0 ? {} : { keywords: words }) };
}

/** A web address; undefined for addresses of samples and files on this machine. */
const webAddress = (value: string | null | undefined): string | undefined => {
  const text = oneLine(value ?? "");
  return /^https?:\/\//i.test(text) ? text : undefined;
};

/** The arXiv id of a paper; undefined without one. */
const arxivOf = ({ id, identifiers }: Pick<Paper, "id" | "identifiers">): string | undefined =>
  identifiers?.arxiv ?? /^arxiv_(.+)$/.exec(id)?.[1]?.replace("_", "/");

/** The DOI of a paper. Projects of the original tool have it only in the address. */
function doiOf({ identifiers, url }: Pick<Paper, "identifiers" | "url">): string | undefined {
  const storedDoi = oneLineOf(identifiers?.doi);
  if (storedDoi !== undefined) return storedDoi;
  const reference = /doi\.org\//i.test(url ?? "") ? parseReference(url ?? "") : undefined;
  return reference?.kind === "doi" ? reference.doi : undefined;
}

/** The kind of a work for each publication type that a source gives. The first match counts. */
const kinds: readonly (readonly [RegExp, WorkKind])[] = [
  [/preprint|posted-content/i, "preprint"],
  [/^proceedings$/i, "proceedings"],
  [/proceedings|conference/i, "conference"],
  // Before "report", because Europe PMC has case reports in journals.
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
  const isInJournal =
    oneLineOf(venue) !== undefined && [volume, issue, pages].some((part) => oneLineOf(part) !== undefined);
  const kindOfType = kinds.find(([pattern]) => pattern.test(type ?? ""))?.[1];
  if (kindOfType !== undefined) {
    const isUnspecificArticle = kindOfType === "article" && type !== "journal-article";
    // Services call a preprint an article in the journal "arXiv".
    if (isUnspecificArticle && /^arxiv\b/i.test(oneLineOf(venue) ?? "")) return "preprint";
    return isUnspecificArticle && oneLineOf(venue) === undefined ? "other" : kindOfType;
  }
  if (isInJournal) return "article";
  return arxiv === undefined ? "other" : "preprint";
}
