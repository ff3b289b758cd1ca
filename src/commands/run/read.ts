import { mkdtemp, rm } from "node:fs/promises";
import { drive } from "../../compose/drive.js";
import { iterationsOf, roleNamesOf } from "../../compose/sharing.js";
import { openProject } from "../../compose/open-project.js";
import { type ConfigFlags, resolveConfig } from "../../compose/config.js";
import { storedFields } from "../../research/papers/paper-record.js";
import { writeFileAtomic } from "../../engine/storage/atomic-file.js";
import { readLedger, recordUnfiledWork } from "../../engine/storage/state/ledger.js";
import { readResearch } from "../../research/project-files/research.js";
import { formatRrd } from "../../research/project-files/rrd-file.js";
import { withExplainedErrors } from "../../engine/storage/explain-system-error.js";
import type { Io } from "../../engine/ui/io.js";
import { readingWorkflow, rrdForPaper } from "../../research/workflow/single-paper.js";
import { describeTyped, typedReference } from "./typed-reference.js";
import { rubricOf } from "./new.js";
import { readingLines, readingOf } from "./reading-report.js";
import { makeFolder } from "../../engine/storage/regular-file.js";
import { exitCodeOf } from "../../engine/loop/exit-codes.js";
import { readFolderPrefix, rrdFile } from "../../research/project-files/layout.js";

interface ReadArguments {
  readonly reference: string;
  /** As in a new project; absent: no points. */
  readonly rubric?: string;
  readonly flags: ConfigFlags;
  readonly quiet: boolean;
  readonly json: boolean;
}

/**
 * Reads one paper with the agent and shows the result: each claim with its quote, and whether the program found the
 * quote in the paper. Stores nothing but the cost.
 */
export async function readCommand(
  { reference: typedText, rubric: typedRubric, flags, quiet, json }: ReadArguments,
  io: Io,
): Promise<number> {
  const reference = await typedReference(typedText, io.cwd);
  const rubric = typedRubric === undefined ? undefined : await rubricOf(typedRubric, io.cwd);
  const config = await resolveConfig(io, { ...flags, git: false });
  const folder = await withExplainedErrors(config.stateDir, async () => {
    makeFolder(config.stateDir);
    return mkdtemp(readFolderPrefix(config.stateDir));
  });
  try {
    const verdict = await drive(
      config,
      io,
      { json, quiet, iterations: 2 + iterationsOf(config, 1), folder, isTemporary: true, roles: roleNamesOf(config) },
      async (run) => {
        const paper = await describeTyped(reference, folder, config, io, run.ending);
        // For a paper on this machine, no service is asked.
        const isLocal = reference.kind === "file" || reference.kind === "sample";
        const rrd = rrdForPaper(storedFields(paper), [isLocal ? "samples" : "web"], rubric);
        await writeFileAtomic(rrdFile(folder), formatRrd(rrd));
        return readingWorkflow(await openProject(folder, config, io, run));
      },
    );
    if (verdict.verdict === "complete") {
      const { rrd, ledger } = await readResearch(folder);
      const reading = readingOf(rrd, ledger);
      io.stdout(
        json ? `${JSON.stringify({ type: "reading", ...reading })}\n` : `${readingLines(reading, io).join("\n")}\n`,
      );
    }
    return exitCodeOf(verdict);
  } finally {
    const { lines } = await readLedger(folder).catch(() => ({ lines: [] }));
    await recordUnfiledWork(config.stateDir, "read", lines);
    await rm(folder, { recursive: true, force: true });
  }
}
