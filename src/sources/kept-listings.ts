import { mkdir, readFile } from "node:fs/promises";
import { dirname } from "node:path";
import { writeFileAtomic } from "../store/files.js";
import type { Listing } from "./listing.js";
import type { Step } from "./plan.js";

/** A search under way: what was asked so far and what came back, so that no batch asks it again. */
export interface Kept {
  /** Stands for what is searched for; another search begins anew. */
  readonly search: string;
  /** The day that counts as today in all of its rounds, YYYY-MM-DD. */
  readonly day: string;
  readonly steps: readonly Step[];
  readonly listings: readonly Listing[];
}

/** Reads what is kept of this search; undefined where nothing is, or what is there can't be read: it can be asked again. */
export async function readKept(path: string, search: string): Promise<Kept | undefined> {
  try {
    const kept = JSON.parse(await readFile(path, "utf8")) as Partial<Kept> | null;
    const isWhole = kept?.search === search && typeof kept.day === "string" && Array.isArray(kept.steps) && Array.isArray(kept.listings);
    return isWhole ? (kept as Kept) : undefined;
  } catch {
    return undefined;
  }
}

/** Keeps a search. It may be lost with a kill: the cache of answers holds it too. */
export async function writeKept(path: string, kept: Kept): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFileAtomic(path, JSON.stringify(kept), { durable: false });
}
