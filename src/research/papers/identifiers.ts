import { line, webAddress } from "../../engine/lib/json-fields.js";
import type { Identifiers, PaperRecord, Update } from "./paper-record.js";
import { paperId, parseReference } from "./reference.js";
import { withoutUndefined } from "../../engine/lib/without-undefined.js";

type Maybe<Name extends keyof PaperRecord> = { readonly [Each in Name]?: PaperRecord[Each] | undefined };

/** What a client read of one work. Fields of the wrong form are left out here, so that no client has to look twice. */
interface RecordParts
  extends
    Pick<PaperRecord, "source" | "identifiers">,
    Maybe<"url" | "authors" | "kind" | "venue" | "copies" | "updates" | "otherVersions" | "snippet">,
    Maybe<"publicationType" | "categories" | "comment" | "license"> {
  readonly title: string | undefined;
  readonly pdf?: string;
  readonly date?: string;
  readonly abstract?: string;
  /** Where in a journal it stands, as the source says it. */
  readonly volume?: unknown;
  readonly issue?: unknown;
  readonly pages?: unknown;
  readonly citations?: number;
}

/** Papers of large collaborations have some 3,000 authors. */
const maxAuthors = 200;
const maxTitle = 1000;
/** A remark, a type or a licence that is longer is not taken. */
const maxRemark = 500;
const maxCategories = 20;

/** A record, or undefined where there is no title or nothing to reach the work by. */
export function paperRecord(parts: RecordParts): PaperRecord | undefined {
  const { identifiers, source, copies = [], otherVersions = [], categories = [] } = parts;
  const title = line(parts.title)?.slice(0, maxTitle);
  const updates = withMark(parts, title);
  const url = webAddress(parts.url) ?? addressOf(identifiers);
  if (title === undefined || url === undefined) return undefined;
  const isOut = updates.some(({ type }) => type === "retraction" || type === "withdrawal");
  return {
    id: recordId(identifiers, url),
    title,
    url,
    pdf_url: webAddress(parts.pdf) ?? null,
    authors: (parts.authors ?? []).slice(0, maxAuthors),
    date: parts.date ?? null,
    source,
    abstract: parts.abstract ?? null,
    identifiers,
    ...(isOut ? { retracted: true } : {}),
    ...withoutUndefined({ kind: parts.kind, venue: parts.venue }),
    ...withoutUndefined({
      publicationType: parts.publicationType?.slice(0, maxRemark),
      comment: parts.comment?.slice(0, maxRemark),
      license: (parts.license ?? copies.find((copy) => copy.license !== undefined)?.license)?.slice(0, maxRemark),
    }),
    ...(categories.length === 0 ? {} : { categories: categories.slice(0, maxCategories) }),
    ...placeOf(parts),
    ...(parts.citations === undefined ? {} : { citations: { count: parts.citations, source } }),
    ...(copies.length === 0
      ? {}
      : { copies: copies.filter(({ url: each }, index) => copies.findIndex((other) => other.url === each) === index) }),
    ...(updates.length === 0 ? {} : { updates }),
    ...(otherVersions.length === 0 ? {} : { otherVersions }),
    ...withoutUndefined({ snippet: parts.snippet }),
  };
}

/**
 * Publishers mark the title of what they have retracted, also where no notice of it is known to a service. A notice is
 * not what it is about.
 */
function withMark({ updates = [], kind, source }: RecordParts, title: string | undefined): readonly Update[] {
  const mark = /^\W{0,2}(retracted|withdrawn|removed)(?: (?:article|paper|chapter|preprint))?\s*[:\]—–]/i
    .exec(title ?? "")?.[1]
    ?.toLowerCase();
  const isKnown = updates.some(({ type }) => type === "retraction" || type === "withdrawal");
  if (mark === undefined || isKnown || kind === "notice") return updates;
  return [...updates, { type: mark === "retracted" ? "retraction" : "withdrawal", source: `${source} (title)` }];
}

/** No volume, issue or range of pages is longer. */
const maxPlace = 40;

/**
 * Volume, issue and pages, as far as they are any: of preprints services give the number of the preprint as a volume.
 */
function placeOf({
  volume,
  issue,
  pages,
}: Pick<RecordParts, "volume" | "issue" | "pages">): Pick<PaperRecord, "volume" | "issue" | "pages"> {
  const isAny = (text: string | undefined) =>
    text !== undefined && /[\p{L}\d]/u.test(text) && text.length <= maxPlace && !/^(?:abs\/|n\/?a$)/i.test(text);
  const written = Object.entries({ volume, issue, pages }).map(
    ([name, value]) => [name, line(typeof value === "number" ? String(value) : value)] as const,
  );
  return Object.fromEntries(written.filter(([, text]) => isAny(text)));
}

/**
 * What a service calls a work, each name in the one form of this house; anything else is left out. An arXiv DOI is an
 * arXiv id.
 */
export function identifiersFrom(
  names: Readonly<Record<keyof Identifiers, unknown>> | Partial<Record<keyof Identifiers, unknown>>,
): Identifiers {
  const named = parseName(names.doi);
  const doi = named?.kind === "doi" ? named.doi : undefined;
  const arxiv = arxivName(names.arxiv) ?? (named?.kind === "arxiv" ? versioned(named) : undefined);
  const pmid = /^(?:https?:\/\/(?:www\.)?pubmed\.ncbi\.nlm\.nih\.gov\/)?(\d{1,9})\/?$/.exec(
    line(names.pmid) ?? "",
  )?.[1];
  const pmcid = /(?:^|\/)(?:PMC)?(\d{1,9})\/?$/i.exec(line(names.pmcid) ?? "")?.[1];
  const openalex = /^(?:https?:\/\/(?:api\.)?openalex\.org\/(?:works\/)?)?(W\d{1,12})$/i
    .exec(line(names.openalex) ?? "")?.[1]
    ?.toUpperCase();
  const s2 = /^[\da-f]{40}$/i.exec(line(names.s2) ?? "")?.[0].toLowerCase();
  return withoutUndefined({ doi, arxiv, pmid, pmcid: pmcid && `PMC${pmcid}`, openalex, s2 });
}

/** A DOI or arXiv id in whatever form a service gives it. What cannot be one is not looked for on the disk. */
function parseName(value: unknown) {
  const text = line(value);
  return text === undefined || !/10\.\d{4,9}(?:\.\d+)*(?:\/|%2f)/i.test(text) ? undefined : parseReference(text);
}

function arxivName(value: unknown): string | undefined {
  const text = line(value);
  if (text === undefined || !/\d{4}\.\d{4,5}|\/\d{7}/.test(text)) return undefined;
  const reference = parseReference(text);
  return reference.kind === "arxiv" ? versioned(reference) : undefined;
}

const versioned = ({ id, version }: { readonly id: string; readonly version?: number }) =>
  version === undefined ? id : `${id}v${version}`;

/** An arXiv id without its version. */
export const unversioned = (arxiv: string): string => arxiv.replace(/v\d+$/, "");

/**
 * What two arXiv ids of one paper have in common: no version, and no subject class, which old ids carry or not
 * (math.GT/0309136).
 */
export const arxivKey = (arxiv: string): string => unversioned(arxiv).replace(/^([a-z-]+)\.[A-Z]{2}\//, "$1/");

/** The id of a paper in the pool, by the first name it is known under. */
function recordId({ arxiv, doi, pmid, pmcid, openalex, s2 }: Identifiers, url: string): string {
  if (arxiv !== undefined) return paperId({ kind: "arxiv", id: unversioned(arxiv) });
  if (doi !== undefined) return paperId({ kind: "doi", doi });
  if (pmid !== undefined) return `pmid_${pmid}`;
  if (pmcid !== undefined) return `pmcid_${pmcid}`;
  if (openalex !== undefined) return `openalex_${openalex}`;
  return s2 === undefined ? paperId({ kind: "url", url }) : `s2_${s2}`;
}

/** Where a person reads about the work. */
export function addressOf({ arxiv, doi, pmid, pmcid, openalex, s2 }: Identifiers): string | undefined {
  if (arxiv !== undefined) return `https://arxiv.org/abs/${unversioned(arxiv)}`;
  if (doi !== undefined) return `https://doi.org/${doi}`;
  if (pmid !== undefined) return `https://pubmed.ncbi.nlm.nih.gov/${pmid}/`;
  if (pmcid !== undefined) return `https://pmc.ncbi.nlm.nih.gov/articles/${pmcid}/`;
  if (openalex !== undefined) return `https://openalex.org/${openalex}`;
  return s2 === undefined ? undefined : `https://www.semanticscholar.org/paper/${s2}`;
}

/** Whether two works share a name, whatever the version of an arXiv id. */
export function sharesIdentifier(a: Identifiers, b: Identifiers): boolean {
  if (a.arxiv !== undefined && b.arxiv !== undefined && arxivKey(a.arxiv) === arxivKey(b.arxiv)) return true;
  return (["doi", "pmid", "pmcid", "openalex", "s2"] as const).some(
    (name) => a[name] !== undefined && a[name] === b[name],
  );
}

/** A name in a path of an address: its slashes stay, as the services write them; what would end the path does not. */
export const inPath = (name: string): string =>
  encodeURI(name.replace(/\p{Surrogate}/gu, "")).replace(/[?#]/g, encodeURIComponent);

/** The first name of a work, for people. */
export const nameOf = ({ doi, arxiv, pmid, pmcid, openalex, s2 }: Identifiers): string =>
  doi ??
  (arxiv === undefined ? undefined : `arXiv:${arxiv}`) ??
  (pmid === undefined ? undefined : `PMID ${pmid}`) ??
  pmcid ??
  openalex ??
  s2 ??
  "a work without identifiers";
