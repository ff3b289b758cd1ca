import { readdir, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { LedgerLine } from "../engine/generated/ledger.js";
import { readLedger } from "../engine/storage/state/ledger.js";
import {
  type Experience,
  figuresFor,
  figuresForTexts,
  forecastOf,
  type Price,
  medianUsageOf,
  usageAtPace,
  type UnitUsage,
} from "../research/workflow/forecast.js";
import { isPriced, modelByName, priceOf } from "../engine/agents/prices.js";
import type { AgentSettings } from "../engine/agents/definition.js";
import { createAgent, modelOf, usualModelsOf } from "../engine/agents/registry.js";
import type { Forecast } from "../engine/loop/types.js";
import type { Rrd } from "../research/generated/rrd.js";
import type { UsageEstimate } from "../research/units/unit-kind.js";
import { reading } from "../research/units/reading/kind.js";
import { rootOf } from "../research/workflow/brief/prompt-file.js";
import type { Io } from "../engine/ui/io.js";
import { withoutUndefined } from "../engine/lib/without-undefined.js";
import { settingsFor, withLastAgent } from "./agents.js";
import { checkPlanOf, sharingOf } from "./sharing.js";
import { configToRead, type ResolvedConfig } from "./config.js";
import { ledgerFile } from "../engine/lib/layout.js";

/** Maximum number of other projects in the folder that are read, the newest first. */
const maxNeighbours = 20;

/** The agent that will work. */
interface Worker {
  readonly name: string;
  /** The model, if the settings name one. */
  readonly model?: string;
  /** Models that the agent may choose itself. */
  readonly defaultModels?: readonly string[];
  readonly free?: true;
}

/**
 * The basis of a forecast for a project that has not read a paper yet: the usage of the same agent in other projects of
 * the parent folder, or else dated figures at the price of its model. Never throws; without both, the result has no
 * figures. `textTokens`: mean tokens of the documents that a person brings.
 */
export async function experienceFor(
  folder: string,
  worker: Worker,
  classic: boolean,
  textTokens?: number,
): Promise<Experience> {
  const datedFigures =
    textTokens === undefined
      ? pricedFigures(worker)
      : pricedFigures(worker, figuresForTexts(textTokens), "documents of this size");
  const mode = classic ? { classic: true as const } : {};
  const ledgers =
    worker.free === true
      ? []
      : (await neighbourLedgers(folder)).map((lines) => lines.filter((line) => isWorkOf(line, worker)));
  const usage = medianUsageOf(ledgers);
  const mainUsage = classic ? usage.classic : usage.paper;
  // In classic mode the agent decides how much it reads, so there are no dated figures.
  if (mainUsage === undefined) return classic ? { usage: {}, from: "", ...mode } : datedFigures;
  const projectCount = ledgers.filter((lines) => lines.length > 0).length;
  return {
    usage: { ...usageAtPace(usage, datedFigures.usage), ...usage },
    from: `what ${worker.name} took for ${projectCount === 1 ? "another project" : `${projectCount} other projects`} in this folder`,
    ...mode,
  };
}

/** The usage of units at the price of the worker's model, by `figures` or else by the dated figures. */
function pricedFigures(
  worker: Worker,
  figures?: Readonly<Record<string, UsageEstimate>>,
  material?: string,
): Experience {
  const names = worker.model === undefined ? (worker.defaultModels ?? []) : [worker.model];
  const models = names.map(modelByName).filter((model) => model !== undefined && isPriced(model));
  const price: Price = ({ input, output }) =>
    models.map((model) => priceOf({ input, cached: 0, output, requests: 1 }, model));
  return figuresFor({ ...worker, models: models.map(({ name }) => name) }, price, figures, material);
}

/**
 * A forecast for `units` units of one kind and this size with the agent `agent`, at the speed that the agent has had in
 * the project, and free if its readings were free.
 */
export function forecastOfSize(
  config: ResolvedConfig,
  io: Io,
  agent: string,
  { rrd, ledger }: { readonly rrd: Rrd; readonly ledger: readonly LedgerLine[] },
  { kind, figure, units }: { readonly kind: string; readonly figure: UsageEstimate; readonly units: number },
): Forecast | undefined {
  const settings = settingsFor(config, io);
  const { free } = createAgent(agent, { ...settings, unconfined: true });
  const worker = workerOf({ name: agent, free }, agent, settings);
  const { usage } = pricedFigures(worker, { [kind]: figure });
  const ownUsage = medianUsageOf([ledger.filter((line) => isWorkOf(line, worker))]);
  const minutes = usageAtPace(ownUsage, usage)[kind]?.minutes;
  const usd = ownUsage[reading.name]?.usd === 0 ? 0 : undefined;
  const usageOfSize = { ...(usage[kind] as UnitUsage), ...withoutUndefined({ minutes, usd }) };
  return forecastOf(rrd, [], { usage: { [kind]: usageOfSize }, from: "" }, { [kind]: units });
}

/** Like experienceFor, for the configured agent and the documents of a project. */
export async function experienceOf(
  folder: string,
  { rrd, ledger }: { readonly rrd: Rrd; readonly ledger: readonly LedgerLine[] },
  config: ResolvedConfig,
  io: Io,
): Promise<Experience> {
  const settings = settingsFor(config, io);
  const { free } = createAgent(config.agent, { ...settings, unconfined: true });
  const userRecords = await (await import("./library.js")).userRecordsOf(rrd, rootOf(folder, io.cwd));
  const experience = await experienceFor(
    folder,
    workerOf({ name: config.agent, free }, config.agent, settings),
    ledger.at(-1)?.unit === "classic",
    userRecords?.textTokens,
  );
  return {
    ...experience,
    ...withoutUndefined({
      records: isFresh(rrd) ? userRecords?.records : undefined,
      checks: checkPlanOf(config, { free }),
      second: sharingOf(config).second,
    }),
  };
}

/** Like experienceOf, for a command that only reads: for the agent that the project's next run would start. */
export const experienceToRead = async (
  folder: string,
  project: Parameters<typeof experienceOf>[1],
  io: Io,
): Promise<Experience> => experienceOf(folder, project, await withLastAgent(await configToRead(io), folder, io), io);

/** Before the first batch; after it the project itself knows how many records wait. */
export const isFresh = ({ statistics, phase }: Rrd): boolean =>
  (statistics?.discovery_metrics?.batches ?? 0) === 0 && phase === "DISCOVERY";

/** The agent that will work, with its models by the settings. */
export const workerOf = (
  agent: { readonly name: string; readonly free?: true },
  spec: string,
  settings: AgentSettings,
): Worker => ({ ...agent, model: modelOf(spec, settings), defaultModels: usualModelsOf(spec, settings) });

const isWorkOf = ({ agent, model }: LedgerLine, worker: Worker): boolean =>
  agent === worker.name && (worker.model === undefined || model === undefined || model.includes(worker.model));

/** The ledgers of the projects in the same folder, the newest first. */
async function neighbourLedgers(folder: string): Promise<(readonly LedgerLine[])[]> {
  const parentFolder = dirname(folder);
  const names = await readdir(parentFolder).catch(() => []);
  const candidates = await Promise.all(
    names.map(async (name) => {
      const projectFolder = join(parentFolder, name);
      const stats = projectFolder === folder ? undefined : await stat(ledgerFile(projectFolder)).catch(() => undefined);
      return stats?.isFile() === true ? [{ projectFolder, modified: stats.mtimeMs }] : [];
    }),
  );
  const newest = candidates
    .flat()
    .toSorted((a, b) => b.modified - a.modified)
    .slice(0, maxNeighbours);
  return Promise.all(
    newest.map(({ projectFolder }) =>
      readLedger(projectFolder).then(
        ({ lines }) => lines,
        () => [],
      ),
    ),
  );
}
