import type { ResolvedConfig } from "../../compose/config.js";
import { oneLine } from "../../engine/lib/sanitise.js";
import type { Io } from "../../engine/ui/io.js";
import { listenForSignals } from "../../engine/ui/signals.js";
import { editResearch } from "../../research/project-files/edit-by-command.js";
import { readResearch } from "../../research/project-files/research.js";
import type { Seed } from "../../research/generated/rrd.js";
import type { PaperRecord } from "../../research/papers/paper-record.js";
import { derive } from "../../research/workflow/derive.js";
import { lookUpTyped, typedReference } from "./typed-reference.js";
import { createCounter } from "../../engine/ui/terminal/counter.js";
import { say } from "../../engine/ui/terminal/format.js";

/** Each is a request of its own; entries of files bring what is known of them. */
const maxDescribed = 50;
const maxAbstract = 2_000;
const maxAuthors = 6;

/**
 * Asks the services for the title and abstract of the seeds that a person typed, and notes them in the project. A seed
 * that no source knows stays, with the reason, and is told; one that could not be looked up stays as it is, and is
 * told.
 */
export async function describeSeeds(folder: string, config: ResolvedConfig, io: Io): Promise<void> {
  const { rrd } = await readResearch(folder);
  const bare = (rrd.seeds ?? []).flatMap((seed) =>
    typeof seed === "object" && seed.title == null && seed.from === undefined ? [seed.reference] : [],
  );
  if (bare.length === 0) return;
  const tell = (sentence: string) => say(io, sentence);
  const known = new Map<string, Partial<Seed>>();
  const signals = listenForSignals(io);
  const asked = bare.slice(0, maxDescribed);
  const counted = createCounter(io, "Looking up seeds:", asked.length);
  try {
    for (const [index, reference] of asked.entries()) {
      counted.step(index);
      if (signals.finish.aborted) break;
      const typed = await typedReference(reference, io.cwd);
      const described = await lookUpTyped(typed, folder, config, io, signals.finish);
      if (described.status === "ok") known.set(reference, factsOf(described.paper));
      else if (!signals.finish.aborted) {
        // A service that was not reached says nothing of the paper, nor does a document that can't be read.
        const isUnknown = described.status === "empty";
        if (isUnknown) known.set(reference, { not_known: oneLine(described.reason) });
        counted.say(
          `Seed ${reference}: ${isUnknown ? "no source knows it" : "it could not be looked up"}, and it is kept as it is (${described.reason})`,
        );
      }
    }
  } finally {
    counted.close();
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
  await editResearch(folder, change, { derive, git: false, notify });
}

function factsOf({ title, authors, date, venue, abstract, identifiers }: PaperRecord): Partial<Seed> {
  return {
    title,
    authors: authors.slice(0, maxAuthors),
    date: date ?? undefined,
    venue,
    abstract: abstract?.slice(0, maxAbstract),
    ...(Object.keys(identifiers).length === 0 ? {} : { identifiers: { ...identifiers } }),
  };
}
