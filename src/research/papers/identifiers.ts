import { lineFrom, webAddressFrom } from "../../engine/lib/json-fields.js";
import { looksLikePerson } from "./person-name.js";
import type { Identifiers, NamedPaper, PaperRecord, Update } from "./paper-record.js";
import { type IdentifierReference, paperId, parseReference } from "./reference.js";
import { withoutUndefined } from "../../engine/lib/without-undefined.js";

type Optional<Name extends keyof PaperRecord> = { readonly [Each in Name]?: PaperRecord[Each] | undefined };

/**
 * The fields of one work that a client has read. Invalid values are removed here, so that clients need not check them.
 */
interface RecordParts
  extends
    Pick<PaperRecord, "source" | "identifiers">,
    Optional<"url" | "authors" | "kind" | "venue" | "copies" | "updates" | "otherVersions" | "snippet">,
    Optional<"publicationType" | "categories" | "comment" | "license"> {
  readonly title: string | undefined;
  readonly pdf?: string;
  readonly date?: string;
  readonly abstract?: string;
  /** The authors that are groups. */
  readonly groups?: readonly string[];
  /** The position in a journal, in the source's format. */
  readonly volume?: unknown;
  readonly issue?: unknown;
  readonly pages?: unknown;
  readonly citations?: number;
}

/** Papers of large collaborations have about 3,000 authors; only this many are kept. */
const maxAuthors = 200;
const maxTitleChars = 1000;
/** Maximum number of characters of a comment, type or licence. */
const maxRemarkChars = 500;
const maxCategories = 20;

/** Makes a record. Undefined if the work has no title or no address. */
export function paperRecord(parts: RecordParts): PaperRecord | undefined {
  const { identifiers, source, copies = [], otherVersions = [], categories = [] } = parts;
  const title = lineFrom(parts.title)?.slice(0, maxTitleChars);
  const updates = withTitleMark(parts, title);
  const url = webAddressFrom(parts.url) ?? addressOf(identifiers);
  if (title === undefined || url === undefined) return undefined;
  const groups = (parts.groups ?? []).filter(looksLikePerson).slice(0, maxAuthors);
  const isRetracted = updates.some(({ type }) => type === "retraction" || type === "withdrawal");
  return {
    id: recordId(identifiers, url),
    title,
    url,
    pdf_url: webAddressFrom(parts.pdf) ?? null,
    authors: (parts.authors ?? []).slice(0, maxAuthors),
    date: parts.date ?? null,
    source,
    abstract: parts.abstract ?? null,
    identifiers,
    ...(isRetracted ? { retracted: true } : {}),
    ...withoutUndefined({ kind: parts.kind, venue: parts.venue }),
    ...withoutUndefined({
      publicationType: parts.publicationType?.slice(0, maxRemarkChars),
      comment: parts.comment?.slice(0, maxRemarkChars),
      license: (parts.license ?? copies.find((copy) => copy.license !== undefined)?.license)?.slice(0, maxRemarkChars),
    }),
    ...(categories.length === 0 ? {} : { categories: categories.slice(0, maxCategories) }),
    ...placeOf(parts),
    ...(groups.length === 0 ? {} : { publication: { groups } }),
    ...(parts.citations === undefined ? {} : { citations: { count: parts.citations, source } }),
    ...(copies.length === 0
      ? {}
      : {
          copies: copies.filter(
            ({ url: copyUrl }, index) => copies.findIndex((other) => other.url === copyUrl) === index,
          ),
        }),
    ...(updates.length === 0 ? {} : { updates }),
    ...(otherVersions.length === 0 ? {} : { otherVersions }),
    ...withoutUndefined({ snippet: parts.snippet }),
  };
}

/**
 * Adds a retraction if the title says so, because publishers mark titles even if no service has the notice. The title
 * of a notice is about another work.
 */
function withTitleMark({ updates = [], kind, source }: RecordParts, title: string | undefined): readonly Update[] {
  const type = retractionInTitle(title);
  const isKnown = updates.some((update) => update.type === "retraction" || update.type === "withdrawal");
  if (type === undefined || isKnown || kind === "notice") return updates;
  return [...updates, { type, source: `${source} (title)` }];
}

/** Whether a title says that the work is retracted or withdrawn: "RETRACTED: Zinc in shrews". */
export function retractionInTitle(title = ""): "retraction" | "withdrawal" | undefined {
  const [, mark] =
    /^\W{0,2}(retracted|withdrawn|removed)(?: (?:article|paper|chapter|preprint))?\s*[:\]—–]/i.exec(title) ?? [];
  return mark === undefined ? undefined : /^retracted$/i.test(mark) ? "retraction" : "withdrawal";
}

/** Maximum number of characters of a volume, an issue or a range of pages. */
const maxPlaceChars = 40;

/** The valid values of volume, issue and pages. For preprints, services give the preprint's number as a volume. */
function placeOf({
  volume,
  issue,
  pages,
}: Pick<RecordParts, "volume" | "issue" | "pages">): Pick<PaperRecord, "volume" | "issue" | "pages"> {
  const isValid = (text: string | undefined) =>
    text !== undefined && /[\p{L}\d]/u.test(text) && text.length <= maxPlaceChars && !/^(?:abs\/|n\/?a$)/i.test(text);
  const texts = Object.entries({ volume, issue, pages }).map(
    ([name, value]) => [name, lineFrom(typeof value === "number" ? String(value) : value)] as const,
  );
  return Object.fromEntries(texts.filter(([, text]) => isValid(text)));
}

/**
 * The identifiers of a work, each in its normal form. Invalid values are left out. An arXiv DOI becomes an arXiv id.
 */
export function identifiersFrom(
  names: Readonly<Record<keyof Identifiers, unknown>> | Partial<Record<keyof Identifiers, unknown>>,
): Identifiers {
  const doiReference = parseName(names.doi);
  const doi = doiReference?.kind === "doi" ? doiReference.doi : undefined;
  const arxiv = arxivName(names.arxiv) ?? (doiReference?.kind === "arxiv" ? withVersion(doiReference) : undefined);
  const pmid = /^(?:https?:\/\/(?:www\.)?pubmed\.ncbi\.nlm\.nih\.gov\/)?(\d{1,9})\/?$/.exec(
    lineFrom(names.pmid) ?? "",
  )?.[1];
  const pmcid = /(?:^|\/)(?:PMC)?(\d{1,9})\/?$/i.exec(lineFrom(names.pmcid) ?? "")?.[1];
  const openalex = /^(?:https?:\/\/(?:api\.)?openalex\.org\/(?:works\/)?)?(W\d{1,12})$/i
    .exec(lineFrom(names.openalex) ?? "")?.[1]
    ?.toUpperCase();
  const s2 = /^[\da-f]{40}$/i.exec(lineFrom(names.s2) ?? "")?.[0].toLowerCase();
  return withoutUndefined({ doi, arxiv, pmid, pmcid: pmcid && `PMC${pmcid}`, openalex, s2 });
}

/** A DOI or arXiv id in any format of a service. Other texts are not parsed, because parsing may look for a file. */
function parseName(value: unknown) {
  const text = lineFrom(value);
  return text === undefined || !/10\.\d{4,9}(?:\.\d+)*(?:\/|%2f)/i.test(text) ? undefined : parseReference(text);
}

function arxivName(value: unknown): string | undefined {
  const text = lineFrom(value);
  if (text === undefined || !/\d{4}\.\d{4,5}|\/\d{7}/.test(text)) return undefined;
  const reference = parseReference(text);
  return reference.kind === "arxiv" ? withVersion(reference) : undefined;
}

const withVersion = ({ id, version }: { readonly id: string; readonly version?: number }) =>
  version === undefined ? id : `${id}v${version}`;

/** Removes the version of an arXiv id. */
export const withoutVersion = (arxiv: string): string => arxiv.replace(/v\d+$/, "");

/**
 * The common part of two arXiv ids of one paper: without the version, and without the subject class, which old ids may
 * have (math.GT/0309136).
 */
export const arxivKey = (arxiv: string): string => withoutVersion(arxiv).replace(/^([a-z-]+)\.[A-Z]{2}\//, "$1/");

/** The id of a paper in the pool, from its first identifier. */
function recordId({ arxiv, doi, pmid, pmcid, openalex, s2 }: Identifiers, url: string): string {
  if (arxiv !== undefined) return paperId({ kind: "arxiv", id: withoutVersion(arxiv) });
  if (doi !== undefined) return paperId({ kind: "doi", doi });
  if (pmid !== undefined) return `pmid_${pmid}`;
  if (pmcid !== undefined) return `pmcid_${pmcid}`;
  if (openalex !== undefined) return `openalex_${openalex}`;
  return s2 === undefined ? paperId({ kind: "url", url }) : `s2_${s2}`;
}

/** The address of a page about the work. */
export function addressOf({ arxiv, doi, pmid, pmcid, openalex, s2 }: Identifiers): string | undefined {
  if (arxiv !== undefined) return `https://arxiv.org/abs/${withoutVersion(arxiv)}`;
  if (doi !== undefined) return `https://doi.org/${doi}`;
  if (pmid !== undefined) return `https://pubmed.ncbi.nlm.nih.gov/${pmid}/`;
  if (pmcid !== undefined) return `https://pmc.ncbi.nlm.nih.gov/articles/${pmcid}/`;
  if (openalex !== undefined) return `https://openalex.org/${openalex}`;
  return s2 === undefined ? undefined : `https://www.semanticscholar.org/paper/${s2}`;
}

/** Whether two works share an identifier; the versions of arXiv ids may differ. */
export function sharesIdentifier(a: Identifiers, b: Identifiers): boolean {
  if (a.arxiv !== undefined && b.arxiv !== undefined && arxivKey(a.arxiv) === arxivKey(b.arxiv)) return true;
  return (["doi", "pmid", "pmcid", "openalex", "s2"] as const).some(
    (name) => a[name] !== undefined && a[name] === b[name],
  );
}

/** Escapes an identifier for the path of an address. Slashes stay, because the services expect them. */
export const inPath = (name: string): string =>
  encodeURI(name.replace(/\p{Surrogate}/gu, "")).replace(/[?#]/g, encodeURIComponent);

/** The identifiers of a paper, with an arXiv id and a DOI from any field of its record. */
export function identifiersOf(paper: NamedPaper): Identifiers {
  const references = referencesOf(paper);
  const arxiv = references.find((reference) => reference.kind === "arxiv");
  const doi = references.find((reference) => reference.kind === "doi");
  return {
    ...paper.identifiers,
    ...(arxiv === undefined ? {} : { arxiv: arxiv.id }),
    ...(doi === undefined ? {} : { doi: doi.doi }),
  };
}

/** The identifier of a reference; that of arXiv with its version. */
export function identifierOf(reference: IdentifierReference): Identifiers {
  if (reference.kind === "arxiv") return { arxiv: withVersion(reference) };
  const { kind: _, ...identifier } = reference;
  return identifier;
}

export const hasIdentifier = (reference: { readonly kind: string }): reference is IdentifierReference =>
  ["arxiv", "doi", "pmid", "pmcid"].includes(reference.kind);

/**
 * The references in a paper's fields, in the order of the fields. Fields with other content give an unknown reference.
 */
export function referencesOf(paper: NamedPaper): ReturnType<typeof parseReference>[] {
  const { identifiers } = paper;
  const fromId = paper.id.replace(/^arxiv_/, "").replace(/^([a-z-]+(?:\.[A-Z]{2})?)_(?=\d{7})/, "$1/");
  const names = [
    identifiers?.arxiv,
    paper.id.startsWith("arxiv_") ? fromId : undefined,
    paper.url,
    paper.pdf_url,
    identifiers?.doi,
  ];
  return names.map((name) => parseReference(name ?? ""));
}

/** The first identifier of a work, for people. */
export const nameOf = ({ doi, arxiv, pmid, pmcid, openalex, s2 }: Identifiers): string =>
  doi ??
  (arxiv === undefined ? undefined : `arXiv:${arxiv}`) ??
  (pmid === undefined ? undefined : `PMID ${pmid}`) ??
  pmcid ??
  openalex ??
  s2 ??
  "a work without identifiers";
