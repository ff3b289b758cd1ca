import { readGraph } from "../../code/graph/graph.js";
import { rankFiles, rankedText, startingFiles } from "../../code/graph/ranking.js";
import { hasStartedTask } from "../task/task.js";
import { taskRecords } from "../../task/project-files/steered-task.js";
import { librarianTokens, maxOtherTokens } from "../../code/roles/briefs.js";
import { withoutUndefined } from "../../engine/lib/without-undefined.js";
import { estimateTokens } from "../../engine/lib/tokens.js";
import { oneLine } from "../../engine/lib/sanitise.js";
import type { Io } from "../../engine/ui/io.js";
import { shortCount, quantity } from "../../engine/lib/words.js";

/**
 * Prints the files that the librarian would be shown, the nearest first, with their tokens. Starts no agent and runs no
 * test: where it fails is known from the last run, else from the target.
 */
export async function graphCommand(
  folder: string,
  target: string | undefined,
  window: number,
  io: Io,
  json: boolean,
): Promise<number> {
  const begun = hasStartedTask(folder) ? (await taskRecords(folder).catch(() => undefined))?.state : undefined;
  const { task = { task: "", acceptance_criteria: [] as never }, checks = [], tested } = begun ?? {};
  const graph = await readGraph(folder);
  const starts = startingFiles(folder, { task: { ...task, ...withoutUndefined({ target }) }, checks, tested }, graph);
  const files = rankFiles(graph, starts);
  const room = librarianTokens(window, 1, maxOtherTokens);
  const text = rankedText(folder, files, starts, room);
  const shown = new Map(
    text.split(/^(?=## .+ \(distance \d+\)$)/m).flatMap((block) => {
      const path = /^## (.+) \(distance \d+\)$/m.exec(block)?.[1];
      return path === undefined ? [] : [[path, estimateTokens(block)] as const];
    }),
  );
  const rows = files.map(({ path, distance }) => ({
    path,
    distance,
    tokens: shown.get(path) ?? 0,
    imports: graph.imports.get(path) ?? [],
  }));
  const problems = [...graph.problems].map(([path, problem]) => ({ path, problem }));
  const tokens = estimateTokens(text);
  if (json) {
    io.stdout(`${JSON.stringify({ files: rows, problems, starts: [...starts.keys()], tokens, room })}\n`);
    return 0;
  }
  const width = Math.max(4, ...rows.slice(0, 200).map(({ path }) => path.length));
  for (const { path, distance, tokens: own } of rows.filter((row) => row.tokens > 0))
    io.stdout(
      `${String(distance).padStart(3)}  ${oneLine(path).padEnd(Math.min(width, Math.max(10, io.columns - 22)))}  ${shortCount(own)} tokens\n`,
    );
  const hidden = rows.length - shown.size;
  if (hidden > 0) io.stdout(`     ${quantity(hidden, "more file")}, named or left out\n`);
  for (const { path, problem } of problems) io.stdout(`  !  ${oneLine(path)}: ${oneLine(problem)}\n`);
  if (graph.imports.size === 0)
    io.stdout(
      "git lists no file of TypeScript, JavaScript, Python or Rust here; a project is a folder in a git repository.\n",
    );
  else if (starts.size === 0)
    io.stdout(
      "Nothing says where to begin: name a file with --target, or run research-ralph code, which runs the tests.\n",
    );
  io.stdout(`${shortCount(tokens)} of ${shortCount(room)} tokens for the files\n`);
  return 0;
}
