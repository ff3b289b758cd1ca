import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Rrd } from "../../../src/research/generated/rrd.js";
import { run } from "../../support/processes/built.js";
import { unitOf } from "../../support/projects/small-project.js";
import { trialProject, trialReader } from "../../support/projects/trial-project.js";
import { type Answer, type ModelRequest, optionsFor, startFakeLlm } from "./support/agents.js";
import { installed } from "./support/install.js";
import { besideModel } from "../../support/network/beside-model.js";

const here = besideModel("forms");
const cli = (root: string, ...args: string[]) =>
  run(process.execPath, [join(here.built, "dist", "cli.js"), ...args], root);

const first = { value: 14, quotes: ["It needs 14 minutes on one machine."] };
/** Claude finds the minutes; Codex invents for one paper, and finds nothing reported in the other. */
function filling(request: ModelRequest): Answer {
  const unit = unitOf(request);
  if (unit.kind !== "extract") return trialReader(request);
  const isSecond = request.api === "responses";
  const invented = { value: 900, quotes: ["Nine hundred people took part in it."] };
  const minutes = !isSecond ? first : unit.unit.includes("adults") ? invented : { not_reported: true };
  return { text: JSON.stringify({ unit: unit.unit, fields: { minutes } }) };
}

const problems = (["claude", "codex"] as const).flatMap((name) => {
  const found = installed(name);
  return "problem" in found ? [found.problem] : [];
});

describe.skipIf(problems.length > 0)(
  `a field that is added later, asked of the real claude and the real codex${problems.length > 0 ? ` (skipped: ${problems[0]})` : ""}`,
  () => {
    test("both read the text alone, what one invents is kept nowhere, and the run ends complete", async () => {
      here.server = await startFakeLlm(filling);
      const home = join(here.folder, "home");
      mkdirSync(home);
      const agents = { claude: optionsFor("claude", here.server, home), codex: optionsFor("codex", here.server, home) };
      const root = trialProject(here.folder, agents);
      const file = join(root, "researches", "small-trial", "rrd.json");
      const rrdOf = () => JSON.parse(readFileSync(file, "utf8")) as Rrd;
      expect((await cli(root, "run", "small-trial", "--agent", "claude")).code).toBe(0);
      const field = ["--field", "minutes (number): how long it takes"];
      const unasked = await cli(root, "extract", "small-trial", "--agent", "claude", ...field);
      expect(unasked).toMatchObject({
        code: 2,
        err: expect.stringMatching(/claude looks for 1 field in \d papers?: .*tokens, \$/),
      });
      const ran = await cli(
        root,
        "extract",
        "small-trial",
        "--agent",
        "claude",
        "--second-reader",
        "codex",
        "--yes",
        ...field,
      );
      expect([ran.code, ran.out.trim()]).toEqual([0, "<promise>COMPLETE</promise>"]);
      const papers = rrdOf().papers_pool.filter(({ extracted }) => extracted !== undefined);
      expect(papers.length).toBeGreaterThan(0);
      for (const { id, extracted, extracted_again: again } of papers) {
        expect(extracted).toMatchObject([{ field: "minutes", value: "14", status: "verified", by: "claude" }]);
        expect(again).toMatchObject([{ status: id === "adults" ? "not-answered" : "not-reported" }]);
      }
      expect(JSON.stringify(papers)).not.toContain("Nine hundred");
      const shown = here.server.requests.filter((request) => unitOf(request).kind === "extract");
      expect(shown.some(({ api }) => api === "responses")).toBe(true);
      for (const { user } of shown) expect(user).not.toContain("verified");
    });
  },
);
