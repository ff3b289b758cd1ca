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
import { ofSearch, readQueries } from "../../research/project-files/logs/query-log.js";
import { readResearch } from "../../research/project-files/research.js";
import { many } from "../../engine/lib/words.js";
import { say } from "../../engine/ui/terminal/format.js";
import type { Io } from "../../engine/ui/io.js";
import { apartOf } from "../../research/units/screening/search-session.js";
import { rootOf } from "../../research/workflow/brief/prompt-file.js";
import { findResearch, type FolderOptions } from "../../research/overview/find-research.js";
import { answersFolder, searchFile, searchName } from "../../research/project-files/layout.js";
import type { Rrd } from "../../research/generated/rrd.js";
import type { PaperRecord } from "../../research/papers/paper-record.js";
import { readCommittedSearch } from "../../research/search/committed-search.js";
import { listedHash } from "../../research/units/screening/screening-batch.js";

/** So many missing answers are named. */
const maxNamed = 5;

interface Replayed {
  readonly candidates: CandidateSet;
  readonly text: string;
  readonly sha256: string;
  readonly missing: readonly string[];
}

/**
 * Makes a project's search again, without the network, and says whether the same candidates come out: exit code 0 where
 * they do, else 1. What the services answered is read from queries.jsonl and .ralph/http, byte for byte; in a clone,
 * which has no .ralph, from the records that were committed. What folders and samples hold is listed again. With `json`
 * it prints the pool itself, and where no service was searched how the listing compares.
 */
export async function replayCommand({ folder: given, json }: FolderOptions, io: Io): Promise<number> {
  const folder = await findResearch(io.cwd, given);
  const { rrd } = await readResearch(folder);
  const metrics = rrd.statistics?.discovery_metrics;
  const steps = metrics?.rounds ?? [];
  const { pool_sha256: recorded, listed_sha256: listed } = metrics ?? {};
  const isSearched = steps.length > 0 && recorded !== undefined;
  if (!isSearched && listed === undefined)
    throw new ExpectedError(
      `${given ?? folder} has no recorded search to replay: its papers came from an agent, or an earlier version found them.`,
    );
  const codes = [
    ...(listed === undefined
      ? []
      : [
          await replayListing(
            rrd,
            listed,
            rootOf(folder, io.cwd),
            json ? (isSearched ? "silent" : "json") : "text",
            io,
          ),
        ]),
    ...(isSearched ? [await replaySearch(folder, rrd, recorded, json, io)] : []),
  ];
  return Math.max(...codes);
}

/** Lists what folders and samples hold again. `how`: what stdout gets; the pool of a search may need it for itself. */
async function replayListing(
  rrd: Rrd,
  recorded: string,
  root: string,
  how: "text" | "json" | "silent",
  io: Io,
): Promise<number> {
  const { serves, candidates } = localSources(root, root, new AbortController().signal);
  const lists: [string, readonly PaperRecord[]][] = [];
  for (const name of (rrd.requirements.sources ?? []).filter(serves)) lists.push([name, await candidates(name)]);
  const sha256 = listedHash(lists);
  const documents = lists.reduce((sum, [, found]) => sum + found.length, 0);
  const sources = lists.map(([name]) => name);
  const identical = sha256 === recorded;
  const what = `${many(documents, "document")} of ${sources.join(", ")}`;
  const sentence = identical
    ? `The listing is identical: ${what}, sha256 ${recorded}.`
    : `The listing differs: ${what}, sha256 ${sha256}, recorded ${recorded}; documents were added, changed or removed since.`;
  if (how === "json") io.stdout(`${JSON.stringify({ identical, sources, documents, sha256, recorded }, null, 2)}\n`);
  else if (how === "text" && identical) io.stdout(`${sentence}\n`);
  else say(io, sentence);
  return identical ? 0 : 1;
}

/** Makes the search of the services again. */
async function replaySearch(folder: string, rrd: Rrd, recorded: string, json: boolean, io: Io): Promise<number> {
  const steps = rrd.statistics?.discovery_metrics?.rounds ?? [];
  const { lines: all, notices } = await readQueries(folder);
  for (const notice of notices) say(io, notice);
  const apart = apartOf(rrd);
  const outcome = (candidates: CandidateSet, missing: readonly string[]): Replayed => {
    const text = candidatesText(steps, candidates);
    return { candidates, text, sha256: createHash("sha256").update(text).digest("hex"), missing };
  };
  const { sources: config } = await configToRead(io, {}, ["sources"]);
  const again = async (sources: ReplayedSources): Promise<Replayed> => {
    const candidates = await assembleCandidates(steps, sources.open, apart);
    return outcome(candidates, sources.missing());
  };
  const [inOrder, byLastAnswers] = replaysOf(ofSearch(all), {
    cacheDir: answersFolder(folder),
    config,
    root: rootOf(folder, io.cwd),
  });
  let replayed = await again(inOrder());
  if (replayed.sha256 !== recorded) replayed = await again(byLastAnswers());
  // A clone has no answers, but the records that were made of them.
  const kept = replayed.missing.length > 0 ? await readCommittedSearch(searchFile(folder)) : undefined;
  const isOfThese = kept !== undefined && isDeepStrictEqual(kept.steps, steps);
  const fromRecords = isOfThese ? outcome(candidatesOf(kept.listings, apart), []) : undefined;
  if (fromRecords !== undefined && replayed.sha256 !== recorded) replayed = fromRecords;

  if (json) io.stdout(replayed.text);
  const rounds = `${replayed.candidates.works.length} works in ${steps.length} ${steps.length === 1 ? "round" : "rounds"}`;
  if (replayed.sha256 === recorded) {
    const how =
      replayed === fromRecords
        ? ` From the records in ${searchName}: merging and ranking were replayed; what the sources answered lies in .ralph/http of the machine that searched.`
        : "";
    const sentence = `Replay is identical, byte for byte: ${rounds}, sha256 ${recorded}.${how}`;
    if (json) say(io, sentence);
    else io.stdout(`${sentence}\n`);
    return 0;
  }
  const lost = existsSync(answersFolder(folder)) ? [...new Set(replayed.missing)] : [];
  for (const sentence of lost.slice(0, maxNamed)) say(io, sentence);
  if (lost.length > maxNamed) say(io, `${lost.length - maxNamed} more answers are missing.`);
  say(io, `Replay differs: ${rounds}, sha256 ${replayed.sha256}, recorded ${recorded}; ${whyOther(replayed, folder)}.`);
  return 1;
}

function whyOther({ missing }: Replayed, folder: string): string {
  if (missing.length === 0) return "same answers, different result: the parser or merge rules have changed";
  if (!existsSync(answersFolder(folder)))
    return `this folder is a clone: .ralph/http, which holds the answers, is not committed, and ${existsSync(searchFile(folder)) ? `${searchName} can't be read or is of another search` : `there is no ${searchName}; commit it from the machine that searched, or copy .ralph`}`;
  return "answers are missing: .ralph may have been cleaned, or the configuration names other addresses than at that time";
}
