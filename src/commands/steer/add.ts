import { resolveConfig, type ConfigFlags } from "../../compose/config.js";
import { ExpectedError, messageOf } from "../../engine/lib/errors.js";
import { oneLine } from "../../engine/lib/sanitise.js";
import type { Io } from "../../engine/ui/io.js";
import { listenForSignals } from "../../engine/ui/signals.js";
import { editResearch } from "../../research/folder/edit.js";
import { readResearch } from "../../research/folder/research.js";
import type { Paper, Rrd } from "../../research/generated/rrd.js";
import { signState } from "../../research/folder/tamper/other-projects.js";
import { requirePerson } from "./require-person.js";
import { findResearch, nameFor } from "../../research/overview/find-research.js";
import { matchFeaturesOf } from "../../research/papers/dedup/match-features.js";
import { workIndex } from "../../research/papers/dedup/work-index.js";
import { keptFacts } from "../../research/papers/paper-record.js";
import { derive } from "../../research/workflow/derived/statistics.js";
import { describeTyped, typedReference } from "../run/described.js";

interface AddArguments {
  readonly folder: string;
  readonly references: readonly string[];
  readonly flags: ConfigFlags;
  readonly json: boolean;
}

/** What became of one reference. */
interface Added {
  readonly reference: string;
  readonly id: string | null;
  readonly title: string | null;
  readonly result: "added" | "already there" | "not found";
  readonly reason?: string;
}

/**
 * Puts papers that a person names into a project's pool, to be read next. Exit code 1 where one of them could not be
 * had.
 */
export async function addCommand({ folder: argument, references, flags, json }: AddArguments, io: Io): Promise<number> {
  requirePerson(io.env);
  const folder = await findResearch(io.cwd, argument);
  await readResearch(folder);
  const config = await resolveConfig({ flags, env: io.env, cwd: io.cwd });
  const signals = listenForSignals(io);
  const found: { reference: string; paper: Paper }[] = [];
  const missed: Added[] = [];
  try {
    for (const typed of references) {
      const reference = await typedReference(typed, io.cwd);
      try {
        const facts = keptFacts(await describeTyped(reference, folder, config, io, signals.finish));
        found.push({
          reference: typed,
          paper: { ...facts, status: "pending", priority: 5, notes: "Added by a person." },
        });
      } catch (error) {
        if (!(error instanceof ExpectedError)) throw error;
        missed.push({ reference: typed, id: null, title: null, result: "not found", reason: messageOf(error) });
      }
    }
  } finally {
    signals.stop();
  }
  let added: readonly Added[] = [];
  const change = (rrd: Rrd): Rrd => {
    const { pool, results } = withPapers(rrd.papers_pool, found);
    added = results;
    return { ...rrd, papers_pool: pool };
  };
  const notify = (_: string, message: string) => io.stderr(`${oneLine(message)}\n`);
  if (found.length > 0)
    await editResearch(folder, change, { derive, git: config.git, backup: false, now: io.clock.now, notify });
  await signState(folder, config.stateDir);
  const all = [...missed, ...added];
  if (json) io.stdout(`${JSON.stringify({ folder, papers: all }, null, 2)}\n`);
  else {
    for (const { reference, id, title, result, reason } of all)
      io.stdout(
        `${result}: ${oneLine(reason === undefined ? `${id ?? ""}  ${title ?? ""}` : `${reference}: ${reason}`)}\n`,
      );
    if (all.some(({ result }) => result === "added"))
      io.stderr(`They are read first: research-ralph run ${nameFor(io.cwd, folder)}\n`);
  }
  return all.some(({ result }) => result === "not found") ? 1 : 0;
}

/** The pool with those papers that are not in it. Pure. */
function withPapers(
  before: readonly Paper[],
  found: readonly { readonly reference: string; readonly paper: Paper }[],
): { readonly pool: Paper[]; readonly results: readonly Added[] } {
  const works = workIndex();
  for (const paper of before) works.add(paper.id, matchFeaturesOf(paper));
  const pool = [...before];
  const results = found.map(({ reference, paper }): Added => {
    const traits = matchFeaturesOf(paper);
    const twin = pool.find(({ id }) => id === paper.id)?.id ?? works.twinOf(traits)?.id;
    const known = pool.find(({ id }) => id === twin);
    if (known !== undefined) return { reference, id: known.id, title: known.title, result: "already there" };
    works.add(paper.id, traits);
    pool.push(paper);
    return { reference, id: paper.id, title: paper.title, result: "added" };
  });
  return { pool, results };
}
