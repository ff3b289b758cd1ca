import { identifiersOf, referencesOf } from "../papers/identifiers.js";
import { europePmc } from "../sources/clients/europe-pmc.js";
import type { NamedPaper, PaperRecord } from "../papers/paper-record.js";
import { parseReference } from "../papers/reference.js";
import type { Answer, ContextFor, Source } from "../sources/shared/source.js";
import { ar5iv, arxivPages, doiResolver } from "../sources/registry.js";

/** The base address of a site with full texts; empty if it is turned off. */
export const endpointsWith =
  (contextFor: ContextFor) =>
  (site: Source): string => {
    const context = contextFor(site);
    return "unavailable" in context ? "" : context.endpoint;
  };

/** An address that may have the text of a paper. */
export interface Location {
  readonly url: string;
  /**
   * Set for a page about the paper: its text counts as the abstract, and the PDF that it links to is read. Without
   * this, a page that only describes the paper is ignored.
   */
  readonly landing?: true;
}

/** The lookups that a route needs to find its locations. */
interface LookUps {
  /** The base address of a site; empty if it is turned off. */
  endpointOf(site: Source): string;
  /** The records of the paper from all copy services. They are requested once, even if several routes need them. */
  records(): Promise<Answer<readonly PaperRecord[]>>;
}

/** One route to a paper's text. */
interface FullTextRoute {
  /** As reasons and records name it. */
  readonly name: string;
  /**
   * The addresses to try, best first; empty if this route does not lead to the paper. A failed answer says why that is
   * unknown.
   */
  locations(paper: NamedPaper, lookups: LookUps): readonly Location[] | Promise<FoundLocations>;
}

type FoundLocations = readonly Location[] | Exclude<Answer<never>, { status: "ok" }>;

/**
 * The routes to a paper's text, in the order in which they are tried. Formats with sections, formulas and tables come
 * before PDFs. No route leads to unauthorized copies.
 */
export const fullTextRoutes: readonly FullTextRoute[] = [
  {
    name: "arXiv HTML",
    locations: (paper, { endpointOf }) => arxivLocations(paper, (id) => `${endpointOf(arxivPages)}/html/${id}`),
  },
  {
    name: "ar5iv",
    locations: (paper, { endpointOf }) =>
      arxivLocations(paper, (_, unversionedId) => `${endpointOf(ar5iv)}/html/${unversionedId}`),
  },
  {
    name: "LaTeX source",
    locations: (paper, { endpointOf }) => arxivLocations(paper, (id) => `${endpointOf(arxivPages)}/e-print/${id}`),
  },
  { name: "PMC XML", locations: pmcLocations },
  { name: "open-access copy", locations: copyLocations },
  {
    name: "arXiv PDF",
    locations: (paper, { endpointOf }) => arxivLocations(paper, (id) => `${endpointOf(arxivPages)}/pdf/${id}`),
  },
  { name: "the record's own address", locations: ownLocations },
];

function arxivLocations(paper: NamedPaper, address: (id: string, unversionedId: string) => string): Location[] {
  const arxivReferences = referencesOf(paper).filter((reference) => reference.kind === "arxiv");
  // An id without a version means the latest version. If some field names a version, that version is used.
  const arxiv =
    arxivReferences.find(({ id, version }) => id === arxivReferences[0]?.id && version !== undefined) ??
    arxivReferences[0];
  if (arxiv === undefined) return [];
  const url = address(`${arxiv.id}${arxiv.version === undefined ? "" : `v${arxiv.version}`}`, arxiv.id);
  return URL.canParse(url) ? [{ url }] : [];
}

async function pmcLocations(paper: NamedPaper, { endpointOf, records }: LookUps): Promise<FoundLocations> {
  const endpoint = endpointOf(europePmc);
  if (endpoint === "") return [];
  const locationOf = (pmcid: string): Location => ({ url: `${endpoint}/${pmcid}/fullTextXML` });
  const ownPmcid = pmcidOf(paper.identifiers?.pmcid) ?? pmcidOf(paper.url) ?? pmcidOf(paper.pdf_url);
  if (ownPmcid !== undefined) return [locationOf(ownPmcid)];
  const { doi, pmid, arxiv } = identifiersOf(paper);
  if ((doi === undefined && pmid === undefined) || arxiv !== undefined) return [];
  const answer = await records();
  if (answer.status !== "ok") return answer.status === "empty" ? [] : answer;
  return unique(answer.value.flatMap(({ identifiers }) => pmcidOf(identifiers.pmcid) ?? [])).map(locationOf);
}

/** The PMC id in a record's field, or in the address of a page of PubMed Central or Europe PMC. */
function pmcidOf(text: string | null | undefined): string | undefined {
  return /(?:^|\/)(PMC\d{3,9})(?:$|\/|\?)/i.exec(text ?? "")?.[1]?.toUpperCase();
}

function ownLocations(paper: NamedPaper, { endpointOf }: LookUps): readonly Location[] {
  const resolver = endpointOf(doiResolver);
  const resolved = [paper.pdf_url, paper.url].flatMap((address) => {
    const reference = parseReference(address ?? "");
    if (!address || reference.kind === "arxiv") return [];
    return reference.kind === "doi" && resolver !== "" ? `${resolver}/${encodeURI(reference.doi)}` : address;
  });
  const { doi, arxiv } = identifiersOf(paper);
  if (doi !== undefined && arxiv === undefined && resolver !== "") resolved.push(`${resolver}/${encodeURI(doi)}`);
  return unique(resolved).map((url) => ({ url, landing: true }));
}

async function copyLocations(paper: NamedPaper, { records }: LookUps): Promise<FoundLocations> {
  const { doi, pmid, arxiv } = identifiersOf(paper);
  // arXiv's PDF is free too, so copies of it are not needed.
  if ((doi === undefined && pmid === undefined) || arxiv !== undefined) return [];
  const answer = await records();
  if (answer.status !== "ok") return answer.status === "empty" ? [] : answer;
  const copies = answer.value.flatMap((record) => record.copies ?? []);
  const pages = copies.filter(({ kind }) => kind === "pdf" || kind === "html").map(({ url }): Location => ({ url }));
  const landings = copies.filter(({ kind }) => kind === "landing").map(({ url }): Location => ({ url, landing: true }));
  return [...pages, ...landings].slice(0, maxCopies);
}

/**
 * Maximum number of copies that are tried. A work can be in dozens of repositories; if the first copies fail, the
 * others rarely work.
 */
const maxCopies = 4;

const unique = <Value>(values: readonly Value[]): Value[] => [...new Set(values)];
