import { createHash } from "node:crypto";
import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import type { LedgerLine } from "../generated/ledger.js";
import { hasCode } from "../lib/errors.js";
import { notedFolder } from "../lib/layout.js";
import { writeFileAtomic } from "./atomic-file.js";
import { stateVersion } from "./state/format-version.js";
import { validLines } from "./state/ledger.js";
import { makeFolder, readRegularText } from "./regular-file.js";

/**
 * The notes of one agent for the next agent of the same unit. The file is written before the ledger line with its hash.
 * So if the process is killed, the file may exist without a line; then the iteration is repeated.
 */
export interface AgentNotes {
  readonly iteration: number;
  readonly role: string;
  /** From 1. */
  readonly round: number;
  readonly agent: string;
  /** Digest of the unit's input. Notes with another digest don't apply. */
  readonly basis: string;
  /** The content of the notes: checked, without secrets. */
  readonly value: unknown;
}

const notedFile = (folder: string, iteration: number): string => join(notedFolder(folder), `${iteration}.json`);

const hashOf = (text: string): string => createHash("sha256").update(text).digest("hex");

/** Writes an agent's notes. Returns the hash for the ledger line. @throws ExpectedError, for example on a full disk. */
export async function saveNotes(folder: string, noted: AgentNotes): Promise<string> {
  const text = JSON.stringify({ ...noted, format: stateVersion });
  makeFolder(notedFolder(folder));
  await writeFileAtomic(notedFile(folder, noted.iteration), text);
  return hashOf(text);
}

/** The lines of a unit since it was last accepted or reset, oldest first, without failed ones. */
export function openLines(ledger: readonly LedgerLine[], unit: string): readonly LedgerLine[] {
  const linesOfUnit = validLines(ledger).filter((line) => line.unit === unit && line.outcome !== "failed");
  return linesOfUnit.slice(
    linesOfUnit.findLastIndex(({ outcome }) => outcome === "accepted" || outcome === "reset") + 1,
  );
}

/** Units that have notes since they were last accepted or reset. */
export function unitsWithNotes(ledger: readonly LedgerLine[]): readonly string[] {
  const units = new Set(ledger.filter(({ outcome }) => outcome === "noted").map(({ unit }) => unit));
  return [...units].filter((unit) => openLines(ledger, unit).some(({ outcome }) => outcome === "noted"));
}

/** The notes of these ledger lines; undefined for a line whose file is missing, changed or not a regular file. */
export const readNoted = (folder: string, lines: readonly LedgerLine[]): Promise<readonly (AgentNotes | undefined)[]> =>
  Promise.all(lines.map((line) => readNotes(folder, line)));

async function readNotes(folder: string, { iteration, kept_sha256 }: LedgerLine): Promise<AgentNotes | undefined> {
  try {
    const text = await readRegularText(notedFile(folder, iteration));
    return hashOf(text) === kept_sha256 ? (JSON.parse(text) as AgentNotes) : undefined;
  } catch (error) {
    if (hasCode(error, "ENOENT", "ENOTDIR", "EISDIR", "ELOOP")) return undefined;
    throw error;
  }
}

/** Removes notes that no agent needs any more, and notes of iterations that were killed. */
export async function removeOldNotes(folder: string, ledger: readonly LedgerLine[]): Promise<void> {
  const names = await readdir(notedFolder(folder)).catch(() => []);
  if (names.length === 0) return;
  const openFiles = new Set(
    unitsWithNotes(ledger).flatMap((unit) => openLines(ledger, unit).map(({ iteration }) => `${iteration}.json`)),
  );
  for (const name of names)
    if (/^\d+\.json$/.test(name) && !openFiles.has(name)) await rm(join(notedFolder(folder), name), { force: true });
}
