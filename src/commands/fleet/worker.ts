import { insecureNotice, redisOf, settingsFor } from "../../compose/agents.js";
import { type ConfigFlags, type ResolvedConfig, resolveConfig } from "../../compose/config.js";
import { inSandbox, sandboxFor } from "../../compose/sandbox.js";
import { isRemote } from "../../engine/agents/registry.js";
import { clockTime } from "../../engine/lib/words.js";
import { ExpectedError } from "../../engine/lib/errors.js";
import { oneLine } from "../../engine/lib/sanitise.js";
import type { FleetWorker, WorkerEvent } from "../../fleet/worker.js";
import { type RedisAddress, isLoopback } from "../../fleet/address.js";
import { homeOf, type Io } from "../../engine/ui/io.js";

interface WorkerOptions {
  readonly flags: ConfigFlags;
  readonly concurrency?: number;
  /** The maximum rate of jobs, such as "60/min"; "none": no limit. */
  readonly limit?: string;
  /** The maximum number of agents at the same time; "none": no limit. */
  readonly atMost?: string;
  readonly json: boolean;
  readonly quiet: boolean;
}

/**
 * Runs one agent on this machine for all runs that ask for it over Redis. At the first signal, the worker finishes the
 * iterations under way; at the second, it stops them at once, and they return to the queue.
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
  const acceptedKeys = await readAcceptedKeys(config, address, io);
  const { readLimit, openWorker } = await import("../../fleet/worker.js");
  const limits = {
    limit: limit === undefined ? undefined : readLimit(limit),
    maxAgents: atMost === undefined ? undefined : parseAtMost(atMost),
  };
  const settings = settingsFor(config, io);
  const housing = await sandboxFor(config, io, settings, [agent]);
  const report = (event: WorkerEvent): void => {
    if (json) io.stdout(`${JSON.stringify({ at: new Date(io.clock.now()).toISOString(), ...event })}\n`);
    else if (!quiet || (event.type === "notice" && event.level === "warning"))
      io.stderr(`${clockTime(io.clock.now())} ${oneLine(eventText(event))}\n`);
  };
  try {
    if (housing.notice !== undefined) report({ type: "notice", ...housing.notice });
    const insecurityNotice = insecureNotice(config);
    if (insecurityNotice !== undefined) report({ type: "notice", ...insecurityNotice });
    const worker = await openWorker({
      address,
      agent,
      concurrency,
      accepts: acceptedKeys,
      tell: report,
      ...limits,
      settings: inSandbox(settings, housing),
      now: io.clock.now,
    });
    return await runUntilSignal(worker, io, report);
  } finally {
    await housing.sandbox?.close();
  }
}

/**
 * The keys of the coordinators from which this worker accepts jobs: the user's own key, and the keys that the user has
 * named. If no key is named, the queue must be on this machine.
 * @throws ExpectedError (exit code 2) if it is on another machine.
 */
async function readAcceptedKeys(
  { worker_accepts: acceptedText }: Pick<ResolvedConfig, "worker_accepts">,
  { host, publicText }: RedisAddress,
  io: Io,
): Promise<string[]> {
  const { readPublicKeys, openSigner } = await import("../../fleet/jobs/signature.js");
  if (acceptedText === undefined && !isLoopback(host))
    throw new ExpectedError(
      `The queue at ${publicText} is on another machine, and everyone who knows its password can write jobs there; name the key of the runs to work for with --accept (\`research-ralph worker --key\`, on the machine with the projects, prints it).`,
      2,
    );
  const signer = await openSigner(homeOf(io.env));
  return [...new Set([signer.key, ...(acceptedText === undefined ? [] : readPublicKeys(acceptedText))])];
}

/** Runs the worker until a signal. Returns the exit code: 0 if it finished all iterations. */
async function runUntilSignal(
  worker: FleetWorker,
  { signals }: Io,
  report: (event: WorkerEvent) => void,
): Promise<number> {
  const signalNames = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
  const exitCodes = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;
  let signalCount = 0;
  const removers: (() => void)[] = [];
  try {
    return await new Promise<number>((resolve, reject) => {
      for (const name of signalNames) {
        const handler = (): void => {
          if (name === "SIGHUP" && signals.underNohup) return;
          signalCount += 1;
          if (signalCount === 1) {
            report({
              type: "notice",
              level: "info",
              message: "The worker ends after its iterations; a second signal ends it at once.",
            });
            worker.finish().then(() => resolve(0), reject);
          } else if (signalCount === 2) worker.end().then(() => resolve(exitCodes[name]), reject);
        };
        signals.on(name, handler);
        removers.push(() => signals.off(name, handler));
      }
    });
  } finally {
    for (const removeHandler of removers) removeHandler();
  }
}

function parseAtMost(text: string): number | null {
  if (text === "none") return null;
  const maximum = Number(text);
  if (Number.isInteger(maximum) && maximum >= 1) return maximum;
  throw new ExpectedError(`--at-most is '${text}'; write a whole number from 1, or none.`, 2);
}

function eventText(event: WorkerEvent): string {
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
