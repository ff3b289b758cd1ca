import { randomBytes } from "node:crypto";
import { EnvHttpProxyAgent } from "undici";
import { messageOf } from "../lib/errors.js";
import { packageVersion } from "../lib/package-root.js";
import type { LoopEvent, NewEvent } from "../loop/types.js";
import { collectorIn, sendSpans } from "./otlp.js";
import { type Span, createSpanRecorder } from "./spans.js";

/** A sink for the events of a run. */
interface Listener {
  event(event: LoopEvent): void;
  close(): void;
}

/** A sink that also sends the spans of the run. */
interface Traces extends Listener {
  /** Sends the remaining spans. Called before `close`. Waits at most a few seconds for the collector. */
  sendRemaining(): Promise<void>;
}

/** Interval between two transmissions, in milliseconds. */
const sendIntervalMs = 5_000;
/** Maximum time that the end of a run waits for the collector, in milliseconds. */
const maxFinalWaitMs = 3_000;

/**
 * Wraps a sink so that the spans of the run are also sent to the collector that OpenTelemetry's variables in `env` set.
 * Spans that can't be sent are dropped; the first failure is reported in a warning.
 * @throws ExpectedError (exit code 2) for an invalid variable.
 */
export function withTraces(sink: Listener, env: NodeJS.ProcessEnv, tell: (warning: NewEvent) => void): Traces {
  const collector = collectorIn(env);
  const dispatcher = new EnvHttpProxyAgent();
  const endController = new AbortController();
  const sendOptions = {
    traceId: randomBytes(16).toString("hex"),
    version: packageVersion(),
    signal: endController.signal,
  };
  let pendingSpans: Span[] = [];
  let runningTransmission: Promise<void> | undefined;
  let isWarned = false;

  const flush = async (): Promise<void> => {
    const batch = pendingSpans;
    if (batch.length === 0) return;
    pendingSpans = [];
    try {
      await sendSpans(batch, collector, sendOptions, dispatcher);
    } catch (error) {
      if (isWarned) return;
      isWarned = true;
      const message = `Traces do not arrive at ${new URL(collector.address).host}: ${reasonOf(error)}. The run continues without them.`;
      tell({ type: "notice", level: "warning", message });
    }
  };
  /** Sends spans if no transmission is under way, so that a slow collector never gets two at the same time. */
  const flushInOrder = () => (runningTransmission ??= flush().finally(() => (runningTransmission = undefined)));

  const timer = setInterval(() => void flushInOrder(), sendIntervalMs);
  timer.unref();
  const trace = createSpanRecorder(
    () => randomBytes(8).toString("hex"),
    (span) => pendingSpans.push(span),
  );
  return {
    event(event) {
      sink.event(event);
      trace(event);
    },
    close: () => sink.close(),
    async sendRemaining() {
      clearInterval(timer);
      const finalTimer = setTimeout(() => endController.abort(new Error("it did not answer in time")), maxFinalWaitMs);
      await runningTransmission;
      await flushInOrder();
      clearTimeout(finalTimer);
      await dispatcher.destroy();
    },
  };
}

/** Why a request failed, without the address, which may contain a password. */
function reasonOf(error: unknown): string {
  const { cause = error } = error instanceof Error ? error : { cause: error };
  const code = cause instanceof Error && "code" in cause ? String(cause.code) : undefined;
  return code ?? messageOf(cause).replace(/\.$/, "");
}
