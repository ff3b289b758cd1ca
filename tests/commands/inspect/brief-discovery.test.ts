import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { briefCommand } from "../../../src/commands/inspect/brief.js";
import { type ScholarServer, serveScholars } from "../../fixtures/scholar-server.js";
import { fakeIo } from "../../engine/ui/fake-io.js";
import { cli } from "../../support/processes/in-process.js";
import { freshFolder, makeResearch } from "../../support/projects/research-folder.js";

let scholars: ScholarServer;
beforeAll(async () => void (scholars = await serveScholars()));
afterAll(() => scholars.close());

/** A research over two services, and a claude that writes its brief to record.txt and then fails. */
function place() {
  const cwd = freshFolder();
  const folder = makeResearch(cwd, "touch-2026-11-22", {
    phase: "DISCOVERY",
    description: "Robots that grasp by touch.",
    requirements: {
      target_papers: 5,
      sources: ["arXiv", "OpenAlex"],
      keywords: ["tactile grasping", "soft robot"],
      focus_area: "robotics",
    },
  });
  const claude = join(cwd, "claude.sh");
  writeFileSync(claude, `#!/bin/sh\ncat > ${join(cwd, "record.txt")}\nexit 1\n`);
  chmodSync(claude, 0o755);
  writeFileSync(
    join(cwd, "ralph.config.json"),
    JSON.stringify({
      state_dir: join(cwd, "state"),
      git: false,
      sources: scholars.sources,
      agents: { claude: { command: claude } },
    }),
  );
  return { cwd, folder, record: () => readFileSync(join(cwd, "record.txt"), "utf8") };
}

const everything = (folder: string) =>
  readdirSync(folder, { recursive: true, encoding: "utf8" }).map((name) => {
    const found = statSync(join(folder, name));
    return [name, found.isDirectory() ? 0 : found.size, found.mtimeMs];
  });

test("before the first search brief asks nobody and writes nothing, and names the sources that a run would ask", async () => {
  const { cwd } = place();
  const before = everything(cwd);
  const asked = scholars.requests.length;
  const { code, out, err } = await cli(["brief"], cwd);
  expect({ code, err }).toEqual({
    code: 0,
    err: expect.stringMatching(/^A run would search arXiv, OpenAlex first;.*\nIteration 1, discovery-1/),
  });
  expect(out).toContain('"candidates": []');
  expect(scholars.requests.length).toBe(asked);
  expect(everything(cwd)).toEqual(before);
  expect(existsSync(join(cwd, "state"))).toBe(false);
});

test("once a search is kept, brief prints to the letter what an agent with tools is given, words of a person included", async () => {
  const { cwd, record } = place();
  expect((await cli(["run", "-i", "1"], cwd)).code).toBe(3);
  expect(record()).toContain("# Searching further");
  expect((await cli(["steer", "touch-2026-11-22", "Look at fingertips first."], cwd)).code).toBe(0);
  const asked = scholars.requests.length;
  const { out, err } = await cli(["brief"], cwd);
  expect(err).toMatch(/^Iteration 2, discovery-1/m);
  expect(err).not.toContain("search first");
  expect(scholars.requests.length).toBe(asked);
  const plain = await cli(["brief", "--agent", "baseline"], cwd);
  await cli(["run", "-i", "1"], cwd);
  expect(out).toContain("Look at fingertips first.");
  expect(out).toContain("Tactile Grasping with Soft Robot Fingers");
  expect(out).toBe(record());
  expect(plain.out).not.toContain("# Searching further");
});

/** A project over an empty folder: its batches are settled without an agent. */
function emptyPlace(over: object = {}) {
  const cwd = freshFolder();
  mkdirSync(join(cwd, "papers"));
  makeResearch(cwd, "empty-2026-11-22", {
    phase: "DISCOVERY",
    requirements: { target_papers: 5, sources: ["folder:papers"], keywords: ["touch"] },
    ...over,
  });
  return cwd;
}

test("where a run would settle its batches without an agent and then stop, brief says why", async () => {
  const cwd = emptyPlace();
  const io = fakeIo({ cwd, env: { HOME: cwd } });
  expect(await briefCommand({ json: false, folder: undefined, flags: {} }, io)).toBe(0);
  expect([io.out(), io.err()]).toEqual([
    "",
    expect.stringMatching(/^No agent would be started\. No source brought a paper/),
  ]);
});

test("where a run would settle a batch without an agent and go on, brief prints what its first agent gets", async () => {
  const known = {
    id: "p1",
    title: "On touch",
    url: "https://example.org/p1",
    abstract: "Of touch.",
    status: "pending",
  };
  const cwd = emptyPlace({ papers_pool: [known] });
  const io = fakeIo({ cwd, env: { HOME: cwd } });
  expect(await briefCommand({ json: false, folder: undefined, flags: {} }, io)).toBe(0);
  expect(io.out()).toContain('"unit": "p1"');
  expect(io.err()).toMatch(/^A run would settle Discovery, batch 1 first[^]*^Iteration 2, p1/m);
});
