import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { LedgerLine } from "../../../src/engine/generated/ledger.js";
import type { Rrd } from "../../../src/research/generated/rrd.js";
import { run } from "../../support/processes/built.js";
import { whereAgentsRun } from "../../support/processes/bubblewrap.js";
import { concise, facts, resultFor, smallProject, unitOf } from "../../support/projects/small-project.js";
import { type Answer, type Cli, type ModelRequest, optionsFor, startFakeLlm, type ToolCall } from "./support/agents.js";
import { installed } from "./support/install.js";
import { besideModel } from "../../support/network/beside-model.js";

const here = besideModel("research");

/** The small project, with both CLIs configured to talk to the scripted server. */
async function prepare(clis: readonly Cli[]): Promise<string> {
  const home = join(here.folder, "home");
  mkdirSync(home);
  return await smallProject(
    here.folder,
    Object.fromEntries(clis.map((cli) => [cli, optionsFor(cli, here.server, home)])),
  );
}

/** Writes result.json where the brief says, by the tool its CLI offers, then ends as the brief asks. */
function model(request: ModelRequest): Answer {
  const path =
    /write (\/\S+\/result\.json)\.\s*$/.exec(request.user.trim())?.[1] ??
    /write (\/\S+?\/result\.json)\./.exec(request.user)?.[1] ??
    "";
  if (request.results.length > 0)
    return {
      text: request.user.includes("<promise>COMPLETE</promise>") ? "Done.\n\n<promise>COMPLETE</promise>" : "Done.",
    };
  const content = JSON.stringify(resultFor(unitOf(request)), null, 1);
  const call: ToolCall =
    request.api === "anthropic"
      ? { name: "Write", input: { file_path: path, content } }
      : {
          name: "apply_patch",
          input: `*** Begin Patch\n*** Add File: result.json\n${content.replace(/^/gm, "+")}\n*** End Patch`,
        };
  return { text: "Reading.", tools: [call] };
}

const cli = (root: string, ...args: string[]) =>
  run(process.execPath, [join(here.built, "dist", "cli.js"), ...args], root);

/** `earlierRuns`: runs that ended before the one that completed the project; each commits how it ended. */
function expectComplete(root: string, earlierRuns = 0): LedgerLine[] {
  const research = join(root, "researches", "small-matter");
  const rrd = JSON.parse(readFileSync(join(research, "rrd.json"), "utf8")) as Rrd;
  expect(rrd.phase).toBe("COMPLETE");
  for (const paper of rrd.papers_pool) {
    expect(paper).toMatchObject({ status: "presented", read_depth: "full" });
    expect(paper.analysis?.evidence?.map(({ status, locator }) => [status, locator])).toEqual(
      facts.map(() => ["verified", "p. 2"]),
    );
  }
  for (const name of ["research-report.md", "references.bib", "product-ideas.json", "progress.txt"])
    expect(existsSync(join(research, name)), name).toBe(true);
  expect(execFileSync("git", ["-C", root, "status", "--porcelain", "researches"], { encoding: "utf8" })).toBe("");
  const ledger = readFileSync(join(research, "ledger.jsonl"), "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as LedgerLine);
  expect(ledger.map(({ outcome }) => outcome)).toEqual(["accepted", "accepted", "accepted", "accepted", "accepted"]);
  expect(ledger.at(-1)?.sentinel).toBe("seen");
  // Five iterations, and the history's first summary, which came after the last of them.
  expect(execFileSync("git", ["-C", root, "log", "--oneline"], { encoding: "utf8" }).trim().split("\n")).toHaveLength(
    6 + earlierRuns,
  );
  return ledger;
}

for (const name of ["claude", "codex"] as const) {
  const found = installed(name);
  describe.skipIf("problem" in found)(
    `a research with the real ${name}${"problem" in found ? ` (skipped: ${found.problem})` : ""}`,
    () => {
      test.each(whereAgentsRun)(
        "ends COMPLETE on %s, every quote found, each iteration committed, tokens in the ledger",
        async (where, confinement) => {
          here.server = await startFakeLlm(model);
          const root = await prepare([name]);
          const { code, out, err } = await cli(root, "run", "small-matter", "--agent", name, "--sandbox", where);
          expect(err).not.toContain("refused");
          expect([code, out.trim().split("\n").at(-1)]).toEqual([0, "<promise>COMPLETE</promise>"]);
          const ledger = expectComplete(root);
          for (const line of ledger)
            expect(line).toMatchObject({ agent: name, confinement, tokens: { input: 2000, cached: 400, output: 100 } });
          expect(here.server.requests).toHaveLength(10);
        },
      );

      test("takes one request an iteration where the model answers with the result itself", async () => {
        here.server = await startFakeLlm(concise);
        const root = await prepare([name]);
        expect((await cli(root, "run", "small-matter", "--agent", name)).code).toBe(0);
        for (const line of expectComplete(root)) expect(line).toMatchObject({ tokens: { input: 1000, requests: 1 } });
        expect(here.server.requests).toHaveLength(5);
      });
    },
  );
}

const missing = (["claude", "codex"] as const).filter((name) => "problem" in installed(name));
describe.skipIf(missing.length > 0)(
  `a research that alternates between the real claude and codex${missing.length > 0 ? ` (skipped: no ${missing.join(", ")})` : ""}`,
  () => {
    test("goes on where the other left off, one iteration each, to COMPLETE", async () => {
      here.server = await startFakeLlm(model);
      const root = await prepare(["claude", "codex"]);
      const codes: (number | null)[] = [];
      for (let turn = 0; turn < 5; turn += 1) {
        codes.push(
          (await cli(root, "run", "small-matter", "-i", "1", "--agent", turn % 2 === 0 ? "claude" : "codex")).code,
        );
      }
      expect(codes).toEqual([3, 3, 3, 3, 0]);
      const agents = expectComplete(root, 4).map(({ agent }) => agent);
      expect(agents).toEqual(["claude", "codex", "claude", "codex", "claude"]);
    });
  },
);
