import type { HttpDocument, Request } from "../../../../src/net/http.js";
import { type HttpFailure, failureOf } from "../../../../src/net/http-failure.js";
import type { SourceContext } from "../../../../src/research/sources/shared/source.js";

/** What a service answers to one request. */
export interface Canned {
  readonly status?: number;
  readonly body?: unknown;
  readonly type?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * A context whose service answers in memory, judged as the real one is; a function sees the request, a list is given
 * out in order.
 */
export function answering(
  answers: readonly Canned[] | ((request: Request, index: number) => Canned),
  given: Partial<SourceContext> = {},
) {
  const requests: Request[] = [];
  const context: SourceContext = {
    endpoint: "https://service.test",
    contextFor: ({ endpoint }) => ({ ...context, endpoint }),
    ...given,
    http: {
      get: async (request): Promise<HttpDocument | HttpFailure> => {
        const index = requests.push(request) - 1;
        const {
          status = 200,
          body = "",
          type = "application/json",
          headers = {},
        } = Array.isArray(answers)
          ? (answers[index] ?? {})
          : (answers as (request: Request, index: number) => Canned)(request, index);
        const bytes = Buffer.from(typeof body === "string" || body instanceof Uint8Array ? body : JSON.stringify(body));
        const failure = failureOf(
          { status, headers: new Headers({ "content-type": type, ...headers }) },
          "service.test",
          bytes,
        );
        if (failure === undefined) return { status: "ok", bytes, url: request.url, type };
        const { mayRetryNow: _, ...rest } = failure;
        return { ...rest, code: status, body: bytes };
      },
    },
  };
  return { context, requests };
}
