import { fieldsIn } from "../../engine/lib/json-fields.js";
import type { EnvHttpProxyAgent } from "undici";
import { refusedStatus } from "../../engine/process/access.js";
import { unreachableProxy } from "../../net/lost-proxy.js";
import { hasCode, messageOf } from "../../engine/lib/errors.js";
import { oneLine } from "../../engine/lib/sanitise.js";

/** Timeouts in milliseconds: for the first byte of an answer, and for the whole answer. */
export interface RequestTimeouts {
  readonly firstByteMs: number;
  readonly streamMs: number;
}

export const defaultTimeouts: RequestTimeouts = { firstByteMs: 120_000, streamMs: 300_000 };

/** Maximum bytes of one answer. No model writes more, and a broken server must not fill the memory. */
const maxAnswerBytes = 50 * 1024 * 1024;

/** A model service did not answer in time, or not at all. The message is one sentence. */
export class NoAnswer extends Error {
  constructor(
    message: string,
    /** Whether the problem may end by itself, so that the same request may succeed later. */
    readonly isTemporary = true,
  ) {
    super(message);
  }
}

/** No program listens at the address. */
export class ConnectionRefused extends NoAnswer {}

/**
 * A `fetch` for model services. It uses HTTP_PROXY, HTTPS_PROXY and NO_PROXY. It follows no redirect, because the new
 * address would get the key. It ends an answer that starts too late, ends too late or is longer than 50 MB. It loads
 * undici with the first request.
 */
export function modelFetch(timeouts: RequestTimeouts = defaultTimeouts): typeof globalThis.fetch {
  let dispatcher: EnvHttpProxyAgent | undefined;
  return async (input, init = {}) => {
    const { EnvHttpProxyAgent, fetch } = await import("undici");
    dispatcher ??= new EnvHttpProxyAgent({ headersTimeout: 0, bodyTimeout: 0, proxyTunnel: false });
    const host = new URL(input instanceof Request ? input.url : input).host;
    const timeoutController = new AbortController();
    // The timers do not keep the process alive; an open connection does.
    const startTimeout = (problem: string, ms: number) =>
      setTimeout(() => timeoutController.abort(new NoAnswer(`${host} ${problem} ${ms / 1000} seconds.`)), ms).unref();
    const streamTimer = startTimeout("did not end its answer within", timeouts.streamMs);
    const firstByteTimer = startTimeout("did not begin an answer within", timeouts.firstByteMs);
    const signal = AbortSignal.any([timeoutController.signal, ...(init.signal == null ? [] : [init.signal])]);
    const stopTimers = () => {
      clearTimeout(firstByteTimer);
      clearTimeout(streamTimer);
      // Otherwise an answer of 50 rounds would leave 50 listeners on one signal.
      init.signal?.removeEventListener("abort", stopTimers);
    };
    init.signal?.addEventListener("abort", stopTimers, { once: true });
    try {
      const response = await fetch(input as string, { ...(init as object), signal, dispatcher, redirect: "error" });
      if (response.headers.get("proxy-status") === refusedStatus) throw new ConnectionRefused(refusedText(host));
      const body =
        response.body === null
          ? null
          : limitLength(response.body as ReadableStream<Uint8Array>, host, firstByteTimer, stopTimers);
      if (body === null) stopTimers();
      const answer = new Response(body, {
        status: response.status,
        statusText: response.statusText,
        headers: Object.fromEntries(response.headers),
      });
      return answer.ok ? await exposeError(answer, host) : answer;
    } catch (error) {
      stopTimers();
      if (init.signal?.aborted === true || error instanceof NoAnswer) throw error;
      throw timeoutController.signal.aborted ? timeoutController.signal.reason : networkErrorOf(error, host);
    }
  };
}

/**
 * Handles an answer with status 200 that contains an error. If the error is JSON, it becomes an event of a stream,
 * because the packages look for it there. Throws NoAnswer for an HTML page.
 */
async function exposeError(answer: Response, host: string): Promise<Response> {
  const type = answer.headers.get("content-type") ?? "";
  if (/^text\/html/i.test(type)) {
    const words = oneLine(removeMarkup(await answer.text())).slice(0, 100);
    throw new NoAnswer(
      `${host} sent a web page in place of an answer${words === "" ? "" : ` (${words})`}; is api_url right?`,
    );
  }
  if (!/^application\/json/i.test(type)) return answer;
  const text = await answer.text();
  return new Response(fieldsIn(text)?.["error"] ? `data: ${text.replaceAll("\n", " ")}\n\n` : text, answer);
}

/** The approximate text of an HTML page, for an error message. */
export const removeMarkup = (page: string): string =>
  page
    .slice(0, 2000)
    .replace(/<[^<>]*>/g, " ")
    .replace(/\s+/g, " ")
    .trim();

/** Passes the body on, and fails if it is longer than any answer. */
function limitLength(
  body: ReadableStream<Uint8Array>,
  host: string,
  firstByteTimer: NodeJS.Timeout,
  stop: () => void,
): ReadableStream<Uint8Array> {
  let length = 0;
  return body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        clearTimeout(firstByteTimer);
        length += chunk.length;
        if (length > maxAnswerBytes)
          controller.error(new NoAnswer(`${host} sent more than 50 MB as one answer.`, false));
        else controller.enqueue(chunk);
      },
      flush: stop,
    }),
  );
}

/** Maximum milliseconds until a local server answers. */
const localTimeoutMs = 2_000;

/** Whether no program listens at an address. False if another failure prevents an answer. */
export async function isConnectionRefused({ origin }: URL, fetch: typeof globalThis.fetch): Promise<boolean> {
  try {
    await fetch(origin, { method: "HEAD", signal: AbortSignal.timeout(localTimeoutMs) });
    return false;
  } catch (error) {
    return error instanceof ConnectionRefused;
  }
}

const refusedText = (host: string): string => `${host} does not accept connections (ECONNREFUSED).`;

function networkErrorOf(error: unknown, host: string): Error {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  const proxy = unreachableProxy(cause);
  if (proxy !== undefined) return new NoAnswer(`The proxy set in ${proxy} can't be reached; correct or unset it.`);
  if (hasCode(cause, "ECONNREFUSED")) return new ConnectionRefused(refusedText(host));
  if (hasCode(cause, "ENOTFOUND", "EAI_AGAIN")) return new NoAnswer(`${host} was not found (${cause.code}).`);
  const message = messageOf(cause);
  if (message === "bad port")
    return new NoAnswer(`Requests to the port of ${host} are not allowed; correct the port in api_url.`, false);
  if (message === "unexpected redirect")
    return new NoAnswer(
      `${host} redirected the request to another address; set api_url to the address of the service.`,
      false,
    );
  return new NoAnswer(`${host} could not be reached (${message}).`);
}
