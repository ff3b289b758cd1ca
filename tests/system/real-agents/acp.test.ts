import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { LedgerLine } from "../../../src/engine/generated/ledger.js";
import type { Rrd } from "../../../src/research/generated/rrd.js";
import type { LoopEvent } from "../../../src/engine/loop/types.js";
import { noBubblewrap } from "../../support/processes/bubblewrap.js";
import { besideModel } from "../../support/network/beside-model.js";
import { run } from "../../support/processes/built.js";
import { concise, resultFor, smallProject, unitOf } from "../../support/projects/small-project.js";
import { acpOptions, type AcpName } from "./support/acp-agents.js";
import { type Answer, type ModelRequest, startFakeLlm } from "./support/agents.js";
import { installed } from "./support/install.js";

const here = besideModel("acp");

/** Writes result.json by the agent's own tool, then ends as the brief asks. */
const writing =
  (name: AcpName) =>
  (request: ModelRequest): Answer => {
    const path = /write (\/\S+?\/result\.json)\./.exec(request.user)?.[1] ?? "";
    if (request.results.length > 0)
      return { text: request.user.includes("<promise>COMPLETE</promise>") ? "<promise>COMPLETE</promise>" : "Done." };
    const content = JSON.stringify(resultFor(unitOf(request)), null, 1);
    return {
      text: "Reading.",
      tools: [
        name === "gemini"
          ? { name: "write_file", input: { file_path: path, content } }
          : { name: "write", input: { filePath: path, content } },
      ],
    };
  };

const cli = (root: string, ...args: string[]) =>
  run(process.execPath, [join(here.built, "dist", "cli.js"), ...args], root);

const ledgerOf = (root: string): LedgerLine[] =>
  readFileSync(join(root, "researches", "small-matter", "ledger.jsonl"), "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as LedgerLine);

const rrdOf = (root: string): Rrd =>
  JSON.parse(readFileSync(join(root, "researches", "small-matter", "rrd.json"), "utf8")) as Rrd;

const places: readonly (readonly [string, readonly string[], string])[] = [
  ["the host", ["--sandbox", "host", "--unconfined"], "unconfined"],
  ...(noBubblewrap === undefined ? [["bubblewrap", ["--sandbox", "bubblewrap"], "sandbox"] as const] : []),
];

describe.skipIf("problem" in installed("gemini"))("gemini whose service refuses every request", () => {
  test("ends by itself never, is told as at a limit in half a minute, and the next agent goes on", async () => {
    here.server = await startFakeLlm(() => ({ status: 429, message: "Resource has been exhausted." }));
    const root = await smallProject(here.folder, { "acp:gemini": acpOptions("gemini", here.server, here.folder) });
    const agents = ["--agent", "acp:gemini,baseline", "--unconfined"];
    const { out } = await cli(root, "run", "small-matter", "-i", "1", "--json", ...agents);
    const events = out
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as LoopEvent);
    expect(events.filter(({ type }) => type === "agent-changed")).toMatchObject([
      { from: "acp:gemini", to: "baseline", reason: expect.stringMatching(/limit of its model service.*429/) },
    ]);
    const [first, second] = ledgerOf(root);
    expect(first).toMatchObject({ agent: "acp:gemini", outcome: "failed", failure: "rate-limit" });
    expect(first?.duration_seconds).toBeLessThan(60);
    expect(second).toMatchObject({ agent: "baseline" });
  });
});

for (const name of ["gemini", "opencode"] as const) {
  const found = installed(name);
  describe.skipIf("problem" in found)(
    `${name} over the Agent Client Protocol${"problem" in found ? ` (skipped: ${found.problem})` : ""}`,
    () => {
      test.each(places)(
        "finishes a project on %s, with its tokens, version and model in the ledger",
        async (_where, flags, confinement) => {
          here.server = await startFakeLlm(concise);
          const root = await smallProject(here.folder, { [`acp:${name}`]: acpOptions(name, here.server, here.folder) });
          const { code, out, err } = await cli(root, "run", "small-matter", "--agent", `acp:${name}`, ...flags);
          expect(err).not.toContain("refused:");
          expect([code, out.trim().split("\n").at(-1)]).toEqual([0, "<promise>COMPLETE</promise>"]);
          expect(rrdOf(root).phase).toBe("COMPLETE");
          const ledger = ledgerOf(root);
          expect(ledger.map(({ outcome }) => outcome)).toEqual(Array.from({ length: 5 }, () => "accepted"));
          for (const line of ledger)
            expect(line).toMatchObject({
              agent: `acp:${name}`,
              confinement,
              tokens: { input: 1000, output: 50 },
              agent_version: expect.stringMatching(/^\d+\.\d+/),
              model: name === "gemini" ? "gemini-2.5-pro" : "local/scripted",
            });
        },
      );

      test("writes its result by a tool of its own, which it is allowed in its workspace", async () => {
        here.server = await startFakeLlm(writing(name));
        const root = await smallProject(here.folder, { [`acp:${name}`]: acpOptions(name, here.server, here.folder) });
        const { code, err } = await cli(
          root,
          "run",
          "small-matter",
          "-i",
          "1",
          "--agent",
          `acp:${name}`,
          "--unconfined",
        );
        expect([code, err.includes("refused")]).toEqual([3, false]);
        expect(ledgerOf(root)).toMatchObject([{ outcome: "accepted" }]);
      });
    },
  );
}
