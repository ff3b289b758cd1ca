import type { PaperRecord } from "../papers/paper-record.js";
import type { FoundSeeds } from "../papers/seeds/find-seeds.js";
import type { Rrd, Step } from "../generated/rrd.js";
import type { CandidateSet } from "../search/candidates.js";
import type { Listing } from "../search/result-list.js";
import type { Rest } from "../search/source-rests.js";
import type { Ranked } from "./screening-order.js";

/** What the searches of the scholarly services have come to. */
export interface SearchSession {
  /** Works that wait to be judged, best first. */
  readonly works: readonly Ranked[];
  /** Works that code leaves out by itself, and why. */
  readonly setAside: readonly {
    readonly work: Ranked;
    readonly stage: "retracted" | "window" | "notice";
    readonly reason: string;
  }[];
  /** Every round so far; those that an accepted batch has noted come first. */
  readonly steps: readonly Step[];
  readonly listings: readonly Listing[];
  readonly candidates: CandidateSet;
  readonly candidatesSha256: string;
  /** Works that were found and come into no batch any more: they stood low when a search was given up. */
  readonly passed: number;
  /** Papers that a person named beforehand, among everything that was found; absent where they are missing. */
  readonly seeds?: FoundSeeds;
  /** Why there will be nothing more after these works. */
  readonly exhausted?: string;
  /** A paper kept of these works may yet be followed to others. */
  readonly mayLeadOn: boolean;
  /**
   * Where the first round reached no source at all: what each said. Nothing of it is kept, so the next batch asks
   * again.
   */
  readonly away?: readonly Listing[];
  /** Services that are busy, and how far a run waits for them; absent where all that were asked have answered. */
  readonly busy?: {
    readonly rests: readonly Rest[];
    /** Services in blocked_sources that have answered again. */
    readonly answered: readonly string[];
    /**
     * Nothing is left to search but services that rest: milliseconds since the epoch at which the first may be asked
     * again, and at which the run no longer waits.
     */
    readonly waits?: { readonly until: number; readonly atMost: number };
    /** Services whose earlier rounds were made again. */
    readonly retried: ReadonlySet<string>;
  };
}

/** Where papers are found. */
export interface Sources {
  /** Whether code, not an agent, lists all of this source. */
  serves(source: string): boolean;
  /** Everything the source offers, in a stable order. Throws ExpectedError when it can't be reached. */
  candidates(source: string): Promise<readonly PaperRecord[]>;
  /** Names of the lists of works that lie in a folder; each is a source of its own. */
  lists?(source: string): Promise<readonly string[]>;
  /**
   * The scholarly services that a name in `sources` leads to, by their own names; none where it is left to the agent.
   */
  services(source: string): readonly string[];
  /** What is asked in place of a source that programs may not ask, as one sentence. */
  substitution(source: string): string | undefined;
  /** A service that may be searched in the place of one that refuses us, besides those that are `taken`. */
  standIn?(taken: readonly string[]): string | undefined;
  /**
   * Searches these services until there is enough to judge: found, deduplicated and ranked. Never throws for what a
   * network does.
   */
  search(rrd: Rrd, services: readonly string[]): Promise<SearchSession>;
  /** Services that this run has given up because they were busy, and asks again while it lasts. */
  givenUp?(): readonly string[];
}
