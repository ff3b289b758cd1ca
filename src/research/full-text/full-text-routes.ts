import { europePmc } from "../sources/clients/europe-pmc.js";
import { identifiersOf, referencesOf } from "../papers/paper-identifiers.js";
import type { Identifiers, NamedPaper, PaperRecord } from "../papers/paper-record.js";
import { parseReference } from "../papers/reference.js";
import type { Answer, ContextFor, Source } from "../sources/shared/source.js";
import { ar5iv, arxivPages, doiResolver } from "../sources/registry.js";

/** Where the sites answer that texts are read from. */
interface Endpoints {
  readonly arxiv: string;
  readonly ar5iv: string;
  readonly doi: string;
  readonly europePmc: string;
}

/** Where the configuration says that the sites are; one that is turned off leads nowhere. */
export function endpointsOf(contextFor: ContextFor): Endpoints {
  const at = (source: Source): string => {
    const context = contextFor(source);
    return "unavailable" in context ? "" : context.endpoint;
  };
  return { arxiv: at(arxivPages), ar5iv: at(ar5iv), doi: at(doiResolver), europePmc: at(europePmc) };
}

/** An address that a text may lie at. */
export interface Location {
  readonly url: string;
  /**
   * A page about the paper counts as its abstract, and the PDF that it names is read. Elsewhere such a page says
   * nothing of the paper.
   */
  readonly landing?: true;
}

/**
 * A service that knows a work's other names and its free copies: `lookup` of a source, with where to ask already in it.
 */
export interface CopyService {
  readonly name: string;
  find(works: readonly Identifiers[]): ReturnType<NonNullable<Source["lookup"]>>;
}

/** What a route asks to find its locations. */
interface LookUps {
  readonly endpoints: Endpoints;
  /** The records that the copy services have of the paper; asked once, however many routes want them. */
  records(): Promise<Answer<readonly PaperRecord[]>>;
}

/** One route to a paper's text. */
interface FullTextRoute {
  /** As reasons and records name it. */
  readonly name: string;
  /**
   * The addresses to try, best first. Empty: this route does not lead to the paper. An answer other than ok says why
   * that is not known.
   */
  locations(paper: NamedPaper, asking: LookUps): readonly Location[] | Promise<FoundLocations>;
}

type FoundLocations = readonly Location[] | Exclude<Answer<never>, { status: "ok" }>;

/**
 * The routes to a paper's text, in the order they are tried: what keeps sections, formulas and tables comes before
 * PDFs. No route leads to a copy that was made without leave.
 */
export const fullTextRoutes: readonly FullTextRoute[] = [
  {
    name: "arXiv HTML",
    locations: (paper, { endpoints }) => arxivLocations(paper, (id) => `${endpoints.arxiv}/html/${id}`),
  },
  {
    name: "ar5iv",
    locations: (paper, { endpoints }) => arxivLocations(paper, (_, bare) => `${endpoints.ar5iv}/html/${bare}`),
  },
  {
    name: "LaTeX source",
    locations: (paper, { endpoints }) => arxivLocations(paper, (id) => `${endpoints.arxiv}/e-print/${id}`),
  },
  { name: "PMC XML", locations: pmcLocations },
  { name: "open-access copy", locations: copyLocations },
  {
    name: "arXiv PDF",
    locations: (paper, { endpoints }) => arxivLocations(paper, (id) => `${endpoints.arxiv}/pdf/${id}`),
  },
  { name: "the record's own address", locations: ownLocations },
];

function arxivLocations(paper: NamedPaper, address: (id: string, bare: string) => string): Location[] {
  const named = referencesOf(paper).filter((reference) => reference.kind === "arxiv");
  // The id alone stands for the latest version; a version that some field names is the one that was found.
  const arxiv = named.find(({ id, version }) => id === named[0]?.id && version !== undefined) ?? named[0];
  if (arxiv === undefined) return [];
  const url = address(`${arxiv.id}${arxiv.version === undefined ? "" : `v${arxiv.version}`}`, arxiv.id);
  return URL.canParse(url) ? [{ url }] : [];
}

async function pmcLocations(paper: NamedPaper, { endpoints, records }: LookUps): Promise<FoundLocations> {
  if (endpoints.europePmc === "") return [];
  const place = (pmcid: string): Location => ({ url: `${endpoints.europePmc}/${pmcid}/fullTextXML` });
  const own = pmcidOf(paper.identifiers?.pmcid) ?? pmcidOf(paper.url) ?? pmcidOf(paper.pdf_url);
  if (own !== undefined) return [place(own)];
  const { doi, pmid, arxiv } = identifiersOf(paper);
  if ((doi === undefined && pmid === undefined) || arxiv !== undefined) return [];
  const answer = await records();
  if (answer.status !== "ok") return answer.status === "empty" ? [] : answer;
  return unique(answer.value.flatMap(({ identifiers }) => pmcidOf(identifiers.pmcid) ?? [])).map(place);
}

/** PMC ids stand in records and in the addresses of PubMed Central's and Europe PMC's pages. */
function pmcidOf(text: string | null | undefined): string | undefined {
  return /(?:^|\/)(PMC\d{3,9})(?:$|\/|\?)/i.exec(text ?? "")?.[1]?.toUpperCase();
}

function ownLocations(paper: NamedPaper, { endpoints }: LookUps): readonly Location[] {
  const isArxivs = (address: string) => parseReference(address).kind === "arxiv";
  const given = [paper.pdf_url, paper.url].filter(
    (address) => typeof address === "string" && address !== "" && !isArxivs(address),
  ) as string[];
  const resolved = given.map((address) => {
    const reference = parseReference(address);
    return reference.kind === "doi" && endpoints.doi !== "" ? `${endpoints.doi}/${encodeURI(reference.doi)}` : address;
  });
  const { doi, arxiv } = identifiersOf(paper);
  if (doi !== undefined && arxiv === undefined && endpoints.doi !== "")
    resolved.push(`${endpoints.doi}/${encodeURI(doi)}`);
  return unique(resolved).map((url) => ({ url, landing: true }));
}

async function copyLocations(paper: NamedPaper, { records }: LookUps): Promise<FoundLocations> {
  const { doi, pmid, arxiv } = identifiersOf(paper);
  // arXiv's own PDF is as free as any copy of it.
  if ((doi === undefined && pmid === undefined) || arxiv !== undefined) return [];
  const answer = await records();
  if (answer.status !== "ok") return answer.status === "empty" ? [] : answer;
  const copies = answer.value.flatMap((record) => record.copies ?? []);
  const pages = copies.filter(({ kind }) => kind === "pdf" || kind === "html").map(({ url }): Location => ({ url }));
  const landings = copies.filter(({ kind }) => kind === "landing").map(({ url }): Location => ({ url, landing: true }));
  return [...pages, ...landings].slice(0, maxCopies);
}

/** A work may lie in dozens of repositories; when the first few fail, the others are not better. */
const maxCopies = 4;

const unique = <Value>(values: readonly Value[]): Value[] => [...new Set(values)];
