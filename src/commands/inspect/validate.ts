import { join } from "node:path";
import { readLedger } from "../../engine/storage/state/ledger.js";
import { readRrdFile, researchFormat } from "../../research/project-files/rrd-file.js";
import { repeatedName } from "../../engine/storage/json-syntax.js";
import { readRegularText } from "../../engine/storage/regular-file.js";
import { wayBack } from "../../engine/storage/state/state-file.js";
import type { Problem } from "../../engine/storage/schema-check.js";
import { many } from "../../engine/lib/words.js";
import type { Io } from "../../engine/ui/io.js";
import { oneLine } from "../../engine/lib/sanitise.js";
import { inconsistencies } from "../../research/workflow/statistics-and-steering/inconsistencies.js";
import { findResearch, shown, type FolderOptions } from "../../research/overview/find-research.js";
import { laterFormatIn } from "../../research/project-files/research.js";
import { rrdName } from "../../research/project-files/layout.js";

interface Finding extends Problem {
  readonly level: "error" | "warning";
  /** What the records say instead of what the file says. */
  readonly derived?: unknown;
}

/**
 * Prints every problem of a project with its JSON pointer. Exit code 1 only for errors: old runs contradict themselves,
 * and are read all the same.
 */
export async function validateCommand({ folder: argument, json }: FolderOptions, io: Io): Promise<number> {
  const folder = await findResearch(io.cwd, argument);
  const path = join(folder, rrdName);
  const findings = await findingsOf(folder, path);
  const errors = findings.filter((finding) => finding.level === "error").length;
  const valid = errors === 0;
  if (json) {
    io.stdout(`${JSON.stringify({ file: path, valid, findings }, null, 2)}\n`);
  } else {
    for (const { level, pointer, message, hint, derived } of findings) {
      const more = [
        ...(hint === undefined ? [] : [hint]),
        ...(derived === undefined || message.includes(JSON.stringify(derived))
          ? []
          : [`derived: ${JSON.stringify(derived)}`]),
      ];
      io.stdout(
        `${level}: ${pointer === "" ? "" : `${oneLine(pointer)}: `}${oneLine(message)}${more.length === 0 ? "" : ` — ${oneLine(more.join("; "))}`}\n`,
      );
    }
    const warnings = findings.length - errors;
    if (!valid) io.stdout(`Correct the file, ${await wayBack(folder, researchFormat)}.\n`);
    io.stdout(
      `${shown(io.cwd, path)} is ${valid ? "valid" : "not valid"}: ${many(errors, "error")}, ${many(warnings, "warning")}\n`,
    );
  }
  return valid ? 0 : 1;
}

async function findingsOf(folder: string, path: string): Promise<Finding[]> {
  const parsed = await readRrdFile(path);
  const twice = parsed.ok === undefined ? undefined : repeatedName(await readRegularText(path));
  const repeated: Finding[] =
    twice === undefined
      ? []
      : [{ level: "warning", pointer: "", message: `${twice} stands twice in one object, and the last one counts` }];
  const ledger = (await readLedger(folder)).notices.map((message): Finding => ({
    level: "warning",
    pointer: "",
    message,
  }));
  const rrd =
    parsed.ok === undefined
      ? parsed.problems.map((problem): Finding => ({ level: "error", ...problem }))
      : inconsistencies(parsed.ok).map((warning): Finding => ({ level: "warning", ...warning }));
  const later = await laterFormatIn(folder);
  const news: Finding[] = later === undefined ? [] : [{ level: "warning", pointer: "", message: later }];
  const read = parsed.changes.map((change): Finding => ({ level: "warning", ...change }));
  return [...news, ...repeated, ...rrd, ...read, ...ledger];
}
