import { basename } from "node:path";
import { requireAgents } from "../../compose/agents.js";
import { type Asking, openAsking } from "../../compose/asked-update.js";
import { type ConfigFlags, type ResolvedConfig, resolveConfig } from "../../compose/config.js";
import { experienceOf } from "../../compose/forecast-basis.js";
import { iterationsOf, roleNamesOf } from "../../compose/sharing.js";
import type { LedgerLine } from "../../engine/generated/ledger.js";
import { ExpectedError } from "../../engine/lib/errors.js";
import { oneLine, shellWord } from "../../engine/lib/sanitise.js";
import type { Io } from "../../engine/ui/io.js";
import { listenForSignals } from "../../engine/ui/signals.js";
import { many } from "../../engine/ui/terminal/format.js";
import { wholeForecast } from "../../engine/ui/terminal/tally.js";
import { openResearch, readResearch } from "../../research/folder/research.js";
import { signState } from "../../research/folder/tamper/other-projects.js";
import type { Paper, ProjectUpdate, Rrd } from "../../research/generated/rrd.js";
import { findResearch } from "../../research/overview/find-research.js";
import { askedUpdate, findingsBefore, openedFor, withOpen } from "../../research/update/opening.js";
import { type Came, isAnything, whatCame } from "../../research/update/what-came.js";
import { keepAsked, nextWindow, readAsked } from "../../research/update/window.js";
import { openUpdate } from "../../research/workflow/decisions/open-update.js";
import { statusOf } from "../../research/workflow/decisions/status.js";
import { forecastOf } from "../../research/workflow/derived/forecast.js";
import { derive } from "../../research/workflow/derived/statistics.js";
import { explain } from "../explain.js";
import { work } from "./run.js";

interface UpdateArguments {
  readonly folders: readonly string[];
  /** First day of publication to ask for, YYYY-MM-DD. */
  readonly since?: string;
  /** Only say what came and what it would take. */
  readonly dryRun: boolean;
  readonly flags: ConfigFlags;
  readonly quiet: boolean;
  readonly verbose?: boolean;
  readonly json: boolean;
}

/**
 * Asks what came since finished projects were searched last, and works on those for which something did. Where nothing
 * came, no agent starts and no file of git's changes. Of several projects each has its turn, whatever became of the one
 * before; the exit code is the first that is not 0.
 */
export async function updateCommand(args: UpdateArguments, io: Io): Promise<number> {
  const config = await resolveConfig({ flags: args.flags, env: io.env, cwd: io.cwd });
  if (args.folders.length === 1) return await updateOne(args.folders[0] ?? "", args, config, io);
  let exitCode = 0;
  for (const folder of args.folders) {
    let code: number;
    try {
      code = await updateOne(folder, args, config, io);
    } catch (error) {
      code = explain(error, io, ["update"]);
    }
    if (exitCode === 0) exitCode = code;
    if (code > 128) return code;
  }
  return exitCode;
}

async function updateOne(named: string, args: UpdateArguments, config: ResolvedConfig, io: Io): Promise<number> {
  const folder = await findResearch(io.cwd, named);
  const { rrd, ledger } = await readResearch(folder);
  const open = openUpdate(rrd);
  if (open === undefined) return await begin(folder, args, config, io);
  if (args.dryRun) return await forecast(folder, { rrd, ledger }, open, undefined, args, config, io);
  if (!args.json) io.stderr(`${basename(folder)}: ${open.id}, opened on ${open.at.slice(0, 10)}, goes on.\n`);
  await requireAgents(config, io, false, roleNamesOf(config));
  return await work(folder, rrd, config, io, args);
}

/** Asks, and where something came, opens an update and works on it. */
async function begin(folder: string, args: UpdateArguments, config: ResolvedConfig, io: Io): Promise<number> {
  const name = basename(folder);
  const signals = listenForSignals(io);
  const notify = (_: string, message: string) => io.stderr(`${oneLine(message)}\n`);
  const research = args.dryRun ? undefined : await openResearch(folder, { derive, git: config.git, notify });
  let asking: Asking | undefined;
  let opened: Rrd;
  let works: number;
  try {
    const state = await (research === undefined ? readResearch(folder) : research.load());
    requireFinished(name, folder, state.rrd, state.ledger);
    const window = nextWindow(name, state, await readAsked(folder), io.clock.now(), args.since);
    const update = askedUpdate(state, window, io.clock.now());
    asking = await openAsking(folder, config, io, signals.finish);
    const came = await whatCame({ ...state, rrd: withOpen(state.rrd, update) }, update, asking.outside);
    if (signals.finish.aborted) return signals.finish.reason === "SIGTERM" ? 143 : 130;
    if (!isAnything(came)) return await nothing(folder, update, came, args, io);
    if (research === undefined) return await forecast(folder, state, update, came, args, config, io);
    await requireAgents(config, io, false, roleNamesOf(config));
    if (!args.json) io.stderr(`${name}: ${cameText(came)} since ${update.since}.\n`);
    const before = await findings(folder, state.rrd, state.ledger, io.clock.now());
    await asking.keep(state.rrd, came);
    opened = await research.edit((current) => openedFor(current, update, came, before), true);
    works = came.works + came.changed.length;
  } finally {
    signals.stop();
    await asking?.close();
    if (research !== undefined) {
      await signState(folder, config.stateDir);
      await research.close();
    }
  }
  const iterations = config.iterations ?? iterationsOf(config, 2 * works + 6);
  return await work(folder, opened, { ...config, iterations }, io, args);
}

function requireFinished(name: string, folder: string, rrd: Rrd, ledger: readonly LedgerLine[]): void {
  if (statusOf(rrd, ledger).phase === "COMPLETE") return;
  throw new ExpectedError(
    `${name} is not finished, so there is nothing to update; 'research-ralph run ${shellWord(folder)}' goes on with it.`,
    2,
  );
}

/** The findings of the report as it stands. */
async function findings(
  folder: string,
  rrd: Rrd,
  ledger: readonly LedgerLine[],
  now: number,
): Promise<NonNullable<ProjectUpdate["before"]>> {
  const [{ readBeside }, { reportModel }] = await Promise.all([
    import("../../research/report/read-report.js"),
    import("../../research/report/model.js"),
  ]);
  return findingsBefore(reportModel((await readBeside(folder, rrd, ledger, new Date(now))).input));
}

/**
 * Says so in one line, and keeps the day.
 * @throws ExpectedError, exit code 5, where no source could be asked or none answered.
 */
async function nothing(
  folder: string,
  { since, until }: ProjectUpdate,
  came: Came,
  { dryRun, json }: UpdateArguments,
  io: Io,
): Promise<number> {
  const name = basename(folder);
  const failed = [...came.failed].map(([source, { reason }]) => `${source}: ${reason.replace(/\.$/, "")}`);
  if (came.answered === 0)
    throw new ExpectedError(
      came.asked.length === 0
        ? `${name}: none of its sources can be asked (blocked_sources and requirements.sources in rrd.json say which they are), so nobody knows whether something came since ${since}; take a source off blocked_sources, or add one.`
        : `${name}: no source answered, so nobody knows whether something came since ${since} (${failed.join("; ")}); run update again later.`,
      5,
    );
  const stays = Object.fromEntries([...came.failed].map(([source, { since: day }]) => [source, day]));
  if (!dryRun) await keepAsked(folder, { until, failed: stays });
  if (json) io.stdout(`${JSON.stringify({ folder, since, until, ...figures(came) })}\n`);
  else {
    const left = failed.length === 0 ? "" : `; ${failed.join("; ")}: asked again the next time`;
    io.stdout(`${name}: nothing new from ${since} to ${until} (${many(came.asked.length, "source")} asked${left}).\n`);
  }
  return 0;
}

/** What came, and what it would take if every work were kept. Writes nothing. */
async function forecast(
  folder: string,
  { rrd, ledger }: { readonly rrd: Rrd; readonly ledger: readonly LedgerLine[] },
  update: ProjectUpdate,
  came: Came | undefined,
  { json }: UpdateArguments,
  config: ResolvedConfig,
  io: Io,
): Promise<number> {
  const opened = came === undefined ? rrd : openedFor(rrd, update, came, []);
  const pending = (id: string): Paper => ({ id, title: id, status: "pending" });
  const places = [...Array(came?.works ?? 0).keys(), ...(came?.changed ?? []).filter(({ text }) => text !== undefined)];
  const all = { ...opened, papers_pool: [...opened.papers_pool, ...places.map((_, index) => pending(`?${index}`))] };
  const whole = forecastOf(all, ledger, await experienceOf(folder, config, io));
  const { id, since, until } = update;
  if (json) {
    io.stdout(`${JSON.stringify({ folder, since, until, ...(came && figures(came)), forecast: whole ?? null })}\n`);
    return 0;
  }
  const head = came === undefined ? `${id} is open since ${update.at.slice(0, 10)}` : cameText(came);
  const lines = [
    `${basename(folder)}: ${head} (${since} to ${until}).`,
    ...(came?.titles ?? []).map((title) => `  new: ${oneLine(title)}`),
    ...((came?.works ?? 0) > (came?.titles.length ?? 0)
      ? [`  and ${(came?.works ?? 0) - (came?.titles.length ?? 0)} more`]
      : []),
    ...(came?.changed ?? []).map(
      (paper) => `  changed: ${paper.id}: ${oneLine(paper.says)}${paper.text === undefined ? ", the same text" : ""}`,
    ),
    ...(came?.retracted ?? []).map((paper) => `  retracted: ${paper}`),
    ...(whole === undefined
      ? []
      : [`${wholeForecast(whole)}${came === undefined ? "" : " At most: if every new work is kept."}`]),
  ];
  io.stdout(`${lines.join("\n")}\n`);
  return 0;
}

const figures = ({ works, changed, retracted, failed, asked }: Came) => ({
  new: works,
  changed: changed.map(({ id, says, text }) => ({ id, says, read_again: text !== undefined })),
  ...{ retracted, asked },
  failed: Object.fromEntries([...failed].map(([source, { reason }]) => [source, reason])),
});

function cameText({ works, changed, retracted }: Came): string {
  const parts = [
    works === 0 ? "" : many(works, "new work"),
    changed.length === 0 ? "" : `${many(changed.length, "paper")} changed`,
    retracted.length === 0 ? "" : `${retracted.length} retracted`,
  ];
  return parts.filter((part) => part !== "").join(", ");
}
