import { redisOf } from "../../compose/agents.js";
import { type ConfigFlags, configToRead } from "../../compose/config.js";
import type { FleetState } from "../../fleet/overview.js";
import { oneLine } from "../../engine/lib/sanitise.js";
import { homeOf, type Io } from "../../engine/ui/io.js";
import { tableLines } from "../../engine/ui/terminal/table.js";

/**
 * Shows who offers which agents over Redis, and what waits for them, by project. `key`: shows the public key of this
 * user's runs instead, and asks nobody.
 */
export async function fleetCommand(
  { flags, json, key }: { readonly flags: ConfigFlags; readonly json: boolean; readonly key: boolean },
  io: Io,
): Promise<number> {
  if (key) {
    const { openSigner: ownSigner } = await import("../../fleet/jobs/signature.js");
    const own = await ownSigner(homeOf(io.env));
    io.stdout(json ? `${JSON.stringify({ key: own.key })}\n` : `${own.key}\n`);
    return 0;
  }
  const config = await configToRead(io, flags, ["redis", "insecure_redis"]);
  const address = redisOf(config);
  const { readFleetState: fleetState } = await import("../../fleet/overview.js");
  const state = await fleetState(address);
  if (json) io.stdout(`${JSON.stringify({ redis: address.publicText, ...state }, null, 2)}\n`);
  else for (const line of linesOf(state, address.publicText, io.tableWidth - 1)) io.stdout(`${line}\n`);
  return 0;
}

function linesOf({ queues, runs }: FleetState, redis: string, width: number): string[] {
  if (queues.every(({ workers }) => workers.length === 0) && runs.length === 0)
    return [
      `No worker and no run at ${redis}. Start a worker where there is room: research-ralph worker --agent claude.`,
    ];
  const agents = queues.map(({ queue, workers, places, active, waiting, atMost, limit }) => [
    queue.replace(/^agent-/, ""),
    `${count(workers.length, "worker")}`,
    `${active} of ${count(places, "place")} busy`,
    `${waiting} waiting`,
    [atMost === undefined ? "" : `at most ${atMost}`, limit === undefined ? "" : `${limit.jobs} in ${limit.seconds} s`]
      .filter(Boolean)
      .join(", "),
  ]);
  const workers = queues.flatMap(({ queue, workers: all }) =>
    all.map(({ name, busy, places, confinement, version, rests_until: rest }) => [
      oneLine(name),
      queue.replace(/^agent-/, ""),
      `${busy} of ${places} busy`,
      oneLine(confinement),
      `jobs of version ${version}`,
      rest === undefined ? "" : `rests until ${rest.slice(0, 16).replace("T", " ")} UTC`,
    ]),
  );
  const projects = runs.map(({ project, active, waiting }) => [
    oneLine(project),
    `${active} at work`,
    `${waiting} waiting`,
  ]);
  const part = (title: string, rows: string[][]) =>
    rows.length === 0
      ? []
      : [
          "",
          title,
          ...tableLines(rows[0]?.map((_, at) => (at === 0 ? { cut: "end" as const } : {})) ?? [], rows, width),
        ];
  return [`Redis at ${redis}`, ...part("Agents", agents), ...part("Workers", workers), ...part("Projects", projects)];
}

const count = (number: number, word: string): string => `${number} ${word}${number === 1 ? "" : "s"}`;
