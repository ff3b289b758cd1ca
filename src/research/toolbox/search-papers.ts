import type { Paper } from "../generated/rrd.js";
import { clip } from "../../engine/lib/tokens.js";
import { authorsOf } from "../papers/authors.js";
import { mergeRecords } from "../papers/dedup/merge-records.js";
import type { PaperRecord } from "../papers/paper-record.js";
import { compareTraits } from "../papers/dedup/compare-records.js";
import type { Answer, Query, Source } from "../sources/client/source.js";
import { type Traits, traitsOf } from "../papers/dedup/match-features.js";
import { wrongCall } from "../../engine/tools/tool.js";
import type { MergedRecord } from "../papers/dedup/merge-fields.js";
import { type Network, type ResearchTool, inTime } from "./context.js";

const mostPapers = 20;
const usually = 10;
/** Reciprocal rank fusion: what stands first in one list counts about as much as what stands in the middle of two. */
const fusion = 60;
/** Estimated tokens of all abstracts together. */
const abstractTokens = 2_500;

interface Asked {
  readonly source: Source;
  readonly answer: Answer<readonly PaperRecord[]>;
}

export const searchPapers: ResearchTool = {
  name: "search_papers",
  description: "Search scholarly sources; one merged list, those already in the research marked.",
  parameters: {
    query: { type: "string", description: "a few words that occur together" },
    from: { type: "string", description: "YYYY-MM-DD" },
    most: { type: "integer" },
  },
  required: ["query"],
  async run({ query = "", from, most = usually }, context, signal) {
    if (context.network === undefined) return { problem: "No source can be searched from here." };
    if (from !== undefined && !/^\d{4}-\d\d-\d\d$/.test(from))
      return wrongCall("search_papers: from must be a day such as 2025-01-31.");
    const wanted = Math.min(most, mostPapers);
    const asked = await askAll(
      context.network,
      { terms: query, ...(from === undefined ? {} : { from }), most: wanted },
      signal,
    );
    const papers = fused(asked).slice(0, wanted);
    const pool = (await context.papers()).map((paper) => ({ paper, traits: traitsOf(paper) }));
    const reasons = asked.flatMap(({ source, answer }) =>
      answer.status === "ok" ? [] : [`${source.name} (${answer.status}): ${answer.reason}`],
    );
    const counts = asked.flatMap(({ source, answer }) =>
      answer.status === "ok" ? [`${source.name} ${answer.value.length}`] : [],
    );
    const each = Math.floor(abstractTokens / Math.max(papers.length, 1));
    const blocks = papers.map((paper) => blockOf(paper, pool, each));
    const head =
      papers.length === 0 ? nothingFound(asked) : `${papers.length} papers. Found by source: ${counts.join(", ")}.`;
    const data = [...blocks, ...reasons.map((reason) => clip(reason, 60))].join("\n\n");
    return {
      head,
      ...(data === "" ? {} : { data }),
      ...(answered(asked).length === 0 ? { unanswered: true as const } : {}),
    };
  },
};

const answered = (asked: readonly Asked[]) =>
  asked.filter(({ answer }) => answer.status === "ok" || answer.status === "empty");

/** Only a source that answered can say that there is nothing. */
function nothingFound(asked: readonly Asked[]): string {
  if (answered(asked).length === 0) return "No source could be asked.";
  return answered(asked).length === asked.length ? "No paper found." : "No paper found; not every source answered.";
}

/** Every source at the same time. One that takes too long is left behind: the agent waits, and its CLI gives up after a minute. */
async function askAll({ sources, contextFor }: Network, query: Query, signal: AbortSignal): Promise<Asked[]> {
  return await Promise.all(
    sources.map(async (source): Promise<Asked> => {
      const context = contextFor(source);
      if ("unavailable" in context) return { source, answer: { status: "blocked", reason: context.unavailable } };
      if (source.search === undefined)
        return { source, answer: { status: "error", reason: `${source.name} can't be searched.` } };
      return { source, answer: await inTime(source.search(query, context), source.name, signal) };
    }),
  );
}

/** The works of all lists, those first that stand high in many. */
function fused(asked: readonly Asked[]): readonly MergedRecord[] {
  const lists = asked.map(({ answer }) => (answer.status === "ok" ? answer.value : []));
  const weight = new Map(lists.flatMap((list) => list.map((record, rank) => [record, 1 / (fusion + rank)] as const)));
  const score = ({ members }: MergedRecord) => members.reduce((sum, member) => sum + (weight.get(member) ?? 0), 0);
  return mergeRecords(lists.flat()).records.toSorted((a, b) => score(b) - score(a));
}

function blockOf(
  paper: MergedRecord,
  pool: readonly { readonly paper: Paper; readonly traits: Traits }[],
  tokens: number,
): string {
  const traits = traitsOf(paper);
  const known = pool.find((other) => other.paper.id === paper.id || compareTraits(other.traits, traits).same)?.paper;
  const authors = authorsOf(paper.authors);
  const marks = [
    known === undefined ? undefined : `in the research as ${clip(known.id, 40)}, ${known.status}`,
    paper.retracted === true ? "RETRACTED" : undefined,
  ].filter((mark) => mark !== undefined);
  const facts = [
    paper.date ?? "undated",
    `${clip(authors.slice(0, 3).join(", "), 24)}${authors.length > 3 ? " and others" : ""}`,
    [...new Set(paper.members.map(({ source }) => source))].join(" + "),
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
