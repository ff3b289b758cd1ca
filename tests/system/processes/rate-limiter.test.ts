import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { compileEntries } from "../../support/processes/compiled.js";
import { temporaryFolder } from "../../support/network/network.js";

const gaps = (times: readonly number[]) => times.slice(1).map((time, index) => time - (times[index] ?? 0));

describe("real processes", () => {
  const interval = 300;

  /** A server that notes when requests came in, and answers after `delay` or, given none, never. */
  async function listener(delay?: number): Promise<{ origin: string; times: number[]; mostAtOnce(): number }> {
    const times: number[] = [];
    let [open, most] = [0, 0];
    const server = createServer((_request, response) => {
      times.push(performance.now());
      most = Math.max(most, (open += 1));
      if (delay !== undefined) setTimeout(() => ((open -= 1), response.end("{}")), delay);
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void (server.closeAllConnections(), server.close()));
    return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, times, mostAtOnce: () => most };
  }

  let compiled: string;
  beforeAll(async () => {
    const folder = mkdtempSync(join(tmpdir(), "ralph-compiled-"));
    compiled = await compileEntries(folder, { fetcher: "src/net/polite-http.ts" });
  });
  afterAll(() => rmSync(dirname(compiled), { recursive: true, force: true }));

  function asker(stateDir: string, origin: string, requests: number): ChildProcess {
    const script = `
      import { politeHttp } from ${JSON.stringify(join(compiled, "fetcher.js"))};
      const http = politeHttp({
        signal: new AbortController().signal,
        stateDir: ${JSON.stringify(stateDir)},
        budgets: [],
        services: [{ name: "arXiv", officialAddress: "https://export.arxiv.org", endpoint: ${JSON.stringify(origin)}, intervalMs: ${interval} }],
      });
      const answers = await Promise.all(Array.from({ length: ${requests} }, (_, n) => http.get({ url: ${JSON.stringify(origin)} + "/" + n, limit: 100 })));
      if (!answers.every(({ status }) => status === "ok")) console.error(answers);
      process.exit(answers.every(({ status }) => status === "ok") ? 0 : 1);`;
    const child = spawn(process.execPath, ["--input-type=module", "-e", script], {
      stdio: ["ignore", "inherit", "inherit"],
    });
    onTestFinished(() => void child.kill("SIGKILL"));
    return child;
  }

  it("share one pace and one connection: the server never sees two requests closer than the rule", async () => {
    const { origin, times, mostAtOnce } = await listener(20);
    const stateDir = temporaryFolder();
    const children = [asker(stateDir, origin, 5), asker(stateDir, origin, 5)];
    const codes = await Promise.all(children.map(async (child) => (await once(child, "exit"))[0]));
    expect(codes).toEqual([0, 0]);
    expect(times).toHaveLength(10);
    expect(Math.min(...gaps(times))).toBeGreaterThanOrEqual(interval);
    expect(mostAtOnce()).toBe(1);
  });

  it("that are killed while they hold the only connection leave it to the next", async () => {
    const silent = await listener();
    const stateDir = temporaryFolder();
    const first = asker(stateDir, silent.origin, 3);
    while (silent.times.length === 0) await new Promise((resolve) => setTimeout(resolve, 20));
    first.kill("SIGKILL");
    await once(first, "exit");
    const [file = ""] = readdirSync(join(stateDir, "hosts")).filter((name) => name.endsWith(".json"));
    expect(JSON.parse(readFileSync(join(stateDir, "hosts", file), "utf8")).busy).toHaveLength(1);

    const second = asker(stateDir, silent.origin, 1);
    while (silent.times.length < 2) await new Promise((resolve) => setTimeout(resolve, 20));
    second.kill("SIGKILL");
    expect(gaps(silent.times)[0]).toBeGreaterThanOrEqual(interval);
  });
});
