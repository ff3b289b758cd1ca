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
 * Checks the criteria and nothing else; 0 where all are met, else 1. Changes nothing in the task's records; on the host
 * what the checked commands change of them is put back, as in a run, once an agent has worked.
 */
export async function dryRun(
  named: NamedTask,
  config: ResolvedConfig,
  io: Io,
  { json, quiet, flags }: { readonly json: boolean; readonly quiet: boolean; readonly flags: ConfigFlags },
): Promise<number> {
  await trustContext(named, config, io, flags);
  const settings = settingsFor(config, io);
  const housing = await sandboxFor(config, io, settings, [], sandboxOf(named, config));
  if (housing.sandbox === undefined) await trustCommands(named, io, flags);
  const signals = listenForSignals(io);
  const signal = AbortSignal.any([signals.finish, signals.abort]);
  const workspace = workspaceOf(named, config);
  const shown =
    housing.sandbox === undefined
      ? []
      : [...(await readOnlyIn(workspace, named)), ...contextOutside(named.task, workspace)];
  const place = placeFor({ workspace, folder: named.folder }, config, io, inSandbox(settings, housing), shown);
  mkdirSync(place.scratch, { recursive: true });
  if (housing.notice !== undefined && !quiet && !json) say(io, housing.notice.message);
  const long = createCheckAnnouncer((line) => say(io, line));
  const guard = housing.sandbox === undefined ? await guardOf(workspace, named, config, io) : undefined;
  const tell = async (told: NewEvent): Promise<void> => {
    const event = { ...told, at: new Date(io.clock.now()).toISOString() };
    if (json) return io.stdout(`${JSON.stringify(event)}\n`);
    if (event.type === "notice") return say(io, `${event.level}: ${event.message}`);
    if (!quiet) long.event(event);
    if (event.type !== "checked" || (quiet && event.passed)) return;
    for (const [index, line] of wrap(oneLine(checkText(event)), io.tableWidth - 3).entries())
      io.stdout(`${index === 0 ? "" : "  "}${line}\n`);
  };
  try {
    const criteria = named.task.acceptance_criteria;
    const warnings = json ? [] : await unreadableContext(named.task, { ...place, signal });
    for (const message of warnings) say(io, `warning: ${message}`);
    const check = () => checkAll(criteria, { ...place, signal }, { seen: [] }, tell);
    const checked =
      guard === undefined
        ? await check()
        : await withProtection(guard.protect, guard.iteration, "the criteria were checked", tell, check);
    if (checked === undefined) return signals.finish.reason === "SIGTERM" ? 143 : 130;
    const met = checked.checks.filter(({ passed }) => passed).length;
    if (json) io.stdout(`${JSON.stringify({ type: "task", met, criteria: criteria.length })}\n`);
    else if (!quiet) io.stdout(`${met} of ${criteria.length} criteria met\n`);
    return met === criteria.length ? 0 : 1;
  } finally {
    long.close();
    signals.stop();
    await guard?.release();
    await housing.sandbox?.close();
    rmSync(place.scratch, { recursive: true, force: true });
  }
}
