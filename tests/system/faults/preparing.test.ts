import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { beforeAll, expect, onTestFinished, test } from "vitest";
import { sharedPackage } from "../../support/built.js";
import { makeResearch } from "../../support/research-folder.js";

beforeAll(sharedPackage, 180_000);

test("a kill while a unit is prepared loses nothing: no line, no change, and the next run prepares it again", async () => {
  const cwd = realpathSync(mkdtempSync(join(tmpdir(), "rr-preparing-")));
  onTestFinished(() => rmSync(cwd, { recursive: true, force: true }));
  let answers = false;
  let asked = 0;
  // A service that takes a question and never answers, until it is told to.
  const server = createServer((_request, response) => {
    asked += 1;
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
  const before = readFileSync(join(folder, "rrd.json"), "utf8");
  const dist = join(await sharedPackage(), "dist/cli.js");
  const start = () => {
    const args = [dist, "run", folder, "--agent", "baseline", "--json"];
    const child = spawn(process.execPath, args, { cwd, env: { PATH: process.env["PATH"], HOME: cwd }, detached: true });
    child.stderr.resume();
    return child;
  };

  const killed = start();
  const types: string[] = [];
  for await (const line of createInterface({ input: killed.stdout })) {
    types.push((JSON.parse(line) as { type: string }).type);
    if (types.at(-1) !== "preparing") continue;
    while (asked === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    process.kill(-(killed.pid ?? 0), "SIGKILL");
    break;
  }
  if (killed.exitCode === null && killed.signalCode === null) await once(killed, "exit");
  expect(types).not.toContain("iteration-started");
  expect(readFileSync(join(folder, "rrd.json"), "utf8")).toBe(before);
  expect(existsSync(join(folder, "ledger.jsonl"))).toBe(false);

  answers = true;
  const again = start();
  const seen: { type: string; iteration?: number }[] = [];
  for await (const line of createInterface({ input: again.stdout }))
    seen.push(JSON.parse(line) as { type: string; iteration?: number });
  expect(seen.map(({ type }) => type)).toEqual(expect.arrayContaining(["preparing", "prepared", "run-ended"]));
  expect(seen.filter(({ type }) => type === "prepared")[0]).toMatchObject({ unit: "discovery-1" });
});
