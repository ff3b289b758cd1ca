import { fieldsIn } from "../../engine/lib/json-fields.js";
import type { EnvHttpProxyAgent } from "undici";
import { lostProxy } from "../../net/lost-proxy.js";
import { hasCode, messageOf } from "../../engine/lib/errors.js";
import { oneLine } from "../../engine/lib/sanitise.js";

/** Milliseconds until the first byte of an answer, and for the whole of it. */
export interface RequestClocks {
  readonly firstByteMs: number;
  readonly streamMs: number;
}

export const usualClocks: RequestClocks = { firstByteMs: 120_000, streamMs: 300_000 };

/** Most bytes of one answer: no model says as much, and a broken server must not fill the memory. */
const maxAnswerBytes = 50 * 1024 * 1024;

/** A model service that did not answer in time, or not at all. Its message is one sentence. */
export class NoAnswer extends Error {
  constructor(
    message: string,
    /** Whether the same request may be answered at another time. */
    readonly mayPass = true,
  ) {
    super(message);
  }
}

/**
 * A `fetch` for model services: it follows HTTP_PROXY, HTTPS_PROXY and NO_PROXY, no redirect (a key would go with it),
 * and ends an answer that does not begin, does not end, or is longer than 50 MB. Loads undici with the first request.
 */
export function modelFetch(clocks: RequestClocks = usualClocks): typeof globalThis.fetch {
  let dispatcher: EnvHttpProxyAgent | undefined;
  return async (input, init = {}) => {
    const { EnvHttpProxyAgent, fetch } = await import("undici");
    dispatcher ??= new EnvHttpProxyAgent({ headersTimeout: 0, bodyTimeout: 0 });
    const host = new URL(input instanceof Request ? input.url : input).host;
    const clock = new AbortController();
    // Neither keeps a program running whose user has left: while an answer is awaited, its connection does.
    const give = (what: string, ms: number) =>
      setTimeout(() => clock.abort(new NoAnswer(`${host} ${what} ${ms / 1000} seconds.`)), ms).unref();
    const whole = give("did not end its answer within", clocks.streamMs);
    const first = give("did not begin an answer within", clocks.firstByteMs);
    const signal = AbortSignal.any([clock.signal, ...(init.signal == null ? [] : [init.signal])]);
    const stop = () => {
      clearTimeout(first);
      clearTimeout(whole);
      // An answer of 50 rounds would leave 50 of them on one signal.
      init.signal?.removeEventListener("abort", stop);
    };
    init.signal?.addEventListener("abort", stop, { once: true });
    try {
      const response = await fetch(input as string, { ...(init as object), signal, dispatcher, redirect: "error" });
      const body =
        response.body === null ? null : bounded(response.body as ReadableStream<Uint8Array>, host, first, stop);
      if (body === null) stop();
      const answer = new Response(body, {
        status: response.status,
        statusText: response.statusText,
        headers: Object.fromEntries(response.headers),
      });
      return answer.ok ? await readable(answer, host) : answer;
    } catch (error) {
      stop();
      if (init.signal?.aborted === true || error instanceof NoAnswer) throw error;
      throw clock.signal.aborted ? clock.signal.reason : reached(error, host);
    }
  };
}

/**
 * An answer with status 200 that is an error: an error as a whole JSON text becomes the one event of a stream, where
 * the packages look for it. Throws NoAnswer for a page of HTML.
 */
async function readable(answer: Response, host: string): Promise<Response> {
  const type = answer.headers.get("content-type") ?? "";
  if (/^text\/html/i.test(type)) {
    const words = oneLine(withoutMarkup(await answer.text())).slice(0, 100);
    throw new NoAnswer(
      `${host} sent a web page in place of an answer${words === "" ? "" : ` (${words})`}; is api_url right?`,
    );
  }
  if (!/^application\/json/i.test(type)) return answer;
  const text = await answer.text();
  return new Response(fieldsIn(text)?.["error"] ? `data: ${text.replaceAll("\n", " ")}\n\n` : text, answer);
}

/** The words of a page, roughly: for a person who is told of it. */
export const withoutMarkup = (page: string): string =>
  page
    .slice(0, 2000)
    .replace(/<[^<>]*>/g, " ")
    .replace(/\s+/g, " ")
    .trim();

/** The body as it comes, until it is longer than any answer. */
function bounded(
  body: ReadableStream<Uint8Array>,
  host: string,
  first: NodeJS.Timeout,
  stop: () => void,
): ReadableStream<Uint8Array> {
  let length = 0;
  return body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        clearTimeout(first);
        length += chunk.length;
        if (length > maxAnswerBytes)
          controller.error(new NoAnswer(`${host} sent more than 50 MB as one answer.`, false));
        else controller.enqueue(chunk);
      },
      flush: stop,
    }),
  );
}

function reached(error: unknown, host: string): Error {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  const proxy = lostProxy(cause);
  if (proxy !== undefined) return new NoAnswer(`The proxy set in ${proxy} can't be reached; correct or unset it.`);
  if (hasCode(cause, "ECONNREFUSED")) return new NoAnswer(`${host} does not accept connections (ECONNREFUSED).`);
  if (hasCode(cause, "ENOTFOUND", "EAI_AGAIN")) return new NoAnswer(`${host} was not found (${cause.code}).`);
  const said = messageOf(cause);
  if (said === "bad port")
    return new NoAnswer(`No request may go to the port of ${host}; correct the port in api_url.`, false);
  if (said === "unexpected redirect")
    return new NoAnswer(`${host} sent the request on to another address; set api_url to the service's own.`, false);
  return new NoAnswer(`${host} could not be reached (${said}).`);
}
