import { mkdirSync, rmSync } from "node:fs";
import { settingsFor } from "../../compose/agents.js";
import { inSandbox, sandboxFor } from "../../compose/sandbox.js";
import { say, wrap } from "../../engine/ui/terminal/format.js";
import { guardOf, type NamedTask, placeFor, readOnlyIn, sandboxOf, workspaceOf } from "../../compose/open-task.js";
import type { ConfigFlags, ResolvedConfig } from "../../compose/config.js";
import { trustCommands, trustContext } from "./trust-task.js";
import { oneLine } from "../../engine/lib/sanitise.js";
import { listenForSignals } from "../../engine/ui/signals.js";
import { checkText, createCheckAnnouncer } from "../../engine/ui/plain.js";
import type { Io } from "../../engine/ui/io.js";
import type { NewEvent } from "../../engine/loop/types.js";
import { checkAll } from "../../task/criteria/check-criteria.js";
import { withProtection } from "../../task/project-files/protect.js";
import { contextOutside, unreadableContext } from "../../task/place/context.js";

/**
 * Only checks the criteria. The exit code is 0 if all are met, else 1. The task's records are not changed: if a command
 * that runs on the host changes them, they are restored, as after an agent's work in a run.
 */
export async function dryRun(
  namedTask: NamedTask,
  config: ResolvedConfig,
  io: Io,
  { json, quiet, flags }: { readonly json: boolean; readonly quiet: boolean; readonly flags: ConfigFlags },
): Promise<number> {
  await trustContext(namedTask, config, io, flags);
  const settings = settingsFor(config, io);
  const housing = await sandboxFor(config, io, settings, [], sandboxOf(namedTask, config));
  if (housing.sandbox === undefined) await trustCommands(namedTask, io, flags);
  const signals = listenForSignals(io);
  const signal = AbortSignal.any([signals.finish, signals.abort]);
  const workspace = workspaceOf(namedTask, config);
  const visibleFiles =
    housing.sandbox === undefined
      ? []
      : [...(await readOnlyIn(workspace, namedTask)), ...contextOutside(namedTask.task, workspace)];
  const place = placeFor(
    { workspace, folder: namedTask.folder },
    config,
    io,
    inSandbox(settings, housing),
    visibleFiles,
  );
  mkdirSync(place.scratch, { recursive: true });
  if (housing.notice !== undefined && !quiet && !json) say(io, housing.notice.message);
  const longChecks = createCheckAnnouncer((line) => say(io, line));
  const guard = housing.sandbox === undefined ? await guardOf(workspace, namedTask, config, io) : undefined;
  const sendEvent = async (newEvent: NewEvent): Promise<void> => {
    const event = { ...newEvent, at: new Date(io.clock.now()).toISOString() };
    if (json) return io.stdout(`${JSON.stringify(event)}\n`);
    if (event.type === "notice") return say(io, `${event.level}: ${event.message}`);
    if (!quiet) longChecks.event(event);
    if (event.type !== "checked" || (quiet && event.passed)) return;
    for (const [index, line] of wrap(oneLine(checkText(event)), io.tableWidth - 3).entries())
      io.stdout(`${index === 0 ? "" : "  "}${line}\n`);
  };
  try {
    const criteria = namedTask.task.acceptance_criteria;
    const warnings = json ? [] : await unreadableContext(namedTask.task, { ...place, signal });
    for (const message of warnings) say(io, `warning: ${message}`);
    const check = () => checkAll(criteria, { ...place, signal }, { seenTests: [] }, sendEvent);
    const result =
      guard === undefined
        ? await check()
        : await withProtection(guard.protect, guard.iteration, "the criteria were checked", sendEvent, check);
    if (result === undefined) return signals.finish.reason === "SIGTERM" ? 143 : 130;
    const metCount = result.checks.filter(({ passed }) => passed).length;
    if (json) io.stdout(`${JSON.stringify({ type: "task", met: metCount, criteria: criteria.length })}\n`);
    else if (!quiet) io.stdout(`${metCount} of ${criteria.length} criteria met\n`);
    return metCount === criteria.length ? 0 : 1;
  } finally {
    longChecks.close();
    signals.stop();
    await guard?.release();
    await housing.sandbox?.close();
    rmSync(place.scratch, { recursive: true, force: true });
  }
}
