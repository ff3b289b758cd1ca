import { randomBytes } from "node:crypto";
import { EnvHttpProxyAgent } from "undici";
import { messageOf } from "../lib/errors.js";
import { packageVersion } from "../lib/package-root.js";
import type { LoopEvent, NewEvent } from "../loop/types.js";
import { collectorIn, send } from "./otlp.js";
import { type Span, spansOf } from "./spans.js";

/** What shows the events of a run. */
interface Listener {
  event(event: LoopEvent): void;
  close(): void;
}

/** The same, with the run's spans sent beside it. */
interface Traces extends Listener {
  /** Sends what is left; before `close`. A collector that does not answer holds it up for some seconds at most. */
  arrive(): Promise<void>;
}

/** How often spans are sent, in milliseconds. */
const everyMs = 5_000;
/** Milliseconds that the end of a run waits. */
const lastMs = 3_000;

/**
 * Shows a run as `shown` does, and sends its spans where OpenTelemetry's variables in `env` say. What a collector does
 * not take is dropped, and the first time told in one warning.
 * @throws ExpectedError (exit code 2) for variables that are wrong.
 */
export function tracesBeside(shown: Listener, env: NodeJS.ProcessEnv, tell: (warning: NewEvent) => void): Traces {
  const collector = collectorIn(env);
  const dispatcher = new EnvHttpProxyAgent();
  const ending = new AbortController();
  const sendOptions = { traceId: randomBytes(16).toString("hex"), version: packageVersion(), signal: ending.signal };
  let pendingSpans: Span[] = [];
  let sending: Promise<void> | undefined;
  let isWarned = false;

  const flush = async (): Promise<void> => {
    const batch = pendingSpans;
    if (batch.length === 0) return;
    pendingSpans = [];
    try {
      await send(batch, collector, sendOptions, dispatcher);
    } catch (error) {
      if (isWarned) return;
      isWarned = true;
      const message = `Traces do not arrive at ${new URL(collector.address).host}: ${reasonOf(error)}. The run goes on without them.`;
      tell({ type: "notice", level: "warning", message });
    }
  };
  /** One after the other, so that a slow collector is not asked by two. */
  const flushInOrder = () => (sending ??= flush().finally(() => (sending = undefined)));

  const timer = setInterval(() => void flushInOrder(), everyMs);
  timer.unref();
  const trace = spansOf(
    () => randomBytes(8).toString("hex"),
    (span) => pendingSpans.push(span),
  );
  return {
    event(event) {
      shown.event(event);
      trace(event);
    },
    close: () => shown.close(),
    async arrive() {
      clearInterval(timer);
      const lateTimer = setTimeout(() => ending.abort(new Error("it did not answer in time")), lastMs);
      await sending;
      await flushInOrder();
      clearTimeout(lateTimer);
      await dispatcher.destroy();
    },
  };
}

/** Why a request failed, without the address: that may hold a password. */
function reasonOf(error: unknown): string {
  const { cause = error } = error instanceof Error ? error : { cause: error };
  const code = cause instanceof Error && "code" in cause ? String(cause.code) : undefined;
  return code ?? messageOf(cause).replace(/\.$/, "");
}
