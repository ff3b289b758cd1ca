import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { LedgerLine } from "../../../src/engine/generated/ledger.js";
import type { Rrd } from "../../../src/research/generated/rrd.js";
import { type Answer, type FakeLlm, type ModelRequest, startFakeLlm } from "../../fixtures/fake-llm/server.js";
import { run, sharedPackage } from "../../support/built.js";
import { concise, facts, smallProject } from "../../support/small-project.js";

let built: string;
let folder: string;
let server: FakeLlm;
beforeAll(async () => {
  built = await sharedPackage();
});
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "assistant-"));
});
afterEach(async () => {
  await server.close();
  rmSync(folder, { recursive: true, force: true });
});

/** A project whose agent `ralph` asks the scripted server, as a user configures it. */
async function prepared(answer: (request: ModelRequest) => Answer, path = "/v1/chat/completions"): Promise<string> {
  server = await startFakeLlm(answer, { countsAll: true });
  const home = join(folder, "home");
  mkdirSync(home);
  const args = ["--api-url", `${server.url}${path}`, "--model", "gpt-4o-mini"];
  return await smallProject(folder, { ralph: { args, env: { HOME: home, OPENAI_API_KEY: "dummy-key-of-a-test" } } });
}

const cli = (root: string, ...args: string[]) => run(process.execPath, [join(built, "dist", "cli.js"), ...args], root);
const stateOf = (root: string) =>
  JSON.parse(readFileSync(join(root, "researches/small-matter/rrd.json"), "utf8")) as Rrd;
const ledgerOf = (root: string) =>
  readFileSync(join(root, "researches/small-matter/ledger.jsonl"), "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as LedgerLine);

describe("a project with the agent ralph and no CLI", () => {
  test("ends COMPLETE with every quote found, one request an iteration and one line before each brief", async () => {
    const root = await prepared(concise);
    const { code, out, err } = await cli(root, "run", "small-matter", "--agent", "ralph");
    expect(err).not.toContain("refused");
    expect([code, out.trim().split("\n").at(-1)]).toEqual([0, "<promise>COMPLETE</promise>"]);
    for (const paper of stateOf(root).papers_pool)
      expect(paper.analysis?.evidence?.map(({ status }) => status)).toEqual(facts.map(() => "verified"));
    for (const line of ledgerOf(root))
      expect(line).toMatchObject({
        agent: "ralph",
        confinement: "workspace",
        model: "gpt-4o-mini",
        tokens: { input: 1000, cached: 200, output: 50, requests: 1 },
      });
    expect(server.requests).toHaveLength(5);
    for (const { body } of server.requests) {
      const [system, user, ...more] = body["messages"];
      expect(more).toEqual([]);
      expect(system.content.length).toBeLessThan(200);
      expect(user.content).toContain("<unit>");
    }
  });

  test("goes on where a service was busy twice", async () => {
    let asked = 0;
    const root = await prepared((request) => {
      asked += 1;
      return asked <= 2 ? { status: 429, headers: { "retry-after": "1" } } : concise(request);
    });
    expect((await cli(root, "run", "small-matter", "--agent", "ralph")).code).toBe(0);
    expect(asked).toBe(7);
  });

  test("ends blocked with the key that was refused, and asks once", async () => {
    const root = await prepared(() => ({ status: 401, message: "Incorrect API key provided." }));
    const { code, err } = await cli(root, "run", "small-matter", "--agent", "ralph");
    expect(code).toBe(5);
    expect(err).toContain("refused the key in OPENAI_API_KEY");
    expect(server.requests).toHaveLength(1);
  });
});
