import { createHash } from "node:crypto";
import { resolveConfig } from "../../engine/config/resolve.js";
import { ExpectedError } from "../../engine/lib/errors.js";
import { assembleCandidates, type CandidateSet, candidatesText } from "../../research/search/candidates.js";
import { type ReplayedSources, replaysOf } from "../../research/search/replay-sources.js";
import { ofSearch, readQueries } from "../../research/folder/logs/query-log.js";
import { readResearch } from "../../research/folder/research.js";
import type { Io } from "../../engine/ui/io.js";
import { apartOf } from "../../research/workflow/discovery/search-session.js";
import { rootOf } from "../../research/workflow/brief/prompt.js";
import { findResearch, type FolderOptions } from "../../research/overview/find-research.js";
import { answersFolder } from "../../research/folder/layout.js";

interface Replayed {
  readonly candidates: CandidateSet;
  readonly text: string;
  readonly sha256: string;
  readonly missing: readonly string[];
}

/**
 * Makes a project's search again out of queries.jsonl and the answers in .ralph/http, without the network, and says
 * whether the same pool of candidates comes out, byte for byte: exit code 0 where it does, else 1. With `json` it
 * prints the pool itself.
 */
export async function replayCommand({ folder: given, json }: FolderOptions, io: Io): Promise<number> {
  const folder = await findResearch(io.cwd, given);
  const { rrd } = await readResearch(folder);
  const metrics = rrd.statistics?.discovery_metrics;
  const steps = metrics?.rounds ?? [];
  const recorded = metrics?.pool_sha256;
  if (steps.length === 0 || recorded === undefined)
    throw new ExpectedError(
      `${given ?? folder} has no recorded search to replay: its papers came from an agent or a folder.`,
    );
  const { lines: all, notices } = await readQueries(folder);
  for (const notice of notices) io.stderr(`${notice}\n`);

  const apart = apartOf(rrd);
  const { sources: config } = await resolveConfig({ env: io.env, cwd: io.cwd });
  const again = async (sources: ReplayedSources): Promise<Replayed> => {
    const candidates = await assembleCandidates(steps, sources.open, apart);
    const text = candidatesText(steps, candidates);
    return { candidates, text, sha256: createHash("sha256").update(text).digest("hex"), missing: sources.missing() };
  };
  const [inOrder, byLastAnswers] = replaysOf(ofSearch(all), {
    cacheDir: answersFolder(folder),
    config,
    root: rootOf(folder, io.cwd),
  });
  let replayed = await again(inOrder());
  if (replayed.sha256 !== recorded) replayed = await again(byLastAnswers());

  if (json) io.stdout(replayed.text);
  const rounds = `${replayed.candidates.works.length} works in ${steps.length} ${steps.length === 1 ? "round" : "rounds"}`;
  if (replayed.sha256 === recorded) {
    const sentence = `Replay is identical, byte for byte: ${rounds}, sha256 ${recorded}.\n`;
    if (json) io.stderr(sentence);
    else io.stdout(sentence);
    return 0;
  }
  for (const sentence of new Set(replayed.missing)) io.stderr(`${sentence}\n`);
  const why =
    replayed.missing.length > 0
      ? "answers are missing: .ralph may have been cleaned, or the configuration names other addresses than at that time"
      : "same answers, different result: the parser or merge rules have changed";
  io.stderr(`Replay differs: ${rounds}, sha256 ${replayed.sha256}, recorded ${recorded}; ${why}.\n`);
  return 1;
}
