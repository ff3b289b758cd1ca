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
import { webAddressFrom } from "../../engine/lib/json-fields.js";
import { feedSource } from "./clients/feed.js";
import { listSource } from "./clients/reading-list.js";
import { zotero, zoteroSource } from "./clients/zotero.js";
import { ownListIn, zoteroIn } from "../papers/records/own-list.js";
import type { Source, SourceContext } from "./shared/source.js";

/**
 * Every service that the code queries, in the order of the requests. To add one, write a file in clients/ and add it
 * here.
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

/** Sources that are searched only if the user names them: most of their results are not scholarly works. */
export const sourcesOnRequest: readonly Source[] = [gitHub, hackerNews];

/** Sources that plugins added in this process. */
const pluginSources: Source[] = [];

/**
 * Adds sources of plugins; each replaces an earlier plugin source with the same name. Returns one sentence for each
 * source that is refused because its name already means a built-in source.
 */
export function addSources(sources: readonly Source[]): string[] {
  const refusedSources = sources.filter(
    ({ name }) =>
      findByName([...allSources, ...sourcesOnRequest], name) !== undefined || substituteFor(name) !== undefined,
  );
  for (const source of sources.filter((candidate) => !refusedSources.includes(candidate))) {
    const existingIndex = pluginSources.findIndex(({ name }) => normalName(name) === normalName(source.name));
    if (existingIndex === -1) pluginSources.push(source);
    else pluginSources[existingIndex] = source;
  }
  return refusedSources.map(
    ({ name }) => `The source ${name} of a plugin is not used: a built-in source already has this name.`,
  );
}

/** Every source that a user can name, with those of plugins. */
export const namedServices = (): readonly Source[] => [...allSources, ...sourcesOnRequest, ...pluginSources];

/** Every source that is searched if the user names none. */
export const usualServices = (): readonly Source[] => [...allSources, ...pluginSources];

/** A site whose pages are read but never searched. Its address can be configured like that of a service. */
export const arxivPages: Source = { name: "arXiv pages", aliases: [], endpoint: "https://arxiv.org" };
export const ar5iv: Source = { name: "ar5iv", aliases: [], endpoint: "https://ar5iv.labs.arxiv.org" };
export const doiResolver: Source = { name: "DOI", aliases: ["doi.org"], endpoint: "https://doi.org" };

/**
 * Every service that the code sends requests to: for papers, their texts and their code. Each can have an address and a
 * key in the configuration.
 */
export const allServices = (): readonly Source[] => [
  ...namedServices(),
  huggingFace,
  arxivPages,
  ar5iv,
  doiResolver,
  zotero,
];

/** Replaces a service that forbids access by programs, or whose records another service contains. */
interface Substitute {
  /** The service's usual name. */
  readonly name: string;
  readonly aliases: readonly string[];
  /** Names of the sources that are searched instead. */
  readonly replacements: readonly string[];
  /** One sentence, for the statistics and the terminal. */
  readonly reason: string;
}

export const substitutes: readonly Substitute[] = [
  {
    name: "Google Scholar",
    aliases: ["google scholar", "scholar", "googlescholar", "google_scholar", "google-scholar", "scholar.google.com"],
    replacements: ["OpenAlex", "Semantic Scholar"],
    reason:
      "Google Scholar has no interface for programs and forbids scraping; OpenAlex and Semantic Scholar are searched instead.",
  },
  {
    name: "PubMed",
    aliases: ["pubmed", "pub med", "medline", "pubmed.gov", "pubmed.ncbi.nlm.nih.gov", "ncbi"],
    replacements: ["Europe PMC"],
    reason:
      "PubMed is searched through Europe PMC, which has all its records and more data on free copies and retractions.",
  },
];

const normalName = (name: string): string => name.trim().toLowerCase();

const findByName = (sources: readonly Source[], name: string): Source | undefined =>
  sources.find((source) => normalName(source.name) === normalName(name) || source.aliases.includes(normalName(name)));

/**
 * The source with this name or alias, in any case. `feed:<address>` and the user's lists are sources too; the files of
 * lists are relative to `root`. Undefined for other names, such as "web", which only the agent searches.
 */
export function sourceNamed(name: string, root: string = process.cwd()): Source | undefined {
  const feed = /^feed:\s*(\S.*)$/i.exec(name.trim())?.[1];
  if (feed !== undefined) return webAddressFrom(feed) === undefined ? undefined : feedSource(feed);
  const library = zoteroIn(name);
  if (library !== undefined) return zoteroSource(name.trim(), library.collection);
  const list = ownListIn(name);
  if (list !== undefined) return listSource(name.trim().replace(/^list:\s+/i, "list:"), list, root);
  return findByName([...allSources, ...sourcesOnRequest], name) ?? findByName(pluginSources, name);
}

/** The substitute for the service with this name, if that service is never queried. */
export const substituteFor = (name: string): Substitute | undefined =>
  substitutes.find(({ aliases }) => aliases.includes(normalName(name)));

/**
 * The name of a source that can replace one that refuses access: it covers many fields and needs no key. Undefined if
 * `usedNames` contains all of these.
 */
export function replacementSource(usedNames: readonly string[]): string | undefined {
  const usedNormalNames = new Set(usedNames.map(normalName));
  const generalSources: readonly Source[] = [openAlex, semanticScholar, crossref, europePmc, arxiv];
  return generalSources
    .filter(({ search, needs }) => search !== undefined && needs === undefined)
    .find(({ name }) => !usedNormalNames.has(normalName(name)))?.name;
}

/** The sources for a name in a project's `sources`: the source itself, its substitutes, or an empty list. */
export function sourcesFor(name: string, root: string | undefined): readonly Source[] {
  const ownSource = sourceNamed(name, root);
  if (ownSource !== undefined) return [ownSource];
  return (substituteFor(name)?.replacements ?? [])
    .map((sourceName) => sourceNamed(sourceName))
    .filter((source) => source !== undefined);
}

/** The reason why a source can't be queried with these settings, as one sentence; undefined if it can. */
export function whyUnavailable(
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
