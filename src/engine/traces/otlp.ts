import type { Dispatcher } from "undici";
import { ExpectedError } from "../lib/errors.js";
import type { Attribute, Span } from "./spans.js";

// OTLP is the protocol of OpenTelemetry. These two numbers are from its definition of a span.
const internalSpanKind = 1;
const errorStatusCode = 2;

/** The server to which spans are sent. */
export interface Collector {
  /** The address to which spans are posted. */
  readonly address: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly serviceName: string;
}

/**
 * The collector that OpenTelemetry's environment variables set; the default is a collector on this machine.
 * @throws ExpectedError (exit code 2) for an invalid variable.
 */
export function collectorIn(env: NodeJS.ProcessEnv): Collector {
  const tracesEndpoint = env["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"];
  const base = env["OTEL_EXPORTER_OTLP_ENDPOINT"] || "http://localhost:4318";
  const address = tracesEndpoint || `${base.endsWith("/") ? base.slice(0, -1) : base}/v1/traces`;
  if (!URL.canParse(address) || !/^https?:$/.test(new URL(address).protocol)) {
    const [variable, example] = tracesEndpoint
      ? ["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://localhost:4318/v1/traces"]
      : ["OTEL_EXPORTER_OTLP_ENDPOINT", "http://localhost:4318"];
    throw new ExpectedError(`${variable} is not an address for OTLP over HTTP; set it to one such as ${example}.`, 2);
  }
  const headersVariable = env["OTEL_EXPORTER_OTLP_TRACES_HEADERS"]
    ? "OTEL_EXPORTER_OTLP_TRACES_HEADERS"
    : "OTEL_EXPORTER_OTLP_HEADERS";
  return {
    address,
    headers: headersIn(headersVariable, env[headersVariable] ?? ""),
    serviceName: env["OTEL_SERVICE_NAME"] || "research-ralph",
  };
}

/** Parses "api-key=abc,tenant=my%20lab". The values may be secrets, so errors do not contain them. */
function headersIn(variable: string, text: string): Record<string, string> {
  const pairs = text.split(",").filter((pair) => pair.trim() !== "");
  return Object.fromEntries(
    pairs.map((pair, index) => {
      const [name = "", ...valueParts] = pair.split("=");
      const value = decodeHeader(valueParts.join("=").trim());
      if (!/^[\w!#$%&'*+.^`|~-]+$/.test(name.trim()) || value === undefined)
        throw new ExpectedError(
          `${variable}: header ${index + 1} is not of the form name=value with a percent-encoded value.`,
          2,
        );
      return [name.trim().toLowerCase(), value];
    }),
  );
}

/**
 * Decodes the value of a header; undefined if its percent encoding is invalid, or if a header can't have this value.
 */
function decodeHeader(value: string): string | undefined {
  try {
    const text = decodeURIComponent(value);
    return /^[\t\x20-\x7e]+$/.test(text) ? text : undefined;
  } catch {
    return undefined;
  }
}

/** Maximum time for an answer of the collector in milliseconds. */
const requestTimeoutMs = 5_000;

/** Sends spans to the collector; rejects with the reason if that fails. */
export async function sendSpans(
  spans: readonly Span[],
  { address, headers, serviceName }: Collector,
  { traceId, version, signal }: { readonly traceId: string; readonly version: string; readonly signal: AbortSignal },
  dispatcher: Dispatcher,
): Promise<void> {
  const { request } = await import("undici");
  const { statusCode, body } = await request(address, {
    method: "POST",
    dispatcher,
    signal: AbortSignal.any([signal, AbortSignal.timeout(requestTimeoutMs)]),
    headers: { ...headers, "content-type": "application/json" },
    body: JSON.stringify({
      resourceSpans: [
        {
          resource: { attributes: encodeAttributes({ "service.name": serviceName, "service.version": version }) },
          scopeSpans: [{ scope: { name: "research-ralph", version }, spans: spans.map(encodeSpan(traceId)) }],
        },
      ],
    }),
  });
  await body.dump();
  if (statusCode >= 300) throw new Error(`the collector answers ${statusCode}`);
}

const encodeSpan =
  (traceId: string) =>
  ({ id, parent = "", name, start, end, attributes: values, failure }: Span) => ({
    traceId,
    spanId: id,
    parentSpanId: parent,
    name,
    kind: internalSpanKind,
    startTimeUnixNano: nanoseconds(start),
    endTimeUnixNano: nanoseconds(end),
    attributes: encodeAttributes(failure === undefined ? values : { ...values, "error.type": failure }),
    status: failure === undefined ? {} : { code: errorStatusCode },
  });

const nanoseconds = (ms: number): string => `${ms}000000`;

const encodeAttributes = (values: Readonly<Record<string, Attribute>>) =>
  Object.entries(values).map(([key, value]) => ({ key, value: encodeValue(value) }));

const encodeValue = (value: Attribute) =>
  typeof value === "string"
    ? { stringValue: value }
    : typeof value === "boolean"
      ? { boolValue: value }
      : Number.isInteger(value)
        ? { intValue: String(value) }
        : { doubleValue: value };
