import { redisOf } from "../../compose/agents.js";
import { type ConfigFlags, configToRead } from "../../compose/config.js";
import type { FleetState } from "../../fleet/overview.js";
import { oneLine } from "../../engine/lib/sanitise.js";
import { quantity } from "../../engine/lib/words.js";
import { homeOf, type Io } from "../../engine/ui/io.js";
import { tableLines } from "../../engine/ui/terminal/table.js";

/**
 * Shows the workers, the agents that they offer over Redis, and the waiting jobs of each project. `key`: prints the
 * public key of this user's runs instead, without a connection.
 */
export async function fleetCommand(
  { flags, json, key }: { readonly flags: ConfigFlags; readonly json: boolean; readonly key: boolean },
  io: Io,
): Promise<number> {
  if (key) {
    const { openSigner } = await import("../../fleet/jobs/signature.js");
    const signer = await openSigner(homeOf(io.env));
    io.stdout(json ? `${JSON.stringify({ key: signer.key })}\n` : `${signer.key}\n`);
    return 0;
  }
  const config = await configToRead(io, flags, ["redis", "insecure_redis"]);
  const address = redisOf(config);
  const { readFleetState } = await import("../../fleet/overview.js");
  const state = await readFleetState(address);
  if (json) io.stdout(`${JSON.stringify({ redis: address.publicText, ...state }, null, 2)}\n`);
  else for (const line of stateLines(state, address.publicText, io.tableWidth - 1)) io.stdout(`${line}\n`);
  return 0;
}

function stateLines({ queues, runs }: FleetState, redis: string, width: number): string[] {
  if (queues.every(({ workers }) => workers.length === 0) && runs.length === 0)
    return [`No worker and no run at ${redis}. To start a worker on a machine: research-ralph worker --agent claude.`];
  const agents = queues.map(({ queue, workers, places, active, waiting, atMost, limit }) => [
    queue.replace(/^agent-/, ""),
    quantity(workers.length, "worker"),
    `${active} of ${quantity(places, "place")} busy`,
    `${waiting} waiting`,
    [atMost === undefined ? "" : `at most ${atMost}`, limit === undefined ? "" : `${limit.jobs} in ${limit.seconds} s`]
      .filter(Boolean)
      .join(", "),
  ]);
  const workers = queues.flatMap(({ queue, workers: all }) =>
    all.map(({ name, busy, places, confinement, version, rests_until: restsUntil }) => [
      oneLine(name),
      queue.replace(/^agent-/, ""),
      `${busy} of ${places} busy`,
      oneLine(confinement),
      `jobs of version ${version}`,
      restsUntil === undefined ? "" : `rests until ${restsUntil.slice(0, 16).replace("T", " ")} UTC`,
    ]),
  );
  const projects = runs.map(({ project, active, waiting }) => [
    oneLine(project),
    `${active} at work`,
    `${waiting} waiting`,
  ]);
  const section = (title: string, rows: string[][]) =>
    rows.length === 0
      ? []
      : [
          "",
          title,
          ...tableLines(rows[0]?.map((_, index) => (index === 0 ? { cut: "end" as const } : {})) ?? [], rows, width),
        ];
  return [
    `Redis at ${redis}`,
    ...section("Agents", agents),
    ...section("Workers", workers),
    ...section("Projects", projects),
  ];
}
