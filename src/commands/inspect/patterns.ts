import { ExpectedError } from "../../engine/lib/errors.js";
import { configToRead } from "../../compose/config.js";
import type { Io } from "../../engine/ui/io.js";
import { requirePerson } from "../steer/require-person.js";
import { oneLine, shellWord } from "../../engine/lib/sanitise.js";
import { learnPatterns, patternsNotIn } from "../../research/project-files/lessons.js";
import { readPatterns } from "../../research/project-files/progress-log.js";
import { rootOf } from "../../research/workflow/brief/prompt-file.js";
import { findResearch, nameFor, displayPath } from "../../research/overview/find-research.js";
import { say } from "../../engine/ui/terminal/format.js";

interface PatternsArguments {
  readonly folder: string | undefined;
  readonly accept?: number;
  readonly json: boolean;
}

/**
 * Lists the patterns that agents recorded, or adds one to AGENTS.md, which every agent reads. Only a person may add.
 */
export async function patternsCommand({ folder: argument, accept, json }: PatternsArguments, io: Io): Promise<number> {
  const folder = await findResearch(io.cwd, argument);
  const root = rootOf(folder, io.cwd);
  const { stateDir } = await configToRead(io, {}, ["state_dir"]);
  const patterns = await readPatterns(folder, stateDir);
  if (accept === undefined) {
    const openPatterns = new Set(await patternsNotIn(root, patterns));
    const rows = patterns.map((pattern, index) => ({
      number: index + 1,
      ...pattern,
      accepted: !openPatterns.has(pattern),
    }));
    if (json) io.stdout(`${JSON.stringify(rows)}\n`);
    else if (rows.length === 0) say(io, "No agent has recorded a pattern in this project yet.");
    else
      for (const row of rows)
        io.stdout(
          `${String(row.number).padStart(3)} ${row.accepted ? "in AGENTS.md " : ""}${oneLine(row.text)} (${oneLine(row.unit)})\n`,
        );
    return 0;
  }
  requirePerson(io.env);
  const pattern = patterns[accept - 1];
  if (pattern === undefined)
    throw new ExpectedError(
      `There is no pattern ${accept}; this project has ${patterns.length}. 'research-ralph show ${shellWord(nameFor(io.cwd, folder))} patterns' lists them.`,
      2,
    );
  await learnPatterns(root, [pattern]);
  if (json) io.stdout(`${JSON.stringify({ accepted: pattern })}\n`);
  else
    io.stdout(
      `Added to ${displayPath(io.cwd, root) === "." ? "" : `${displayPath(io.cwd, root)}/`}AGENTS.md: ${oneLine(pattern.text)}\n`,
    );
  return 0;
}
