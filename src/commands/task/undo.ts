import { otherFileName, workspaceOf } from "../../compose/open-task.js";
import type { ResolvedConfig } from "../../compose/config.js";
import { ExpectedError } from "../../engine/lib/errors.js";
import type { LedgerLine } from "../../engine/generated/ledger.js";
import { repositoryOf } from "../../engine/storage/git-repository.js";
import { openRecordStore } from "../../engine/storage/state/record-store.js";
import { replaceBrokenState } from "../../engine/storage/state/reset.js";
import { quantity } from "../../engine/lib/words.js";
import { say } from "../../engine/ui/terminal/format.js";
import type { Io } from "../../engine/ui/io.js";
import { snapshotIndex } from "../../task/project-files/layout.js";
import { openSnapshots } from "../../task/project-files/snapshots.js";
import type { TaskState } from "../../task/generated/ralph-state.js";
import { taskFormat } from "../../task/project-files/state-file.js";
import { withDerivedFields } from "../../task/workflow/derived-state.js";
import { withoutLaterAttempts } from "../../task/workflow/status.js";

/** Restores the files to their content after an iteration; 0: before the first iteration. */
export async function undo(
  folder: string,
  iteration: number,
  config: ResolvedConfig,
  io: Io,
  json: boolean,
): Promise<number> {
  const warn = (message: string) => say(io, `warning: ${message}`);
  const options = {
    derive: (state: TaskState, ledger: readonly LedgerLine[]) =>
      withDerivedFields(state, ledger, config.history.limits),
    git: false,
    notify: (level: "info" | "warning", message: string) => (level === "warning" ? warn(message) : undefined),
  };
  let isRestored = false;
  // If the user broke the state file, it is restored first, so that the files can still be restored.
  const store = await openRecordStore(folder, taskFormat, options, async () => {
    for (const message of await replaceBrokenState(folder, taskFormat, new Date(io.clock.now()).toISOString())) {
      isRestored = true;
      warn(message);
    }
  });
  try {
    const { state } = await store.load();
    const workspace = workspaceOf({ folder }, config);
    const repository = await repositoryOf(workspace);
    // The state file is restored, as the message about the broken state asked. There are no files to restore.
    if (repository === undefined && isRestored) {
      const undoneText =
        "The files were not changed: they are not in a git repository, so no iteration of them was kept.\n";
      io.stdout(json ? `${JSON.stringify({ type: "undone", iteration, files: [] })}\n` : undoneText);
      return 0;
    }
    if (repository === undefined)
      throw new ExpectedError(`${folder} is not in a git repository, so no earlier version of the files was kept.`, 2);
    const snapshots = openSnapshots(workspace, repository, state.id, {
      index: snapshotIndex(folder),
      views: [...Object.values(config.task.views), ...otherFileName(state)],
      notify: warn,
    });
    const files = await snapshots.putBack(snapshotFor(state, iteration));
    await store.edit((current) => withoutLaterAttempts(current, iteration));
    const timeText = iteration === 0 ? "before the first iteration" : `after iteration ${iteration}`;
    if (json) io.stdout(`${JSON.stringify({ type: "undone", iteration, files })}\n`);
    else
      io.stdout(
        files.length === 0
          ? `Nothing to undo: the files are as they were ${timeText}.\n`
          : `The files are as they were ${timeText}; ${quantity(files.length, "file")} changed. The content before the undo is kept as refs/ralph/${state.id}/before-undo; files that git ignores were not changed.\n`,
      );
    return 0;
  } finally {
    await store.close();
  }
}

/**
 * The iteration whose snapshot has the files as they were after `iteration`. A role that changes no files makes no
 * snapshot, so an earlier snapshot may be used.
 */
function snapshotFor({ attempts }: TaskState, iteration: number): number {
  if (attempts.find((attempt) => attempt.iteration === iteration)?.role === undefined) return iteration;
  const changes = attempts.filter(({ snapshot }) => snapshot !== undefined);
  const snapshotIterations = changes.flatMap(({ iteration: number, round }) =>
    // There is also a snapshot before the first change of a round, because the round before may have been undone.
    changes.find((attempt) => attempt.round === round)?.iteration === number ? [number - 1, number] : [number],
  );
  return Math.max(0, ...snapshotIterations.filter((number) => number <= iteration));
}
