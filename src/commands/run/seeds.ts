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

/** Maximum number of seeds that are looked up, because each needs a request. */
const maxLookups = 50;
const maxAbstractChars = 2_000;
const maxAuthors = 6;

/**
 * Asks the services for the titles and abstracts of the seeds that the user typed as references, and stores them in the
 * project. If no source knows a seed, the reason is stored instead. If a seed can't be looked up, it stays unchanged.
 * The user is told in both cases.
 */
export async function describeSeeds(folder: string, config: ResolvedConfig, io: Io): Promise<void> {
  const { rrd } = await readResearch(folder);
  const seedsToLookUp = (rrd.seeds ?? []).flatMap((seed) =>
    typeof seed === "object" && seed.title == null && seed.from === undefined ? [seed.reference] : [],
  );
  if (seedsToLookUp.length === 0) return;
  const notifyUser = (sentence: string) => say(io, sentence);
  const factsByReference = new Map<string, Partial<Seed>>();
  const signals = listenForSignals(io);
  const referencesToAsk = seedsToLookUp.slice(0, maxLookups);
  const progressCounter = createCounter(io, "Looking up seeds:", referencesToAsk.length);
  try {
    for (const [index, reference] of referencesToAsk.entries()) {
      progressCounter.step(index);
      if (signals.finish.aborted) break;
      const seedReference = await typedReference(reference, io.cwd);
      const described = await lookUpTyped(seedReference, folder, config, io, signals.finish);
      if (described.status === "ok") factsByReference.set(reference, seedFacts(described.paper));
      else if (!signals.finish.aborted) {
        // If a service or a document could not be read, the paper may still exist.
        const isUnknown = described.status === "empty";
        if (isUnknown) factsByReference.set(reference, { not_known: oneLine(described.reason) });
        progressCounter.say(
          `Seed ${reference}: ${isUnknown ? "no source knows it" : "it could not be looked up"}; it stays in the project (${described.reason})`,
        );
      }
    }
  } finally {
    progressCounter.close();
    signals.stop();
  }
  if (seedsToLookUp.length > maxLookups)
    notifyUser(`${seedsToLookUp.length - maxLookups} more seeds were not looked up; only their references are stored.`);
  if (factsByReference.size === 0) return;
  const notify = (_: string, message: string) => notifyUser(message);
  const change = (before: typeof rrd): typeof rrd => ({
    ...before,
    seeds: (before.seeds ?? []).map((seed) =>
      typeof seed === "string" ? seed : { ...seed, ...factsByReference.get(seed.reference) },
    ),
  });
  await editResearch(folder, change, { derive, git: false, notify });
}

function seedFacts({ title, authors, date, venue, abstract, identifiers }: PaperRecord): Partial<Seed> {
  return {
    title,
    authors: authors.slice(0, maxAuthors),
    date: date ?? undefined,
    venue,
    abstract: abstract?.slice(0, maxAbstractChars),
    ...(Object.keys(identifiers).length === 0 ? {} : { identifiers: { ...identifiers } }),
  };
}
