import { createHash } from "node:crypto";
import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import type { LedgerLine } from "../generated/ledger.js";
import { hasCode } from "../lib/errors.js";
import { notedFolder } from "../lib/layout.js";
import { writeFileAtomic } from "./atomic-file.js";
import { stateVersion } from "./state/format-version.js";
import { countingLines } from "./state/ledger.js";
import { makeFolder, readRegularText } from "./regular-file.js";

/**
 * What an agent left for the next one that shares its unit. It is written before the ledger's line that names its hash,
 * so after a kill there is either both or a file that nobody refers to, and the iteration is done again.
 */
export interface Noted {
  readonly iteration: number;
  readonly role: string;
  /** From 1. */
  readonly round: number;
  readonly agent: string;
  /** Stands for what the unit was made from. Of another one it says nothing. */
  readonly basis: string;
  /** What was left, checked and without secrets. */
  readonly value: unknown;
}

const notedFile = (folder: string, iteration: number): string => join(notedFolder(folder), `${iteration}.json`);

const hashOf = (text: string): string => createHash("sha256").update(text).digest("hex");

/** Keeps what an agent left. Returns the hash for the ledger's line. @throws ExpectedError as on a full disk. */
export async function keepNoted(folder: string, noted: Noted): Promise<string> {
  const text = JSON.stringify({ ...noted, format: stateVersion });
  makeFolder(notedFolder(folder));
  await writeFileAtomic(notedFile(folder, noted.iteration), text);
  return hashOf(text);
}

/** The lines of a unit since it was last accepted or reset, the oldest first, without those that failed. */
export function openLines(ledger: readonly LedgerLine[], unit: string): readonly LedgerLine[] {
  const mine = countingLines(ledger).filter((line) => line.unit === unit && line.outcome !== "failed");
  return mine.slice(mine.findLastIndex(({ outcome }) => outcome === "accepted" || outcome === "reset") + 1);
}

/** Units with something noted since they were last accepted or reset. */
export function unitsWithNoted(ledger: readonly LedgerLine[]): readonly string[] {
  const units = new Set(ledger.filter(({ outcome }) => outcome === "noted").map(({ unit }) => unit));
  return [...units].filter((unit) => openLines(ledger, unit).some(({ outcome }) => outcome === "noted"));
}

/** What these lines of the ledger noted; undefined for one whose file is gone, changed or of another kind. */
export const readNoted = (folder: string, lines: readonly LedgerLine[]): Promise<readonly (Noted | undefined)[]> =>
  Promise.all(lines.map((line) => readOne(folder, line)));

async function readOne(folder: string, { iteration, kept_sha256 }: LedgerLine): Promise<Noted | undefined> {
  try {
    const text = await readRegularText(notedFile(folder, iteration));
    return hashOf(text) === kept_sha256 ? (JSON.parse(text) as Noted) : undefined;
  } catch (error) {
    if (hasCode(error, "ENOENT", "ENOTDIR", "EISDIR", "ELOOP")) return undefined;
    throw error;
  }
}

/** Removes the files of iterations that nobody will ask for any more, those of killed ones too. */
export async function sweepNoted(folder: string, ledger: readonly LedgerLine[]): Promise<void> {
  const names = await readdir(notedFolder(folder)).catch(() => []);
  if (names.length === 0) return;
  const open = new Set(
    unitsWithNoted(ledger).flatMap((unit) => openLines(ledger, unit).map(({ iteration }) => `${iteration}.json`)),
  );
  for (const name of names)
    if (/^\d+\.json$/.test(name) && !open.has(name)) await rm(join(notedFolder(folder), name), { force: true });
}
