import { insecureNotice, redisOf, settingsFor } from "../../compose/agents.js";
import { type ConfigFlags, type ResolvedConfig, resolveConfig } from "../../compose/config.js";
import { inSandbox, sandboxFor } from "../../compose/sandbox.js";
import { isRemote } from "../../engine/agents/registry.js";
import { ExpectedError } from "../../engine/lib/errors.js";
import { oneLine } from "../../engine/lib/sanitise.js";
import type { FleetWorker, WorkerEvent } from "../../fleet/worker.js";
import { type RedisAddress, isLoopback } from "../../fleet/address.js";
import { homeOf, type Io } from "../../engine/ui/io.js";

interface WorkerOptions {
  readonly flags: ConfigFlags;
  readonly concurrency?: number;
  /** Such as 60/min, or none. */
  readonly limit?: string;
  /** A number, or none. */
  readonly atMost?: string;
  readonly json: boolean;
  readonly quiet: boolean;
}

/**
 * Runs one agent here for any run that asks over Redis, until a signal: the first one lets the iterations under way
 * end, the second one ends them at once, and they go back to the queue.
 */
export async function workerCommand(options: WorkerOptions, io: Io): Promise<number> {
  const { flags, concurrency = 1, limit, atMost, json, quiet } = options;
  const config = await resolveConfig(io, flags);
  if (!Number.isInteger(concurrency) || concurrency < 1 || concurrency > 1_000)
    throw new ExpectedError(`--concurrency is ${concurrency}; it must be a whole number from 1 to 1000.`, 2);
  const { agent } = config;
  if (isRemote(agent))
    throw new ExpectedError(
      `A worker runs the agent itself; name it without fleet:, as in --agent ${agent.replace(/^(?:fleet:)+/, "") || "claude"}.`,
      2,
    );
  if (config.fallbacks.length > 0)
    throw new ExpectedError(
      `A worker offers one agent; start one worker for each of ${[agent, ...config.fallbacks].join(", ")}.`,
      2,
    );
  const address = redisOf(config);
  const accepts = await acceptedBy(config, address, io);
  const { readLimit: limitOf, openWorker } = await import("../../fleet/worker.js");
  const limits = {
    limit: limit === undefined ? undefined : limitOf(limit),
    atMost: atMost === undefined ? undefined : atMostOf(atMost),
  };
  const settings = settingsFor(config, io);
  const housing = await sandboxFor(config, io, settings, [agent]);
  const tell = (event: WorkerEvent): void => {
    if (json) io.stdout(`${JSON.stringify({ at: new Date(io.clock.now()).toISOString(), ...event })}\n`);
    else if (!quiet || (event.type === "notice" && event.level === "warning"))
      io.stderr(`${clock(io.clock.now())} ${oneLine(lineOf(event))}\n`);
  };
  try {
    if (housing.notice !== undefined) tell({ type: "notice", ...housing.notice });
    const insecure = insecureNotice(config);
    if (insecure !== undefined) tell({ type: "notice", ...insecure });
    const worker = await openWorker({
      address,
      agent,
      concurrency,
      accepts,
      tell,
      ...limits,
      settings: inSandbox(settings, housing),
      now: io.clock.now,
    });
    return await untilSignal(worker, io, tell);
  } finally {
    await housing.sandbox?.close();
  }
}

/**
 * The keys of the coordinators whose jobs this worker takes: those that its user has named, and the user's own. Without
 * a name it works for its own user alone, and only over a queue of this machine.
 */
async function acceptedBy(
  { worker_accepts: named }: Pick<ResolvedConfig, "worker_accepts">,
  { host, publicText }: RedisAddress,
  io: Io,
): Promise<string[]> {
  const { readPublicKeys: keysIn, openSigner: ownSigner } = await import("../../fleet/jobs/signature.js");
  if (named === undefined && !isLoopback(host))
    throw new ExpectedError(
      `The queue at ${publicText} is on another machine, and everyone with a password of it can write jobs there; name the key of the runs to work for with --accept (\`research-ralph worker --key\`, on the machine with the projects, prints it).`,
      2,
    );
  const own = await ownSigner(homeOf(io.env));
  return [...new Set([own.key, ...(named === undefined ? [] : keysIn(named))])];
}

/** Answers with the exit code: 0 where all was ended in peace. */
async function untilSignal(worker: FleetWorker, { signals }: Io, tell: (event: WorkerEvent) => void): Promise<number> {
  const names = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
  const codes = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;
  let heard = 0;
  const handlers: (() => void)[] = [];
  try {
    return await new Promise<number>((resolve, reject) => {
      for (const name of names) {
        const handler = (): void => {
          if (name === "SIGHUP" && signals.underNohup) return;
          heard += 1;
          if (heard === 1) {
            tell({
              type: "notice",
              level: "info",
              message: "The worker ends after its iterations; a second signal ends it at once.",
            });
            worker.finish().then(() => resolve(0), reject);
          } else if (heard === 2) worker.end().then(() => resolve(codes[name]), reject);
        };
        signals.on(name, handler);
        handlers.push(() => signals.off(name, handler));
      }
    });
  } finally {
    for (const off of handlers) off();
  }
}

function atMostOf(text: string): number | null {
  if (text === "none") return null;
  const most = Number(text);
  if (Number.isInteger(most) && most >= 1) return most;
  throw new ExpectedError(`--at-most is '${text}'; write a whole number from 1, or none.`, 2);
}

const clock = (at: number): string => new Date(at).toTimeString().slice(0, 8);

function lineOf(event: WorkerEvent): string {
  switch (event.type) {
    case "ready":
      return `${event.worker} offers ${event.agent} at ${event.redis}: ${event.places} ${event.places === 1 ? "place" : "places"}, confinement ${event.confinement}, jobs signed by ${event.accepts.join(", ")}`;
    case "begun":
      return `${event.job} begun${event.attempt > 1 ? ` (attempt ${event.attempt})` : ""}; transcript ${event.transcript}`;
    case "ended":
      return `${event.job} ${event.outcome} after ${event.seconds} s${event.reason === undefined ? "" : `: ${event.reason}`}`;
    case "notice":
      return event.level === "warning" ? `warning: ${event.message}` : event.message;
  }
}
