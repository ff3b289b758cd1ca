import type { ResolvedConfig } from "../../compose/config.js";
import { ExpectedError } from "../../engine/lib/errors.js";
import { given } from "../../engine/lib/given.js";
import { oneLine } from "../../engine/lib/sanitise.js";
import type { Io } from "../../engine/ui/io.js";
import { listenForSignals } from "../../engine/ui/signals.js";
import { editResearch } from "../../research/folder/edit-for-person.js";
import { readResearch } from "../../research/folder/research.js";
import type { Seed } from "../../research/generated/rrd.js";
import type { PaperRecord } from "../../research/papers/paper-record.js";
import { derive } from "../../research/workflow/derived/statistics.js";
import { describeTyped, typedReference } from "./described.js";

/** Each is a request of its own; entries of files bring what is known of them. */
const maxDescribed = 50;
const maxAbstract = 2_000;
const maxAuthors = 6;

/**
 * Asks the services for the title and abstract of the seeds that a person typed, and notes them in the project. A seed
 * that no source knows stays, with the reason, and is told; one whose service could not be asked stays as it is.
 */
export async function describeSeeds(folder: string, config: ResolvedConfig, io: Io): Promise<void> {
  const { rrd } = await readResearch(folder);
  const bare = (rrd.seeds ?? []).flatMap((seed) =>
    typeof seed === "object" && seed.title == null && seed.from === undefined ? [seed.reference] : [],
  );
  if (bare.length === 0) return;
  const tell = (sentence: string) => io.stderr(`${oneLine(sentence)}\n`);
  const known = new Map<string, Partial<Seed>>();
  const signals = listenForSignals(io);
  try {
    for (const reference of bare.slice(0, maxDescribed)) {
      if (signals.finish.aborted) break;
      try {
        const typed = await typedReference(reference, io.cwd);
        known.set(reference, factsOf(await describeTyped(typed, folder, config, io, signals.finish)));
      } catch (error) {
        if (!(error instanceof ExpectedError)) throw error;
        // A service that refuses says nothing of the paper.
        const isAway = error.exitCode === 5;
        if (!isAway) known.set(reference, { not_known: oneLine(error.message) });
        tell(
          `Seed ${reference}: ${isAway ? "its service could not be asked" : "no source knows it"}, and it is kept as it is (${error.message})`,
        );
      }
    }
  } finally {
    signals.stop();
  }
  if (bare.length > maxDescribed) tell(`${bare.length - maxDescribed} more seeds are kept by their references alone.`);
  if (known.size === 0) return;
  const notify = (_: string, message: string) => tell(message);
  const change = (before: typeof rrd): typeof rrd => ({
    ...before,
    seeds: (before.seeds ?? []).map((seed) =>
      typeof seed === "string" ? seed : { ...seed, ...known.get(seed.reference) },
    ),
  });
  await editResearch(folder, change, { derive, git: false, backup: false, now: io.clock.now, notify });
}

function factsOf({ title, authors, date, venue, abstract, identifiers }: PaperRecord): Partial<Seed> {
  return {
    title,
    authors: authors.slice(0, maxAuthors),
    ...given({ date: date ?? undefined, venue, abstract: abstract?.slice(0, maxAbstract) }),
    ...(Object.keys(identifiers).length === 0 ? {} : { identifiers: { ...identifiers } }),
  };
}
