import type { RemoteAgent } from "../engine/agents/definition.js";
import { ExpectedError, messageOf } from "../engine/lib/errors.js";
import { withoutUndefined } from "../engine/lib/without-undefined.js";
import type { Agent, Failure, StopCondition } from "../engine/loop/types.js";
import type { RedisAddress } from "./address.js";
import type { Coordinator, CoordinatorOptions } from "./coordinator.js";

/** The agents of a run whose processes are on other machines. */
export interface Fleet {
  /** An agent whose runs are jobs. */
  agent(named: RemoteAgent): Agent;
  /**
   * Reaches Redis, so that what is wrong is known before anything is begun.
   * @throws ExpectedError as `reach`, and where no address was given (exit code 2).
   */
  connect(): Promise<void>;
  /**
   * Ends the run as blocked once a later one elsewhere has taken the project over: no agent may go on with a copy that
   * nobody asks for any more, one of this machine neither.
   */
  readonly stopCondition: StopCondition;
}

interface FleetOptions extends CoordinatorOptions {
  /** @throws ExpectedError (exit code 2) where it is missing, or one that is not taken. */
  readonly address: () => RedisAddress;
}

/**
 * The coordinator's side of a fleet. Nothing of it is loaded, and nobody is asked, before the first brief or `connect`;
 * all agents of it share one coordinator, and closing any of them closes it.
 */
export function fleetOf(options: FleetOptions): Fleet {
  let opening: Promise<Coordinator> | undefined;
  let opened: Coordinator | undefined;
  const open = (): Promise<Coordinator> => (opening ??= openOne(options).then((coordinator) => (opened = coordinator)));
  return {
    agent: (named) => ({
      name: named.name,
      // It can't reach this machine at all; its own confinement is reported once it has started.
      confinement: "workspace",
      ...withoutUndefined({ free: named.free, takesTemperature: named.takesTemperature }),
      async *run(brief, run) {
        const coordinator = await open().catch((error: unknown) => {
          if (error instanceof ExpectedError) return error;
          throw error;
        });
        if (coordinator instanceof ExpectedError)
          return yield { type: "end", message: "", failure: failureOf(coordinator) };
        yield* coordinator.run(named.spec, brief, run);
      },
      async close() {
        const closing = opening;
        opening = undefined;
        await (await closing?.catch(() => undefined))?.close();
      },
    }),
    async connect() {
      await open();
    },
    stopCondition() {
      const reason = opened?.over();
      return reason === undefined ? undefined : { verdict: "blocked", reason };
    },
  };
}

async function openOne(options: FleetOptions): Promise<Coordinator> {
  const address = options.address();
  const { openCoordinator } = await import("./coordinator.js");
  return openCoordinator(address, options);
}

const failureOf = (error: ExpectedError): Failure => ({
  kind: error.exitCode === 5 ? "auth" : "unusable",
  message: messageOf(error),
});
