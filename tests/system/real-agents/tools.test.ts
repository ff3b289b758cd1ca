import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, test } from "vitest";
import type { AgentOptions } from "../../../src/engine/agents/definition.js";
import type { LedgerLine } from "../../../src/engine/generated/ledger.js";
import type { Rrd } from "../../../src/research/generated/rrd.js";
import { newRrd } from "../../../src/research/workflow/new-research.js";
import { run } from "../../support/processes/built.js";
import { whereAgentsRun } from "../../support/processes/bubblewrap.js";
import { paper, reading } from "../../support/projects/research.js";
import { acpOptions } from "./support/acp-agents.js";
import { type Answer, type ModelRequest, optionsFor, startFakeLlm } from "./support/agents.js";
import { type Cli as Installable, installed } from "./support/install.js";
import { inSteps, resultCall, toolCall } from "./support/tool-calls.js";
import { besideModel } from "../../support/network/beside-model.js";

const here = besideModel("tools");

const trial = (index: number) =>
  `In trial ${index} the left gripper held ${(index * 13) % 997} of 1000 objects for a minute.`;
const trials = 3600;

/** A research of one paper of about 70,000 tokens in 20 sections, too long to stand in a brief. */
function prepare(name: string, options: () => AgentOptions): string {
  const root = join(here.folder, "repo");
  const research = join(root, "researches", "trials");
  mkdirSync(research, { recursive: true });
  const sections = Array.from({ length: 20 }, (_, index) => {
    const sentences = Array.from({ length: trials / 20 }, (__, each) => trial(index * (trials / 20) + each));
    return `## ${index + 1} Series ${index + 1}\n\n${sentences.join(" ")}`;
  });
  const path = join(here.folder, "trials.md");
  writeFileSync(
    path,
    `---\ntitle: On the matter of trials\n---\n\n# On the matter of trials\n\n${sections.join("\n\n")}\n`,
  );
  const requirements = { name: "trials", description: "Trials.", focus_area: "trials", keywords: ["trials"] };
  const rrd = newRrd({ papers: 1, sources: ["samples"] }, requirements);
  const record = paper("trials", { url: pathToFileURL(path).href });
  writeFileSync(
    join(research, "rrd.json"),
    JSON.stringify({ ...rrd, phase: "ANALYSIS", papers_pool: [record] }, null, 2),
  );
  writeFileSync(
    join(root, "ralph.config.json"),
    JSON.stringify({ agents: { [name]: options() }, state_dir: join(here.folder, "state") }),
  );
  execFileSync("git", ["init", "-q", root]);
  return root;
}

const places = ({ user }: ModelRequest) => [...user.matchAll(/^(@\d+): /gm)].map(([, place]) => place);
const quotes = [7, 1800, 3500].map(trial);

/** Reads the whole paper by the places of its outline, checks a quote, and quotes three sentences. */
const reads = inSteps(
  (request) => places(request).map((section) => toolCall(request, "read_section", { section })),
  (request) => [toolCall(request, "find_quote", { quote: quotes[1] })],
  (request) => [
    resultCall(request, reading("trials", { evidence: quotes.map((quote) => ({ claim: "It held.", quote })) })),
  ],
);

const home = () => join(here.folder, "home");
const agents: readonly (readonly [
  cli: Installable,
  name: string,
  options: () => AgentOptions,
  loose: readonly string[],
])[] = [
  ...(["claude", "codex"] as const).map((cli) => [cli, cli, () => optionsFor(cli, here.server, home()), []] as const),
  ...(["gemini", "opencode"] as const).map(
    (cli) => [cli, `acp:${cli}`, () => acpOptions(cli, here.server, here.folder), ["--unconfined"]] as const,
  ),
];

for (const [cli, name, options, loose] of agents) {
  const found = installed(cli);
  describe.skipIf("problem" in found)(
    `a paper too long for its brief, with the real ${name}${"problem" in found ? ` (skipped: ${found.problem})` : ""}`,
    () => {
      const iterate = async (where: string, answer: (request: ModelRequest) => Answer) => {
        here.server = await startFakeLlm(answer);
        mkdirSync(home(), { recursive: true });
        const root = prepare(name, options);
        const ended = await run(
          process.execPath,
          [
            join(here.built, "dist", "cli.js"),
            "run",
            "trials",
            "--agent",
            name,
            "-i",
            "1",
            "--sandbox",
            where,
            ...(where === "host" ? loose : []),
          ],
          root,
        );
        const research = join(root, "researches", "trials");
        const rrd = JSON.parse(readFileSync(join(research, "rrd.json"), "utf8")) as Rrd;
        const ledger = JSON.parse(
          readFileSync(join(research, "ledger.jsonl"), "utf8").trim().split("\n").at(-1) ?? "{}",
        ) as LedgerLine;
        return { ...ended, paper: rrd.papers_pool[0], ledger };
      };

      test.each(whereAgentsRun)(
        "is read with our tools to its last sentence on %s, and its quotes are found",
        async (where, confinement) => {
          const { err, paper: record, ledger } = await iterate(where, reads);
          const results = here.server.requests.at(-1)?.results.join("\n") ?? "";
          expect(err).not.toContain("refused:");
          for (const index of [0, 1234, trials - 1]) expect(results).toContain(trial(index));
          expect(results).toContain("Found at");
          expect(ledger).toMatchObject({ outcome: "accepted", agent: name });
          expect(ledger.confinement).toBe(confinement === "workspace" && loose.length > 0 ? "unconfined" : confinement);
          expect(record?.analysis?.evidence?.map(({ status, locator }) => [status, locator])).toEqual([
            ["verified", "§ 1 Series 1"],
            ["verified", "§ 11 Series 11"],
            ["verified", "§ 20 Series 20"],
          ]);
        },
      );
    },
  );
}
