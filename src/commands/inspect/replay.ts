import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { isDeepStrictEqual } from "node:util";
import { localSources } from "../../compose/library.js";
import { configToRead } from "../../compose/config.js";
import { ExpectedError } from "../../engine/lib/errors.js";
import {
  assembleCandidates,
  candidatesOf,
  type CandidateSet,
  candidatesText,
} from "../../research/search/candidates.js";
import { type ReplayedSources, replaysOf } from "../../research/search/replay-sources.js";
import { searchQueries, readQueries } from "../../research/project-files/logs/query-log.js";
import { readResearch } from "../../research/project-files/research.js";
import { quantity } from "../../engine/lib/words.js";
import { say } from "../../engine/ui/terminal/format.js";
import type { Io } from "../../engine/ui/io.js";
import { separatedPairs } from "../../research/derived/separated.js";
import { rootOf } from "../../research/workflow/brief/prompt-file.js";
import { findResearch, type FolderOptions } from "../../research/overview/find-research.js";
import { answersFolder, searchFile, searchName } from "../../research/project-files/layout.js";
import type { Rrd } from "../../research/generated/rrd.js";
import type { PaperRecord } from "../../research/papers/paper-record.js";
import { readCommittedSearch } from "../../research/search/committed-search.js";
import { recordsHash } from "../../research/units/screening/screening-batch.js";

/** Maximum number of missing answers that are named. */
const maxNamedAnswers = 5;

interface ReplayedSearch {
  readonly candidates: CandidateSet;
  readonly text: string;
  readonly sha256: string;
  readonly missing: readonly string[];
}

/**
 * Repeats a project's search without the network and says whether the candidates are the same. If they are, the exit
 * code is 0, else 1. The answers of services are read from queries.jsonl and .ralph/http, or, in a clone without
 * .ralph, from the committed records. Folders and samples are listed again. With `json` it prints the candidates, or,
 * if no service was searched, the comparison of the listing.
 */
export async function replayCommand({ folder: folderArgument, json }: FolderOptions, io: Io): Promise<number> {
  const folder = await findResearch(io.cwd, folderArgument);
  const { rrd } = await readResearch(folder);
  const metrics = rrd.statistics?.discovery_metrics;
  const rounds = metrics?.rounds ?? [];
  const { pool_sha256: recorded, listed_sha256: listed } = metrics ?? {};
  const hasSearch = rounds.length > 0 && recorded !== undefined;
  if (!hasSearch && listed === undefined)
    throw new ExpectedError(
      `${folderArgument ?? folder} has no recorded search to replay: its papers came from an agent, or an earlier version found them.`,
    );
  const exitCodes = [
    ...(listed === undefined
      ? []
      : [
          await replayListing(rrd, listed, rootOf(folder, io.cwd), json ? (hasSearch ? "silent" : "json") : "text", io),
        ]),
    ...(hasSearch ? [await replaySearch(folder, rrd, recorded, json, io)] : []),
  ];
  return Math.max(...exitCodes);
}

/**
 * Lists the documents of folders and samples again. `outputMode`: what is written to stdout; "silent" if the search
 * writes there.
 */
async function replayListing(
  rrd: Rrd,
  recorded: string,
  root: string,
  outputMode: "text" | "json" | "silent",
  io: Io,
): Promise<number> {
  const { serves, candidates } = localSources(root, root, new AbortController().signal);
  const documentLists: [string, readonly PaperRecord[]][] = [];
  for (const name of (rrd.requirements.sources ?? []).filter(serves))
    documentLists.push([name, await candidates(name)]);
  const sha256 = recordsHash(documentLists);
  const documentCount = documentLists.reduce((sum, [, found]) => sum + found.length, 0);
  const sources = documentLists.map(([name]) => name);
  const identical = sha256 === recorded;
  const listingText = `${quantity(documentCount, "document")} of ${sources.join(", ")}`;
  const sentence = identical
    ? `The listing is identical: ${listingText}, sha256 ${recorded}.`
    : `The listing differs: ${listingText}, sha256 ${sha256}, recorded ${recorded}; documents were added, changed or removed since.`;
  if (outputMode === "json")
    io.stdout(`${JSON.stringify({ identical, sources, documents: documentCount, sha256, recorded }, null, 2)}\n`);
  else if (outputMode === "text" && identical) io.stdout(`${sentence}\n`);
  else say(io, sentence);
  return identical ? 0 : 1;
}

/** Repeats the search of the services. */
async function replaySearch(folder: string, rrd: Rrd, recorded: string, json: boolean, io: Io): Promise<number> {
  const steps = rrd.statistics?.discovery_metrics?.rounds ?? [];
  const { lines: queryLines, notices } = await readQueries(folder);
  for (const notice of notices) say(io, notice);
  const separateWorks = separatedPairs(rrd);
  const replayedSearch = (candidates: CandidateSet, missing: readonly string[]): ReplayedSearch => {
    const text = candidatesText(steps, candidates);
    return { candidates, text, sha256: createHash("sha256").update(text).digest("hex"), missing };
  };
  const { sources: config } = await configToRead(io, {}, ["sources"]);
  const replayWith = async (sources: ReplayedSources): Promise<ReplayedSearch> => {
    const candidates = await assembleCandidates(steps, sources.open, separateWorks);
    return replayedSearch(candidates, sources.unanswered());
  };
  const [openInOrder, openByLastAnswers] = replaysOf(searchQueries(queryLines), {
    cacheDir: answersFolder(folder),
    config,
    root: rootOf(folder, io.cwd),
  });
  let replayed = await replayWith(openInOrder());
  if (replayed.sha256 !== recorded) replayed = await replayWith(openByLastAnswers());
  // A clone has no answers, but it has the records that were made from them.
  const committedSearch = replayed.missing.length > 0 ? await readCommittedSearch(searchFile(folder)) : undefined;
  const isSameSearch = committedSearch !== undefined && isDeepStrictEqual(committedSearch.steps, steps);
  const fromRecords = isSameSearch
    ? replayedSearch(candidatesOf(committedSearch.listings, separateWorks), [])
    : undefined;
  if (fromRecords !== undefined && replayed.sha256 !== recorded) replayed = fromRecords;

  if (json) io.stdout(replayed.text);
  const countsText = `${replayed.candidates.works.length} works in ${steps.length} ${steps.length === 1 ? "round" : "rounds"}`;
  if (replayed.sha256 === recorded) {
    const note =
      replayed === fromRecords
        ? ` From the records in ${searchName}: merging and ranking were replayed; the answers of the sources are in .ralph/http on the machine that searched.`
        : "";
    const sentence = `Replay is identical, byte for byte: ${countsText}, sha256 ${recorded}.${note}`;
    if (json) say(io, sentence);
    else io.stdout(`${sentence}\n`);
    return 0;
  }
  const missingAnswers = existsSync(answersFolder(folder)) ? [...new Set(replayed.missing)] : [];
  for (const sentence of missingAnswers.slice(0, maxNamedAnswers)) say(io, sentence);
  if (missingAnswers.length > maxNamedAnswers)
    say(io, `${missingAnswers.length - maxNamedAnswers} more answers are missing.`);
  say(
    io,
    `Replay differs: ${countsText}, sha256 ${replayed.sha256}, recorded ${recorded}; ${differenceReason(replayed, folder)}.`,
  );
  return 1;
}

function differenceReason({ missing }: ReplayedSearch, folder: string): string {
  if (missing.length === 0) return "same answers, different result: the parser or merge rules have changed";
  if (!existsSync(answersFolder(folder)))
    return `this folder is a clone: .ralph/http, which holds the answers, is not committed, and ${existsSync(searchFile(folder)) ? `${searchName} can't be read or is of another search` : `there is no ${searchName}; commit it from the machine that searched, or copy .ralph`}`;
  return "answers are missing: .ralph may have been cleaned, or the configuration names other addresses than it did at the search";
}
