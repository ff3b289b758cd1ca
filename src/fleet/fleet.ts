import type { RemoteAgent } from "../engine/agents/definition.js";
import { ExpectedError, messageOf } from "../engine/lib/errors.js";
import { withoutUndefined } from "../engine/lib/without-undefined.js";
import type { Agent, Failure, StopCondition } from "../engine/loop/types.js";
import type { RedisAddress } from "./address.js";
import type { Coordinator, CoordinatorOptions } from "./coordinator.js";

/** The agents of a run that are on other machines. */
export interface Fleet {
  /** An agent whose runs are jobs of the fleet. */
  agent(remoteAgent: RemoteAgent): Agent;
  /**
   * Connects to Redis, so that errors are known before anything starts.
   * @throws ExpectedError like `connectToRedis`, and with exit code 2 if no address was given.
   */
  connect(): Promise<void>;
  /**
   * Ends the run as blocked if a later run on another machine has taken the project over. Agents on this machine may
   * not continue either, because nobody needs the results of this copy any more.
   */
  readonly stopCondition: StopCondition;
}

interface FleetOptions extends CoordinatorOptions {
  /** @throws ExpectedError (exit code 2) if the address is missing or not accepted. */
  readonly address: () => RedisAddress;
}

/**
 * The fleet of a run. Its code is loaded, and Redis contacted, only with the first brief or with `connect`. All its
 * agents share one coordinator, and closing any of them closes it.
 */
export function fleetOf(options: FleetOptions): Fleet {
  let coordinatorPromise: Promise<Coordinator> | undefined;
  let coordinator: Coordinator | undefined;
  const open = (): Promise<Coordinator> =>
    (coordinatorPromise ??= loadCoordinator(options).then((opened) => (coordinator = opened)));
  return {
    agent: (remoteAgent) => ({
      name: remoteAgent.name,
      // The agent can't reach this machine at all. Its own confinement is reported after its start.
      confinement: "workspace",
      ...withoutUndefined({ free: remoteAgent.free, takesTemperature: remoteAgent.takesTemperature }),
      async *run(brief, run) {
        const coordinator = await open().catch((error: unknown) => {
          if (error instanceof ExpectedError) return error;
          throw error;
        });
        if (coordinator instanceof ExpectedError)
          return yield { type: "end", message: "", failure: failureOf(coordinator) };
        yield* coordinator.run(remoteAgent.spec, brief, run);
      },
      async close() {
        const closing = coordinatorPromise;
        coordinatorPromise = undefined;
        await (await closing?.catch(() => undefined))?.close();
      },
    }),
    async connect() {
      await open();
    },
    stopCondition() {
      const reason = coordinator?.over();
      return reason === undefined ? undefined : { verdict: "blocked", reason };
    },
  };
}

async function loadCoordinator(options: FleetOptions): Promise<Coordinator> {
  const address = options.address();
  const { openCoordinator } = await import("./coordinator.js");
  return openCoordinator(address, options);
}

const failureOf = (error: ExpectedError): Failure => ({
  kind: error.exitCode === 5 ? "auth" : "unusable",
  message: messageOf(error),
});
