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
 * Prints the files that the librarian would get, with their tokens, beginning with those nearest to the failure. Starts
 * no agent and runs no test: the failure is known from the last run, or the target is used instead.
 */
export async function graphCommand(
  folder: string,
  target: string | undefined,
  window: number,
  io: Io,
  json: boolean,
): Promise<number> {
  const taskState = hasStartedTask(folder) ? (await taskRecords(folder).catch(() => undefined))?.state : undefined;
  const { task = { task: "", acceptance_criteria: [] as never }, checks = [], tested } = taskState ?? {};
  const graph = await readGraph(folder);
  const startFiles = startingFiles(
    folder,
    { task: { ...task, ...withoutUndefined({ target }) }, checks, tested },
    graph,
  );
  const files = rankFiles(graph, startFiles);
  const maxTokens = librarianTokens(window, 1, maxOtherTokens);
  const text = rankedText(folder, files, startFiles, maxTokens);
  const tokensByPath = new Map(
    text.split(/^(?=## .+ \(distance \d+\)$)/m).flatMap((block) => {
      const path = /^## (.+) \(distance \d+\)$/m.exec(block)?.[1];
      return path === undefined ? [] : [[path, estimateTokens(block)] as const];
    }),
  );
  const rows = files.map(({ path, distance }) => ({
    path,
    distance,
    tokens: tokensByPath.get(path) ?? 0,
    imports: graph.imports.get(path) ?? [],
  }));
  const problems = [...graph.problems].map(([path, problem]) => ({ path, problem }));
  const tokens = estimateTokens(text);
  if (json) {
    io.stdout(
      `${JSON.stringify({ files: rows, problems, starts: [...startFiles.keys()], tokens, room: maxTokens })}\n`,
    );
    return 0;
  }
  const width = Math.max(4, ...rows.slice(0, 200).map(({ path }) => path.length));
  for (const { path, distance, tokens: fileTokens } of rows.filter((row) => row.tokens > 0))
    io.stdout(
      `${String(distance).padStart(3)}  ${oneLine(path).padEnd(Math.min(width, Math.max(10, io.columns - 22)))}  ${shortCount(fileTokens)} tokens\n`,
    );
  const hiddenCount = rows.length - tokensByPath.size;
  if (hiddenCount > 0) io.stdout(`     ${quantity(hiddenCount, "more file")}, without their content\n`);
  for (const { path, problem } of problems) io.stdout(`  !  ${oneLine(path)}: ${oneLine(problem)}\n`);
  if (graph.imports.size === 0)
    io.stdout(
      "git lists no file of TypeScript, JavaScript, Python or Rust here; a project is a folder in a git repository.\n",
    );
  else if (startFiles.size === 0)
    io.stdout(
      "No file to start from is known: name one with --target, or run research-ralph code, which runs the tests.\n",
    );
  io.stdout(`${shortCount(tokens)} of ${shortCount(maxTokens)} tokens for the files\n`);
  return 0;
}
