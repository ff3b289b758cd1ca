import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { cli } from "../../support/processes/built-cli.js";
import { freshFolder, sampleResearch } from "../../support/projects/research-folder.js";

interface Sent {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** A collector on this machine; `answers`: with which status, undefined: never. */
async function collector(answers: number | undefined): Promise<{ readonly address: string; readonly sent: Sent[] }> {
  const sent: Sent[] = [];
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk: Buffer) => (body += chunk.toString()));
    request.on("end", () => {
      sent.push({ path: request.url ?? "", headers: request.headers, body });
      if (answers !== undefined) response.writeHead(answers).end("{}");
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, sent };
}

interface SentSpan {
  readonly spanId: string;
  readonly parentSpanId: string;
  readonly traceId: string;
  readonly name: string;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly { readonly key: string; readonly value: Readonly<Record<string, unknown>> }[];
}
interface Trace {
  readonly resourceSpans: readonly {
    readonly resource: Pick<SentSpan, "attributes">;
    readonly scopeSpans: readonly { readonly spans: readonly SentSpan[] }[];
  }[];
}

const baseline = ["--agent", "baseline", "--no-git"];
const secret = "k9-Zq81mmTT0-collector";

test("a run with --otel arrives at a collector as one trace: run, units, iterations, with their tokens and no text", async () => {
  const cwd = freshFolder();
  sampleResearch(cwd);
  const { address, sent } = await collector(200);
  const { code, out, err } = await cli(["run", "--otel", ...baseline], cwd, {
    OTEL_EXPORTER_OTLP_ENDPOINT: address,
    OTEL_SERVICE_NAME: "reviews",
    OTEL_EXPORTER_OTLP_HEADERS: `api-key=${secret}`,
  });
  expect({ code, out }).toMatchObject({ code: 0 });
  expect(err).not.toContain("race");
  expect(new Set(sent.map(({ path }) => path))).toEqual(new Set(["/v1/traces"]));
  for (const { headers } of sent)
    expect(headers).toMatchObject({ "content-type": "application/json", "api-key": secret });
  const traces = sent.map(({ body }) => JSON.parse(body) as Trace);
  const resources = traces.flatMap(({ resourceSpans }) => resourceSpans);
  expect(resources[0]?.resource.attributes).toContainEqual({ key: "service.name", value: { stringValue: "reviews" } });
  const spans = resources.flatMap(({ scopeSpans }) => scopeSpans.flatMap((each) => each.spans));
  const named = (name: string) => spans.filter((span) => span.name === name);
  const [run] = named("invoke_workflow research");
  expect(new Set(spans.map(({ traceId }) => traceId)).size).toBe(1);
  const ids = new Set(spans.map(({ spanId }) => spanId));
  expect(ids.size).toBe(spans.length);
  for (const { parentSpanId } of spans.filter((span) => span !== run)) expect(ids).toContain(parentSpanId);
  expect(named("unit ANALYSIS").length).toBeGreaterThanOrEqual(2);
  const [iteration] = named("invoke_agent baseline");
  expect(iteration?.attributes).toEqual(
    expect.arrayContaining([
      { key: "gen_ai.operation.name", value: { stringValue: "invoke_agent" } },
      { key: "gen_ai.usage.input_tokens", value: { intValue: "0" } },
    ]),
  );
  for (const { startTimeUnixNano: start, endTimeUnixNano: end } of spans)
    expect(BigInt(end) - BigInt(start)).toBeGreaterThanOrEqual(0n);
  const all = sent.map(({ body }) => body).join("");
  for (const text of [secret, "calibration platform", cwd]) expect(all).not.toContain(text);
});

test("a collector that is down, refuses or never answers costs one warning, and the run ends as without it", async () => {
  const silent = await collector(undefined);
  const refusing = await collector(503);
  for (const [address, reason] of [
    ["http://127.0.0.1:9", "ECONNREFUSED"],
    [refusing.address, "the collector answers 503"],
    [silent.address, "it did not answer in time"],
  ] as const) {
    const cwd = freshFolder();
    sampleResearch(cwd);
    const { code, err } = await cli(["run", "--otel", "--quiet", ...baseline], cwd, {
      OTEL_EXPORTER_OTLP_ENDPOINT: address,
    });
    expect({ code, reason: err.match(/Traces do not arrive at [^\n]*/g) }).toEqual({
      code: 0,
      reason: [`Traces do not arrive at ${new URL(address).host}: ${reason}. The run continues without them.`],
    });
  }
});

test("a wrong address is told before anything is done", async () => {
  const cwd = freshFolder();
  sampleResearch(cwd);
  expect(await cli(["run", "--otel", ...baseline], cwd, { OTEL_EXPORTER_OTLP_ENDPOINT: "collect" })).toMatchObject({
    code: 2,
    err: expect.stringContaining("OTEL_EXPORTER_OTLP_ENDPOINT is not an address for OTLP over HTTP"),
  });
});
