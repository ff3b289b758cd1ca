import type { PaperRecord } from "../papers/paper-record.js";
import type { FoundSeeds } from "../papers/seeds/find-seeds.js";
import type { Rrd, Step } from "../generated/rrd.js";
import type { CandidateSet } from "../search/candidates.js";
import type { Listing } from "../search/result-list.js";
import type { Rest } from "../search/source-rests.js";
import type { RankedWork } from "./screening-order.js";

/** The result of the searches of scholarly services. */
export interface SearchSession {
  /** Works that are not judged yet, best first. */
  readonly works: readonly RankedWork[];
  /** Works that code excludes, and why. */
  readonly excludedWorks: readonly {
    readonly work: RankedWork;
    readonly stage: "retracted" | "window" | "notice";
    readonly reason: string;
  }[];
  /** All search rounds so far; those of accepted batches come first. */
  readonly steps: readonly Step[];
  readonly listings: readonly Listing[];
  readonly candidates: CandidateSet;
  readonly candidatesSha256: string;
  /** Number of works that will not be judged, because they had low ranks when a search was given up. */
  readonly skippedCount: number;
  /** The seeds that were found; absent if the project has no seeds. */
  readonly seeds?: FoundSeeds;
  /** The reason why no more works will be found. */
  readonly exhausted?: string;
  /** Whether citations of works that will be kept may still be followed. */
  readonly mayLeadOn: boolean;
  /**
   * The answers of the sources if none was reachable in the first round. They are not stored, so the next batch asks
   * again.
   */
  readonly unreachableListings?: readonly Listing[];
  /** Busy services, and how long a run waits for them; absent if all services have answered. */
  readonly busy?: {
    readonly rests: readonly Rest[];
    /** Services in blocked_sources that answer again. */
    readonly answered: readonly string[];
    /**
     * Set if only busy services remain: when the first may be asked again, and when the run stops waiting, in
     * milliseconds since the epoch.
     */
    readonly waits?: { readonly until: number; readonly atMost: number };
    /** Services whose earlier rounds were repeated. */
    readonly retried: ReadonlySet<string>;
  };
}

/** Access to the sources of papers. */
export interface Sources {
  /** Whether code lists all papers of this source, and not an agent. */
  serves(source: string): boolean;
  /** All papers of the source, in a stable order. @throws ExpectedError if it can't be reached. */
  candidates(source: string): Promise<readonly PaperRecord[]>;
  /** The names of lists of works in a folder. Each list is another source. */
  lists?(source: string): Promise<readonly string[]>;
  /**
   * The names of the scholarly services for a name in `sources`; empty if the agent searches this source.
   */
  services(source: string): readonly string[];
  /** A sentence that names the replacement of a source that programs must not use. */
  substitution(source: string): string | undefined;
  /** A replacement for a service that refuses requests; not one of `taken`. */
  standIn?(taken: readonly string[]): string | undefined;
  /**
   * Searches these services until there are enough works to judge; they are deduplicated and ranked. Never throws for
   * errors of the network.
   */
  search(rrd: Rrd, services: readonly string[]): Promise<SearchSession>;
  /** Busy services that this run has given up, but asks again later. */
  givenUp?(): readonly string[];
}
