import type { Paper } from "../generated/rrd.js";
import { clip } from "../../engine/lib/tokens.js";
import { authorsOf, authorsText } from "../papers/authors.js";
import { sourcesOf } from "../papers/paper-record.js";
import { compareRecords } from "../papers/dedup/same-work.js";
import type { Source } from "../sources/shared/source.js";
import { type MatchFeatures, matchFeaturesOf } from "../papers/dedup/match-features.js";
import { wrongCall, parametersOf } from "../../engine/tools/tool.js";
import { type RankedWork, searchOnce } from "../screening/screening-order.js";
import { isFailed, type Listing, type Open } from "../search/result-list.js";
import { type Network, type ResearchTool, withTimeout } from "./context.js";
import { withoutUndefined } from "../../engine/lib/without-undefined.js";

const maxPapers = 20;
const defaultPapers = 10;
/** Maximum number of estimated tokens of all abstracts together. */
const maxAbstractTokens = 2_500;

export const searchPapers: ResearchTool = {
  name: "search_papers",
  description: "Search scholarly sources; one merged list, those already in the research marked.",
  effects: ["network"],
  parameters: parametersOf(
    {
      query: { type: "string", description: "a few words that occur together" },
      from: { type: "string", description: "YYYY-MM-DD" },
      most: { type: "integer" },
    },
    ["query"],
  ),
  async run({ query = "", from, most = defaultPapers }, context, signal) {
    if (context.network === undefined) return { problem: "No source can be searched from here." };
    if (from !== undefined && !/^\d{4}-\d\d-\d\d$/.test(from))
      return wrongCall("search_papers: from must be a day such as 2025-01-31.");
    const maxWorks = Math.min(most, maxPapers);
    const { listings, ranked } = await searchOnce(
      { terms: query, ...withoutUndefined({ from }), most: maxWorks },
      context.network.sources.map(({ name }) => name),
      openFor(context.network, signal),
      Date.now(),
    );
    const works = ranked.slice(0, maxWorks);
    const papers = (await context.papers()).map((paper) => ({ paper, features: matchFeaturesOf(paper) }));
    const reasons = listings.flatMap(({ source, status, reason }) =>
      status === "ok" ? [] : [`${source} (${status}): ${reason}`],
    );
    const counts = listings.flatMap(({ source, status, records }) =>
      status === "ok" ? [`${source} ${records.length}`] : [],
    );
    const tokensPerWork = Math.floor(maxAbstractTokens / Math.max(works.length, 1));
    const blocks = works.map((work) => blockOf(work, papers, tokensPerWork));
    const head =
      works.length === 0 ? nothingFound(listings) : `${works.length} papers. Found by source: ${counts.join(", ")}.`;
    const data = [...blocks, ...reasons.map((reason) => clip(reason, 60))].join("\n\n");
    return {
      head,
      ...(data === "" ? {} : { data }),
      ...(answeredListings(listings).length === 0 ? { unanswered: true as const } : {}),
    };
  },
};

const answeredListings = (listings: readonly Listing[]) => listings.filter((listing) => !isFailed(listing));

/** Only if a source answered does an empty result mean that there is nothing. */
function nothingFound(listings: readonly Listing[]): string {
  if (answeredListings(listings).length === 0) return "No source could be asked.";
  return answeredListings(listings).length === listings.length
    ? "No paper found."
    : "No paper found; not every source answered.";
}

/** Limits how long each source may take: the agent waits, and its CLI stops a call after a minute. */
const openFor =
  ({ sources, contextFor }: Network, signal: AbortSignal): Open =>
  (name) => {
    const source = sources.find((each) => each.name === name);
    if (source === undefined) return { unavailable: `${name} is not searched.` };
    const { search: searchSource } = source;
    if (searchSource === undefined) return { unavailable: `${name} can't be searched.` };
    const context = contextFor(source);
    if ("unavailable" in context) return context;
    const search: Source["search"] = (query, sourceContext) =>
      withTimeout(searchSource.call(source, query, sourceContext), name, signal);
    return { source: { ...source, search }, context };
  };

function blockOf(
  { record: paper, provenance }: RankedWork,
  pool: readonly { readonly paper: Paper; readonly features: MatchFeatures }[],
  tokens: number,
): string {
  const features = matchFeaturesOf(paper);
  const poolPaper = pool.find(
    (other) => other.paper.id === paper.id || compareRecords(other.features, features).same,
  )?.paper;
  const authors = authorsOf(paper.authors);
  const marks = [
    poolPaper === undefined ? undefined : `in the research as ${clip(poolPaper.id, 40)}, ${poolPaper.status}`,
    paper.retracted === true ? "RETRACTED" : undefined,
  ].filter((mark) => mark !== undefined);
  const facts = [
    paper.date ?? "undated",
    clip(authorsText(authors, 3), 40),
    sourcesOf(provenance).join(" + "),
    ...(paper.citations === undefined ? [] : [`cited ${paper.citations.count} times`]),
    ...marks,
  ];
  return [
    `${clip(paper.id, 40)}: ${clip(paper.title, 50)}`,
    facts.join("; "),
    clip(paper.url, 50),
    clip(paper.abstract ?? "", tokens),
  ]
    .filter((line) => line !== "")
    .join("\n");
}
