import { readdir, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { LedgerLine } from "../engine/generated/ledger.js";
import { readLedger } from "../engine/storage/state/ledger.js";
import { type Experience, figuresFor, forecastOf, type Price, takesOf } from "../research/workflow/forecast.js";
import { isPriced, modelNamed, priceOf } from "../engine/agents/prices.js";
import type { AgentSettings } from "../engine/agents/definition.js";
import { createAgent, modelOf, usualModelsOf } from "../engine/agents/registry.js";
import type { Forecast } from "../engine/loop/types.js";
import type { Rrd } from "../research/generated/rrd.js";
import type { Figure } from "../research/units/unit-kind.js";
import type { Io } from "../engine/ui/io.js";
import { withoutUndefined } from "../engine/lib/without-undefined.js";
import { settingsFor } from "./agents.js";
import { checkPlanOf, sharingOf } from "./sharing.js";
import type { ResolvedConfig } from "./config.js";
import { ledgerFile } from "../engine/lib/layout.js";

/** Other projects of the folder that are looked at, the newest first. */
const maxNeighbours = 20;

/** Who will work. */
interface Worker {
  readonly name: string;
  /** As far as the settings tell. */
  readonly model?: string;
  /** Models that it may choose by itself. */
  readonly usual?: readonly string[];
  readonly free?: true;
}

/**
 * What a forecast for a project rests on until it has read papers of its own: what the same agent took for other
 * projects in the folder it lies in, else dated figures at the price of its model. Never throws: without either, none
 * is given.
 */
export async function experienceFor(folder: string, worker: Worker, classic: boolean): Promise<Experience> {
  const known = pricedFigures(worker);
  const mode = classic ? { classic: true as const } : {};
  const beside =
    worker.free === true
      ? []
      : (await ledgersBeside(folder)).map((lines) => lines.filter((line) => isBy(line, worker)));
  const takes = takesOf(beside);
  const main = classic ? takes.classic : takes.paper;
  // Nothing is known of how much an agent reads that chooses by itself.
  if (main === undefined) return classic ? { takes: {}, from: "", ...mode } : known;
  const researches = beside.filter((lines) => lines.length > 0).length;
  return {
    takes: { ...known.takes, ...takes },
    from: `what ${worker.name} took for ${researches === 1 ? "another project" : `${researches} other projects`} in this folder`,
    ...mode,
  };
}

/** What units take by dated figures, or by these, at the price of the worker's model. */
function pricedFigures(worker: Worker, figures?: Readonly<Record<string, Figure>>): Experience {
  const names = worker.model === undefined ? (worker.usual ?? []) : [worker.model];
  const models = names.map(modelNamed).filter((model) => model !== undefined && isPriced(model));
  const price: Price = ({ input, output }) =>
    models.map((model) => priceOf({ input, cached: 0, output, requests: 1 }, model));
  return figuresFor({ ...worker, models: models.map(({ name }) => name) }, price, figures);
}

/** What so many units of one kind, each of this size, take of the agent of that name. */
export function forecastOfSize(
  config: ResolvedConfig,
  io: Io,
  agent: string,
  rrd: Rrd,
  { kind, figure, units }: { readonly kind: string; readonly figure: Figure; readonly units: number },
): Forecast | undefined {
  const settings = settingsFor(config, io);
  const { free } = createAgent(agent, { ...settings, unconfined: true });
  const { takes } = pricedFigures(workerOf({ name: agent, free }, agent, settings), { [kind]: figure });
  return forecastOf(rrd, [], { takes, from: "" }, { [kind]: units });
}

/** The same for the agent that the configuration names. */
export async function experienceOf(
  folder: string,
  config: ResolvedConfig,
  io: Io,
  classic = false,
): Promise<Experience> {
  const settings = settingsFor(config, io);
  const { free } = createAgent(config.agent, { ...settings, unconfined: true });
  const experience = await experienceFor(
    folder,
    workerOf({ name: config.agent, free }, config.agent, settings),
    classic,
  );
  return {
    ...experience,
    ...withoutUndefined({ checks: checkPlanOf(config, { free }), second: sharingOf(config).second }),
  };
}

/** What the settings tell of the agent that will work. */
export const workerOf = (
  agent: { readonly name: string; readonly free?: true },
  spec: string,
  settings: AgentSettings,
): Worker => ({ ...agent, model: modelOf(spec, settings), usual: usualModelsOf(spec, settings) });

const isBy = ({ agent, model }: LedgerLine, worker: Worker): boolean =>
  agent === worker.name && (worker.model === undefined || model === undefined || model.includes(worker.model));

/** The ledgers of the projects in the same folder, the newest first. */
async function ledgersBeside(folder: string): Promise<(readonly LedgerLine[])[]> {
  const around = dirname(folder);
  const names = await readdir(around).catch(() => []);
  const found = await Promise.all(
    names.map(async (name) => {
      const place = join(around, name);
      const stats = place === folder ? undefined : await stat(ledgerFile(place)).catch(() => undefined);
      return stats?.isFile() === true ? [{ place, at: stats.mtimeMs }] : [];
    }),
  );
  const newest = found
    .flat()
    .toSorted((a, b) => b.at - a.at)
    .slice(0, maxNeighbours);
  return Promise.all(
    newest.map(({ place }) =>
      readLedger(place).then(
        ({ lines }) => lines,
        () => [],
      ),
    ),
  );
}
