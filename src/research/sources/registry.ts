import { arxiv } from "./clients/arxiv.js";
import { biorxiv } from "./clients/biorxiv.js";
import { hackerNews } from "./clients/hacker-news.js";
import { brave } from "./clients/brave.js";
import { crossref } from "./clients/crossref.js";
import { europePmc } from "./clients/europe-pmc.js";
import { openAlex } from "./clients/openalex.js";
import { searxng } from "./clients/searxng.js";
import { semanticScholar } from "./clients/semantic-scholar.js";
import { tavily } from "./clients/tavily.js";
import { unpaywall } from "./clients/unpaywall.js";
import { gitHub, huggingFace } from "./clients/code-links.js";
import { webAddress } from "../../engine/lib/json-fields.js";
import { feedSource } from "./clients/feed.js";
import { listSource } from "./clients/reading-list.js";
import { zotero, zoteroSource } from "./clients/zotero.js";
import { ownListIn, zoteroIn } from "../papers/records/own-list.js";
import type { Source, SourceContext } from "./shared/source.js";

/**
 * Every service that code asks, in the order in which they are asked. A new one is a file in clients/ and a line here.
 */
export const allSources: readonly Source[] = [
  arxiv,
  openAlex,
  semanticScholar,
  crossref,
  europePmc,
  unpaywall,
  biorxiv,
  searxng,
  brave,
  tavily,
];

/** Asked only where a person names them: what they list is mostly no scholarly work. */
export const onRequest: readonly Source[] = [gitHub, hackerNews];

/** Sources that plugins have added in this process. */
const added: Source[] = [];

/**
 * Adds sources of plugins to those of this file, in place of earlier ones of the same name. Answers with a sentence for
 * each whose name already means another one.
 */
export function addSources(sources: readonly Source[]): string[] {
  const taken = sources.filter(
    ({ name }) => namedIn([...allSources, ...onRequest], name) !== undefined || substituteFor(name) !== undefined,
  );
  for (const source of sources.filter((each) => !taken.includes(each))) {
    const at = added.findIndex(({ name }) => normal(name) === normal(source.name));
    if (at === -1) added.push(source);
    else added[at] = source;
  }
  return taken.map(({ name }) => `The source ${name} of a plugin is not asked: the name means another source already.`);
}

/** Every source that a person may name, those of plugins included. */
export const namedServices = (): readonly Source[] => [...allSources, ...onRequest, ...added];

/** Every source that is asked where a person names none. */
export const usualServices = (): readonly Source[] => [...allSources, ...added];

/** Sites whose pages are read, not searched. Their addresses can be configured as those of services are. */
export const arxivPages: Source = { name: "arXiv pages", aliases: [], endpoint: "https://arxiv.org" };
export const ar5iv: Source = { name: "ar5iv", aliases: [], endpoint: "https://ar5iv.labs.arxiv.org" };
export const doiResolver: Source = { name: "DOI", aliases: ["doi.org"], endpoint: "https://doi.org" };

/**
 * Every service that is asked for anything: papers, their texts, and their code. Their addresses and keys can be
 * configured.
 */
export const allServices = (): readonly Source[] => [
  ...namedServices(),
  huggingFace,
  arxivPages,
  ar5iv,
  doiResolver,
  zotero,
];

/** What stands in for a service that programs may not ask, or that another one holds whole. */
interface Substitute {
  /** As people write it. */
  readonly name: string;
  readonly aliases: readonly string[];
  /** Names of the sources that are asked in its place. */
  readonly instead: readonly string[];
  /** One sentence, for the statistics and the terminal. */
  readonly reason: string;
}

export const substitutes: readonly Substitute[] = [
  {
    name: "Google Scholar",
    aliases: ["google scholar", "scholar", "googlescholar", "google_scholar", "google-scholar", "scholar.google.com"],
    instead: ["OpenAlex", "Semantic Scholar"],
    reason:
      "Google Scholar has no interface for programs and forbids scraping; OpenAlex and Semantic Scholar are asked instead.",
  },
  {
    name: "PubMed",
    aliases: ["pubmed", "pub med", "medline", "pubmed.gov", "pubmed.ncbi.nlm.nih.gov", "ncbi"],
    instead: ["Europe PMC"],
    reason:
      "PubMed is asked through Europe PMC, which holds all of its records and says more of free copies and retractions.",
  },
];

const normal = (name: string): string => name.trim().toLowerCase();

const namedIn = (sources: readonly Source[], name: string): Source | undefined =>
  sources.find((source) => normal(source.name) === normal(name) || source.aliases.includes(normal(name)));

/**
 * The source of this name or alias, in any case. `feed:<address>` and a person's own list are sources too; files are
 * relative to `root`. Undefined for names of no source here, such as "web", which stays the agent's.
 */
export function sourceNamed(name: string, root: string = process.cwd()): Source | undefined {
  const feed = /^feed:\s*(\S.*)$/i.exec(name.trim())?.[1];
  if (feed !== undefined) return webAddress(feed) === undefined ? undefined : feedSource(feed);
  const own = zoteroIn(name);
  if (own !== undefined) return zoteroSource(name.trim(), own.collection);
  const list = ownListIn(name);
  if (list !== undefined) return listSource(name.trim().replace(/^list:\s+/i, "list:"), list, root);
  return namedIn([...allSources, ...onRequest], name) ?? namedIn(added, name);
}

/** What stands in for the service of this name, where it is not asked itself. */
export const substituteFor = (name: string): Substitute | undefined =>
  substitutes.find(({ aliases }) => aliases.includes(normal(name)));

/**
 * The name of a source that may be searched in the place of one that refuses us: it covers many fields and needs no
 * key. Undefined where all of them are among `taken`.
 */
export function standInBeside(taken: readonly string[]): string | undefined {
  const names = new Set(taken.map(normal));
  const general: readonly Source[] = [openAlex, semanticScholar, crossref, europePmc, arxiv];
  return general
    .filter(({ search, needs }) => search !== undefined && needs === undefined)
    .find(({ name }) => !names.has(normal(name)))?.name;
}

/** The sources that a name in a project's `sources` leads to: itself, its substitutes, or none. */
export function sourcesFor(name: string, root: string | undefined): readonly Source[] {
  const own = sourceNamed(name, root);
  if (own !== undefined) return [own];
  return (substituteFor(name)?.instead ?? []).map((each) => sourceNamed(each)).filter((source) => source !== undefined);
}

/** Why a source can't be asked as things are set up, as one sentence; undefined where it can. */
export function whyNotAsked(
  source: Source,
  context: Pick<SourceContext, "endpoint" | "key" | "contact">,
): string | undefined {
  if (source.needs === "key" && context.key === undefined)
    return `${source.name} needs a key; set ${source.keyVariable}.`;
  if (source.needs === "contact" && context.contact?.includes("@") !== true)
    return `${source.name} needs an e-mail address; set contact in the configuration.`;
  if (context.endpoint === "")
    return `${source.name} has no default address; set sources.${source.name.toLowerCase()}.endpoint in the configuration.`;
  return undefined;
}
