import { withoutUndefined } from "../../../engine/lib/without-undefined.js";
import type { Rrd, Seed } from "../../generated/rrd.js";
import type { Identifiers, PaperFacts } from "../paper-record.js";
import { paperId, parseReference } from "../reference.js";

/** A paper that the user named as certainly relevant, with the identifiers in its reference. */
export interface KnownSeed extends PaperFacts {
  readonly reference: string;
  /** Its id in the pool; undefined without an identifier or an address. */
  readonly id?: string;
  readonly identifiers: Identifiers;
  /** The reason why no source knows it. */
  readonly notKnown?: string;
}

/**
 * The distinct seeds of a project, in their order. An entry may be only a reference. Files are not read.
 */
export function seedsOf({ seeds }: Pick<Rrd, "seeds">): KnownSeed[] {
  const seedsInOrder = (seeds ?? []).map((seed) => knownSeed(typeof seed === "string" ? { reference: seed } : seed));
  return [...new Map(seedsInOrder.map((seed) => [seed.id ?? seed.reference, seed])).values()];
}

function knownSeed(seed: Seed): KnownSeed {
  const { reference, title, authors, date, venue, abstract, not_known: notKnown } = seed;
  // Other texts are not parsed, because parsing may look for a file.
  const isIdentifier = /^(?:https?:|doi\b|arxiv|pmid|pmcid|PMC\d|10\.\d|\d{4}\.\d|[a-z-]+(?:\.[a-z]{2})?\/\d{7})/i.test(
    reference.trim(),
  );
  const parsed = isIdentifier ? parseReference(reference) : undefined;
  const identifiers: Identifiers = {
    ...(parsed?.kind === "doi" ? { doi: parsed.doi } : {}),
    ...(parsed?.kind === "arxiv" ? { arxiv: parsed.id } : {}),
    ...(parsed?.kind === "pmid" ? { pmid: parsed.pmid } : {}),
    ...(parsed?.kind === "pmcid" ? { pmcid: parsed.pmcid } : {}),
    ...(seed.identifiers as Identifiers | undefined),
  };
  const url = parsed?.kind === "url" ? parsed.url : undefined;
  return {
    reference,
    identifiers,
    ...withoutUndefined({ id: idOf(identifiers, url), url, title, authors, date, venue, abstract, notKnown }),
  };
}

/** The id of a paper in the pool by its identifiers or its address. */
export function idOf({ doi, arxiv, pmid, pmcid }: Identifiers, url: string | undefined): string | undefined {
  const reference = parseReference(arxiv ?? doi ?? (pmid === undefined ? pmcid : `PMID:${pmid}`) ?? url ?? "");
  return reference.kind === "unknown" || reference.kind === "file" || reference.kind === "sample"
    ? undefined
    : paperId(reference);
}

/** The ids of records that were screened out. */
export const screenedOutIds = ({ excluded }: Pick<Rrd, "excluded">): string[] =>
  (excluded ?? []).flatMap(({ id, stage }) => (stage === "screened" ? [id] : []));
