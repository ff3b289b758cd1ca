import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeAll, describe, expect, test } from "vitest";
import { finished, newcomer, newcomerId, since } from "../update/finished-project.js";
import { run, sharedPackage } from "../../support/processes/built.js";
import { narrative, reading } from "../../support/projects/research.js";
import { type Answer, type FakeLlm, type ModelRequest, optionsFor, startFakeLlm } from "./support/agents.js";
import { installed } from "./support/install.js";

let built: string;
let server: FakeLlm;
beforeAll(async () => {
  built = await sharedPackage();
});
afterEach(async () => {
  await server.close();
});

interface UnitData {
  readonly kind: string;
  readonly unit: string;
  readonly candidates: readonly { readonly id: string; readonly title: string }[];
  readonly papers: readonly { readonly id: string; readonly quotes?: readonly { readonly handle: string }[] }[];
  readonly former_findings: { readonly list: readonly { readonly id: string; readonly text: string }[] };
}

/** Keeps what is about wet objects, quotes two sentences of a paper, and continues some of the former findings. */
function model({ user }: ModelRequest): Answer {
  const unit = JSON.parse(/<unit>\n([\s\S]*?)\n<\/unit>/.exec(user)?.[1] ?? "null") as UnitData;
  const say = (result: object): Answer => ({ text: JSON.stringify(result) });
  if (unit.kind === "discovery") {
    const isWet = ({ title }: { readonly title: string }) => title.includes("Wet Objects");
    return say({
      unit: unit.unit,
      papers: [],
      sources: [],
      kept: unit.candidates.filter(isWet).map(({ id }) => ({ id, priority: 4, reason: "It grasps by touch." })),
      dropped: unit.candidates.filter((each) => !isWet(each)).map(({ id }) => ({ id, reason: "Something else." })),
    });
  }
  if (unit.kind === "paper") {
    const quotes = ["The method succeeds in 83 percent of 42 trials, against 61 percent of the baseline."];
    const evidence = quotes.map((quote) => ({ claim: "It says so.", quote }));
    return say(reading(unit.unit, { results: "83 percent.", evidence }));
  }
  const handles = unit.papers.flatMap(({ quotes = [] }) => quotes.slice(0, 1).map(({ handle }) => handle));
  const handleOf = (id: string) => handles.filter((handle) => handle.startsWith(`${id}#`));
  const [kept, reworded, stronger] = unit.former_findings.list;
  const findings = [
    { text: kept?.text ?? "", rests_on: handleOf("arxiv_2601.00003"), was: "f1" },
    { text: "It succeeds more often than the baseline.", rests_on: handleOf("arxiv_2601.00001"), was: reworded?.id },
    {
      text: "Two groups found the same.",
      was: stronger?.id,
      rests_on: [...handleOf("arxiv_2601.00002"), ...handleOf("arxiv_2601.00004")],
    },
    { text: "It works on wet objects too.", rests_on: handleOf(newcomerId) },
  ];
  return say(narrative({ findings } as Parameters<typeof narrative>[0], handles[0] ?? null));
}

for (const name of ["claude", "codex"] as const) {
  const found = installed(name);
  describe.skipIf("problem" in found)(
    `an update with the real ${name}${"problem" in found ? ` (skipped: ${found.problem})` : ""}`,
    () => {
      test("reads one paper, says what moved, and costs no token where nothing came", async () => {
        let asked = 0;
        server = await startFakeLlm((request) => {
          asked += 1;
          return model(request);
        });
        const { papers, alter, folder, home, git, read, lines, text } = await finished();
        const agentHome = join(home, "..", "agent-home");
        mkdirSync(agentHome);
        const path = join(home, "ralph.config.json");
        const config = JSON.parse(readFileSync(path, "utf8")) as object;
        writeFileSync(path, JSON.stringify({ ...config, agents: { [name]: optionsFor(name, server, agentHome) } }));
        const update = (...args: string[]) =>
          run(process.execPath, [join(built, "dist/cli.js"), "update", folder, ...since, ...args], home);
        const agent = ["--agent", name, "--sandbox", "host"];
        const [head, had] = [git("rev-parse", "HEAD"), lines().length];
        const none = await update(...agent);
        expect([none.code, none.out, asked]).toEqual([0, expect.stringContaining("nothing new"), 0]);
        expect([git("rev-parse", "HEAD"), git("status", "--porcelain"), lines().length]).toEqual([head, "", had]);

        papers.push(newcomer);
        alter("p06", { retracted: true });
        const dry = await update(...agent, "--dry-run", "--json");
        const { forecast } = JSON.parse(dry.out) as { forecast: { tokens: number; iterations: number } };
        expect([dry.code, asked]).toEqual([0, 0]);
        const done = await update(...agent, "--max-usd", "2");
        expect({ code: done.code, err: done.code === 0 ? "" : done.err }).toEqual({ code: 0, err: "" });
        expect(done.err).not.toContain("refused");
        const worked = lines()
          .slice(had)
          .filter((line) => line.agent !== undefined);
        expect(worked.map(({ unit }) => unit)).toEqual([expect.stringMatching(/^discovery-/), newcomerId, "report"]);
        const tokens = worked.reduce((sum, { tokens: used }) => sum + (used?.input ?? 0) + (used?.output ?? 0), 0);
        expect(forecast.iterations).toBe(worked.length);
        expect(forecast.tokens).toBeGreaterThanOrEqual(tokens);
        console.log(`${name}: ${tokens} tokens of ${forecast.tokens} forecast, ${asked} requests`);
        const report = text("research-report.md");
        expect(report).toContain("Findings: 3 gone, 1 stronger, 1 new, 1 reworded, 1 kept.");
        expect(read().updates?.[0]).toMatchObject({ new: [newcomerId], report: "written" });

        const [after, requests] = [git("rev-parse", "HEAD"), asked];
        const again = await update(...agent);
        expect([again.code, again.out, asked]).toEqual([0, expect.stringContaining("nothing new"), requests]);
        expect([git("rev-parse", "HEAD"), git("status", "--porcelain")]).toEqual([after, ""]);
      });
    },
  );
}
