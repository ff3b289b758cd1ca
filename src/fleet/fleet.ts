import type { RemoteAgent } from "../engine/agents/definition.js";
import { ExpectedError, messageOf } from "../engine/lib/errors.js";
import type { Agent, Failure, StopCondition } from "../engine/loop/types.js";
import type { RedisAddress } from "./address.js";
import type { Coordinator, CoordinatorOptions } from "./coordinator.js";

/** The agents of a run that run on other machines. */
export interface Fleet {
  /** An agent whose runs are jobs of the fleet. */
  agent(remoteAgent: RemoteAgent): Agent;
  /**
   * Connects to Redis, so that a connection error is reported before the run starts.
   * @throws ExpectedError like `connectToRedis`, and with exit code 2 if no address was given.
   */
  connect(): Promise<void>;
  /**
   * Ends the run as blocked if a later run on another machine has taken the project over. Then agents on this machine
   * end too, because the results of this copy are not needed any more.
   */
  readonly stopCondition: StopCondition;
}

interface FleetOptions extends CoordinatorOptions {
  /** @throws ExpectedError (exit code 2) if the address is missing or not accepted. */
  readonly address: () => RedisAddress;
}

/**
 * Creates the fleet of a run. It loads its code and connects to Redis only for the first brief, or if `connect` is
 * called. All agents of the fleet share one coordinator; if one agent is closed, the coordinator is closed.
 */
export function createFleet(options: FleetOptions): Fleet {
  let coordinatorPromise: Promise<Coordinator> | undefined;
  let coordinator: Coordinator | undefined;
  const open = (): Promise<Coordinator> =>
    (coordinatorPromise ??= loadCoordinator(options).then((opened) => (coordinator = opened)));
  return {
    agent: (remoteAgent) => ({
      name: remoteAgent.name,
      // The agent can't access this machine. Its confinement on the other machine is reported after its start.
      confinement: "workspace",
      free: remoteAgent.free,
      takesTemperature: remoteAgent.takesTemperature,
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
        const openedPromise = coordinatorPromise;
        coordinatorPromise = undefined;
        await (await openedPromise?.catch(() => undefined))?.close();
      },
    }),
    async connect() {
      await open();
    },
    stopCondition() {
      const reason = coordinator?.stopReason();
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
