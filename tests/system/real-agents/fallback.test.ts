import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { LedgerLine } from "../../../src/engine/generated/ledger.js";
import type { LoopEvent } from "../../../src/engine/loop/types.js";
import { newRrd } from "../../../src/research/workflow/new-research.js";
import { run, sharedPackage } from "../../support/processes/built.js";
import { makePdf } from "../../fixtures/pdf/make-pdf.js";
import { reading } from "../../support/projects/research.js";
import { type Answer, type FakeLlm, type ModelRequest, optionsFor, startFakeLlm } from "./support/agents.js";
import { installed } from "./support/install.js";

let built: string;
let folder: string;
let server: FakeLlm | undefined;
beforeAll(async () => {
  built = await sharedPackage();
});
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "fallback-"));
});
afterEach(async () => {
  await server?.close();
  rmSync(folder, { recursive: true, force: true });
});

const fact = "The method reached 87.5 percent accuracy on 1200 samples.";

/** A research over two PDFs; both CLIs are configured to talk to the scripted server. */
async function prepare(at: FakeLlm): Promise<string> {
  const root = join(folder, "repo");
  const home = join(folder, "home");
  const research = join(root, "researches", "small-matter");
  for (const path of [join(root, "papers"), home, research]) mkdirSync(path, { recursive: true });
  for (const name of ["first", "second"]) {
    const filler = Array.from(
      { length: 12 },
      (_, index) => `Paragraph ${index} of the ${name} paper describes how the measurements were taken.`,
    );
    const pages = [[`Abstract. The ${name} paper measures a small matter.`, ...filler, fact]];
    writeFileSync(
      join(root, "papers", `${name}.pdf`),
      await makePdf({ title: `On the ${name} small matter`, authors: ["Ada Author"], pages, columns: 1 }),
    );
  }
  const requirements = {
    name: "a small matter",
    description: "Small matters.",
    focus_area: "matter",
    keywords: ["small", "matter"],
  };
  writeFileSync(
    join(research, "rrd.json"),
    JSON.stringify(newRrd({ papers: 2, sources: ["folder:papers"] }, requirements)),
  );
  const agents = { claude: optionsFor("claude", at, home), codex: optionsFor("codex", at, home) };
  writeFileSync(join(root, "ralph.config.json"), JSON.stringify({ agents, state_dir: join(folder, "state") }));
  execFileSync("git", ["init", "-q", root]);
  return root;
}

/** The result itself as the final message. */
function result({ user }: ModelRequest): string {
  const unit = JSON.parse(/<unit>\n([\s\S]*?)\n<\/unit>/.exec(user)?.[1] ?? "null");
  if (unit.kind === "paper")
    return JSON.stringify(reading(unit.unit, { evidence: [{ claim: "It says so.", quote: fact }] }));
  const papers = unit.candidates.map(({ id, title, url }: { id: string; title: string; url: string }) => {
    return { id, title, url, priority: 3, reason: "it is about the matter" };
  });
  return JSON.stringify({ unit: unit.unit, papers, sources: [] });
}

const missing = (["claude", "codex"] as const).filter((name) => "problem" in installed(name));
const why = missing.length > 0 ? ` (skipped: no ${missing.join(", ")})` : "";
describe.skipIf(missing.length > 0)(`the real claude at its limit, with the real codex beside it${why}`, () => {
  test("codex goes on until the stated reset, then claude is back, and the ledger says who did what", async () => {
    let resetAt: number | undefined;
    const answer = (request: ModelRequest): Answer => {
      if (request.api === "anthropic" && resetAt === undefined) {
        // Whole seconds, as services state it; more than claude takes to end on a busy machine.
        resetAt = Math.ceil(Date.now() / 1000 + 15) * 1000;
        return {
          status: 429,
          message: `You have reached your usage limit. It resets at ${new Date(resetAt).toISOString()}.`,
        };
      }
      // The one iteration of codex outlasts the limit, however fast the machine is.
      const delayMs = request.api === "responses" ? Math.max(0, (resetAt ?? 0) + 500 - Date.now()) : 0;
      return { text: result(request), delayMs };
    };
    server = await startFakeLlm(answer);
    const root = await prepare(server);
    const args = [join(built, "dist", "cli.js"), "run", "small-matter", "--agent", "claude,codex", "-i", "2", "--json"];
    const { code, out } = await run(process.execPath, args, root);
    const events = out
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as LoopEvent);
    const changes = events.filter(({ type }) => type === "agent-changed");
    expect(changes).toMatchObject([
      { from: "claude", to: "codex", reason: expect.stringContaining("usage limit") },
      { from: "codex", to: "claude" },
    ]);
    expect(Date.parse(changes[1]?.at ?? "")).toBeGreaterThanOrEqual(resetAt ?? Number.POSITIVE_INFINITY);
    const ledger = readFileSync(join(root, "researches", "small-matter", "ledger.jsonl"), "utf8")
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as LedgerLine);
    expect(ledger).toMatchObject([
      { agent: "claude", outcome: "failed", failure: "rate-limit" },
      { agent: "codex", outcome: "accepted" },
      { agent: "claude", outcome: "accepted" },
    ]);
    // The limit used up none of the two iterations.
    expect(code).toBe(3);
  });
});
