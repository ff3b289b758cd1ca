import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { expect, onTestFinished, test } from "vitest";
import { isAtWork } from "../../support/processes/alive.js";
import { cli } from "../../support/processes/built-cli.js";
import { sharedPackage } from "../../support/processes/built.js";
import { said } from "../../support/processes/mcp-client.js";
import { freshFolder, sampleResearch } from "../../support/projects/research-folder.js";

interface Served {
  readonly client: Client;
  /** Of the server. */
  readonly pid: number;
}

/** The built server in `cwd`, as an editor starts it. */
async function serve(cwd: string, env: Record<string, string>): Promise<Served> {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [join(await sharedPackage(), "dist/cli.js"), "mcp", "--write"],
    cwd,
    env: {
      PATH: process.env["PATH"] ?? "",
      HOME: cwd,
      RESEARCH_RALPH_STATE_DIR: join(cwd, "state"),
      RESEARCH_RALPH_TRUST: "true",
      RESEARCH_RALPH_CHECK: "false",
      ...env,
    },
  });
  const client = new Client({ name: "test", version: "1" });
  await client.connect(transport);
  onTestFinished(() => client.close());
  return { client, pid: transport.pid ?? 0 };
}

const baseline = { RESEARCH_RALPH_AGENT: "baseline" };
const hands = { topic: "do simulated hands transfer", sources: ["samples"], keywords: ["sim2real"], name: "hands" };

async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  for (let tried = 0; tried < 300; tried += 1) {
    if (await isSo()) return;
    await sleep(100);
  }
  throw new Error("It did not happen in 30 s.");
}

test("a run that a client started goes on to its report after the client and its server are gone", async () => {
  const cwd = freshFolder();
  const { client, pid } = await serve(cwd, baseline);
  const started = await client.callTool({ name: "start", arguments: { ...hands, papers: 3, max_minutes: 5 } });
  expect(started.structuredContent).toMatchObject({
    running: true,
    budget: { max_minutes: 5 },
    forecast: { papers: 3, iterations: 5 },
  });
  const { project } = started.structuredContent as { project: string };
  const again = await client.callTool({ name: "run", arguments: { project, max_minutes: 5 } });
  expect([again.isError, said(again)]).toEqual([true, expect.stringContaining("is already running")]);
  await client.close();
  await until(() => !isAtWork(pid));
  const status = async () =>
    JSON.parse((await cli(["status", project, "--json"], cwd)).out) as Record<"finished" | "running", boolean>;
  await until(async () => {
    const { finished, running } = await status();
    return finished && !running;
  });
  expect(existsSync(join(cwd, "researches", project, "report.html"))).toBe(true);
});

test("a client that waits is told how far the run is, and at its end where the report is", async () => {
  const cwd = freshFolder();
  const { client } = await serve(cwd, baseline);
  const told: string[] = [];
  const ended = await client.callTool(
    { name: "start", arguments: { ...hands, papers: 3, max_minutes: 5, wait: true } },
    { onprogress: ({ message = "" }) => told.push(message), timeout: 120_000 },
  );
  const { report } = ended.structuredContent as { report: string };
  expect(ended.structuredContent).toMatchObject({ running: false, exit_code: 0, last_run: { verdict: "complete" } });
  expect(readFileSync(report, "utf8")).toContain("<html");
  for (const message of told) expect(message).toMatch(/^\w+: \d of 3 papers$/);
});

test("status says why a run could not go on, and one that was stopped before ends at once", async () => {
  const cwd = freshFolder();
  sampleResearch(cwd);
  const { client: without } = await serve(cwd, { RESEARCH_RALPH_AGENT: "codex", PATH: "/nowhere" });
  await without.callTool({ name: "run", arguments: { project: "grasping", max_usd: 1 } });
  const lastRun = async () => {
    const status = await without.callTool({ name: "status", arguments: {} });
    return (status.structuredContent as { last_run: { verdict: string; reason: string } | null }).last_run;
  };
  await until(async () => (await lastRun()) !== null);
  expect(await lastRun()).toMatchObject({
    verdict: "failed",
    reason: expect.stringContaining("there is no program codex"),
  });
  const { client } = await serve(cwd, baseline);
  await client.callTool({ name: "stop", arguments: { project: "grasping" } });
  const stopped = await client.callTool({ name: "run", arguments: { project: "grasping", max_minutes: 1 } });
  expect(stopped.structuredContent).toMatchObject({ running: false, exit_code: 130 });
});

/** A project that is complete, and an agent that writes its pid and then hangs. */
async function hanging(): Promise<{ readonly cwd: string; readonly pidFile: string; readonly served: Served }> {
  const cwd = freshFolder();
  sampleResearch(cwd);
  expect((await cli(["run", "--agent", "baseline", "--quiet"], cwd)).code).toBe(0);
  const pidFile = join(cwd, "agent.pid");
  writeFileSync(join(cwd, "ralph.config.json"), JSON.stringify({ unconfined: true, git: false }));
  return { cwd, pidFile, served: await serve(cwd, { RESEARCH_RALPH_AGENT: `cmd:echo $$ > ${pidFile}; sleep 600` }) };
}

test.each(["takes its question back", "goes away", "has its server ended"])(
  "the agent of a question ends with it where the client %s",
  async (how) => {
    const { pidFile, served } = await hanging();
    const cancel = new AbortController();
    const asked = served.client.callTool(
      { name: "ask", arguments: { question: "How long does calibration take?" } },
      { signal: cancel.signal },
    );
    const ended = expect(asked).rejects.toThrow();
    await until(() => existsSync(pidFile) && readFileSync(pidFile, "utf8").endsWith("\n"));
    const agent = Number(readFileSync(pidFile, "utf8"));
    expect(isAtWork(agent)).toBe(true);
    if (how === "takes its question back") cancel.abort();
    else if (how === "goes away") await served.client.close();
    else process.kill(served.pid, "SIGTERM");
    await ended;
    await until(() => !isAtWork(agent));
    if (how !== "takes its question back") return await until(() => !isAtWork(served.pid));
    expect(said(await served.client.callTool({ name: "status", arguments: {} }))).toContain('"finished":true');
  },
);
