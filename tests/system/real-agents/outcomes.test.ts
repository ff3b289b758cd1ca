import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { ReportFile } from "../../../src/research/generated/report.js";
import type { Outcome, Rrd } from "../../../src/research/generated/rrd.js";
import { besideModel } from "../../support/network/beside-model.js";
import { run } from "../../support/processes/built.js";
import { folderProject } from "../../support/projects/folder-project.js";
import { narrative, reading, shownHandle } from "../../support/projects/research.js";
import { type Answer, type ModelRequest, optionsFor, startFakeLlm } from "./support/agents.js";
import { installed } from "./support/install.js";

const here = besideModel("outcomes");

const outcomes = {
  one: { direction: "up", quote: "Touch raised the success rate of grasping from 41 to 87 percent." },
  two: { direction: "down", quote: "Touch lowered the success rate of grasping from 52 to 44 percent." },
  three: { direction: "up", quote: "Touch made no significant difference to the success rate of grasping." },
} as const;
const about = (direction: Outcome["direction"]) => ({
  outcome: "success rate",
  compared: "touch against vision",
  direction,
});

interface UnitData {
  readonly kind: string;
  readonly unit: string;
  readonly candidates: readonly { readonly id: string; readonly title: string; readonly url: string }[];
  readonly papers: readonly { readonly id: string }[];
  readonly side_by_side?: readonly { readonly pair: string; readonly stand: string }[];
}
const unitOf = ({ user }: ModelRequest): UnitData =>
  JSON.parse(/<unit>\n([\s\S]*?)\n<\/unit>/.exec(user)?.[1] ?? "null");

/** States what each paper compares and which way it went, and says what differs between the two that disagree. */
function resultFor(request: ModelRequest): object {
  const unit = unitOf(request);
  if (unit.kind === "discovery") {
    const papers = unit.candidates.map(({ id, title, url }) => ({ id, title, url, priority: 3, reason: "It grasps." }));
    return { unit: unit.unit, papers, sources: [] };
  }
  if (unit.kind === "paper") {
    const { direction, quote } =
      Object.values(outcomes).find((each) => request.user.includes(each.quote)) ?? outcomes.one;
    return reading(unit.unit, {
      results: "The rate changed.",
      evidence: [{ claim: "It changed.", quote, about: about(direction) }],
    });
  }
  const pair = unit.side_by_side?.find(({ stand }) => stand === "opposite")?.pair ?? "none";
  const said = narrative({ side_by_side: [{ pair, text: "The objects differ." }] }, shownHandle({ ...unit }));
  return { ...said, answer: said.answer.map((each) => ({ ...each, text: "It depends." })) };
}

const document = (name: string, { quote }: { readonly quote: string }) =>
  `---\nid: ${name}\ntitle: Grasping by touch, part ${name}\nauthors: [Ada ${name}]\ndate: 2026-01-01\n---\n\n# Grasping by touch, part ${name}\n\n## 1 Results\n\n${quote} It took four minutes on one machine.\n`;

for (const name of ["claude", "codex"] as const) {
  const found = installed(name);
  describe.skipIf("problem" in found)(
    `outcomes that the real ${name} states${"problem" in found ? ` (skipped: ${found.problem})` : ""}`,
    () => {
      test("stand side by side in its brief, and what it says of them in the report", async () => {
        const briefs: string[] = [];
        here.server = await startFakeLlm((request): Answer => {
          briefs.push(request.user);
          return { text: JSON.stringify(resultFor(request)) };
        });
        const [root, home] = [join(here.folder, "repo"), join(here.folder, "home")];
        for (const path of [root, home]) mkdirSync(path, { recursive: true });
        writeFileSync(
          join(root, "ralph.config.json"),
          JSON.stringify({
            agents: { [name]: optionsFor(name, here.server, home) },
            state_dir: join(here.folder, "s"),
          }),
        );
        const documents = Object.entries(outcomes).map(([key, said]): [string, string] => [key, document(key, said)]);
        const folder = folderProject(root, "touch", Object.fromEntries(documents));
        const cli = join(here.built, "dist/cli.js");
        const done = await run(process.execPath, [cli, "run", "touch", "--agent", name, "--sandbox", "host"], root);
        expect({ code: done.code, err: done.code === 0 ? "" : done.err }).toEqual({ code: 0, err: "" });
        expect(done.err).not.toContain("refused");

        const rrd = JSON.parse(readFileSync(join(folder, "rrd.json"), "utf8")) as Rrd;
        const stated = rrd.papers_pool.map(({ analysis }) => analysis?.evidence?.[0]?.about?.direction);
        expect(stated.toSorted()).toEqual(["down", "up", "up"]);
        const brief = briefs.findLast((text) => text.includes('"side_by_side"')) ?? "";
        const unit = JSON.parse(/<unit>\n([\s\S]*?)\n<\/unit>/.exec(brief)?.[1] ?? "{}") as UnitData;
        expect(unit.side_by_side?.map(({ stand }) => stand)).toEqual(["opposite", "opposite", "agreed"]);
        const kept = JSON.parse(readFileSync(join(folder, "report.json"), "utf8")) as ReportFile;
        expect(kept.side_by_side).toMatchObject([{ text: "The objects differ." }]);
        const report = readFileSync(join(folder, "research-report.md"), "utf8");
        const disputed = report.slice(report.lastIndexOf("What is disputed"));
        for (const said of [outcomes.two.quote, "success rate: opposite", "The objects differ."])
          expect(disputed).toContain(said);
      });
    },
  );
}
