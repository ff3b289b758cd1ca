import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, realpathSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { beforeAll, expect, onTestFinished, test } from "vitest";
import { sharedPackage } from "../../support/processes/built.js";
import { makeResearch } from "../../support/projects/research-folder.js";

beforeAll(sharedPackage, 180_000);

/** A project whose search asks a service that takes a question and never answers, until it is told to. */
async function heldProject() {
  const cwd = realpathSync(mkdtempSync(join(tmpdir(), "rr-preparing-")));
  onTestFinished(() => rmSync(cwd, { recursive: true, force: true }));
  const held: ServerResponse[] = [];
  let answers = false;
  const server = createServer((_request, response) => {
    held.push(response);
    if (answers) response.writeHead(404).end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => (server.closeAllConnections(), void server.close()));
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const folder = makeResearch(cwd, "held-2026-03-01", {
    phase: "DISCOVERY",
    requirements: { target_papers: 2, sources: ["Crossref"], keywords: ["grasping"] },
  });
  const settings = { git: false, state_dir: join(cwd, "state"), sources: { crossref: { endpoint, interval_ms: 0 } } };
  writeFileSync(join(cwd, "ralph.config.json"), JSON.stringify(settings));
  const dist = join(await sharedPackage(), "dist/cli.js");
  const start = () => {
    const args = [dist, "run", folder, "--agent", "baseline", "--json"];
    const child = spawn(process.execPath, args, {
      cwd,
      env: { PATH: process.env["PATH"], HOME: cwd, RESEARCH_RALPH_TRUST: "true", RESEARCH_RALPH_CHECK: "false" },
      detached: true,
    });
    child.stderr.resume();
    return child;
  };
  return {
    folder,
    start,
    asked: async () => {
      while (held.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    },
    answer: () => {
      answers = true;
      for (const response of held) response.writeHead(404).end();
    },
  };
}

/** What a run says, event by event, and how it ended. */
async function eventsOf(child: ReturnType<Awaited<ReturnType<typeof heldProject>>["start"]>) {
  const events: { type: string; outcome?: string; unit?: string; verdict?: { verdict: string; reason: string } }[] = [];
  for await (const line of createInterface({ input: child.stdout })) events.push(JSON.parse(line));
  return { events, verdict: events.at(-1)?.verdict };
}

test("a kill while a unit is prepared loses nothing: no line, no change, and the next run prepares it again", async () => {
  const { folder, start, asked, answer } = await heldProject();
  const before = readFileSync(join(folder, "rrd.json"), "utf8");

  const killed = start();
  const types: string[] = [];
  for await (const line of createInterface({ input: killed.stdout })) {
    types.push((JSON.parse(line) as { type: string }).type);
    if (types.at(-1) !== "preparing") continue;
    await asked();
    process.kill(-(killed.pid ?? 0), "SIGKILL");
    break;
  }
  if (killed.exitCode === null && killed.signalCode === null) await once(killed, "exit");
  expect(types).not.toContain("iteration-started");
  expect(readFileSync(join(folder, "rrd.json"), "utf8")).toBe(before);
  expect(existsSync(join(folder, "ledger.jsonl"))).toBe(false);

  answer();
  const { events } = await eventsOf(start());
  expect(events.map(({ type }) => type)).toEqual(expect.arrayContaining(["preparing", "prepared", "run-ended"]));
  expect(events.filter(({ type }) => type === "prepared")[0]).toMatchObject({ unit: "discovery-1" });
});

test.each(["SIGINT", "STOP"])(
  "%s ends a preparation that waits for a service, although that never answers",
  async (how) => {
    const { folder, start, asked } = await heldProject();
    const child = start();
    const ended = eventsOf(child);
    await asked();
    if (how === "STOP") writeFileSync(join(folder, "STOP"), "");
    else process.kill(child.pid ?? 0, "SIGINT");
    const { events, verdict } = await ended;
    expect(verdict?.verdict).toBe("interrupted");
    expect(events.filter(({ type }) => type === "prepared")).toEqual([expect.objectContaining({ outcome: "aborted" })]);
    expect(events.map(({ type }) => type)).not.toContain("iteration-started");
  },
);

test.each(["moved", "deleted"])(
  "a project that is %s while a unit is prepared is said to be gone, and not made again",
  async (how) => {
    const { folder, start, asked, answer } = await heldProject();
    const ended = eventsOf(start());
    await asked();
    if (how === "moved") renameSync(folder, `${folder}-moved`);
    else rmSync(folder, { recursive: true });
    answer();
    const { verdict } = await ended;
    expect(verdict?.reason).toMatch(/^The project folder \S+ is gone; run again where it is now/);
    expect(existsSync(folder)).toBe(false);
  },
);
