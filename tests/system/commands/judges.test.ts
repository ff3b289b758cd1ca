import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, test } from "vitest";
import { sharedPackage } from "../../support/processes/built.js";

const root = fileURLToPath(new URL("../../../", import.meta.url));

/** Forty claims that their passages bear out, and forty that they do not. */
const pairs = Array.from({ length: 80 }, (_, index) => {
  const passage = `Group ${index >> 1} reached ${100 + index} points after a year of training with tool ${index}.`;
  const isRight = index % 2 === 0;
  return { claim: isRight ? `It is said of tool ${index}.` : `Nobody says this of ${index}.`, passage, isRight };
});

/** An agent that knows the labels, errs on so many pairs of each kind, and can't tell one that is right. */
function agentThatErrs(folder: string, onRight: number, onWrong: number, tells: boolean): string {
  const right = pairs.filter(({ isRight }) => isRight);
  const wrong = pairs.filter(({ isRight }) => !isRight);
  const verdicts = Object.fromEntries([
    ...right.map(({ claim }, index) => [claim, index < onRight ? "overstated" : "supported"]),
    ...wrong.map(({ claim }, index) => [claim, index < onWrong ? "supported" : "contradicted"]),
    ...(tells ? [] : [[right.at(-1)?.claim, "cannot-tell"]]),
  ]);
  const path = join(folder, "agent.mjs");
  writeFileSync(
    path,
    `import { readFileSync, writeFileSync } from "node:fs";
const verdicts = ${JSON.stringify(verdicts)};
const { unit, sentences } = JSON.parse(/<unit>\\n([\\s\\S]*?)\\n<\\/unit>/.exec(readFileSync(0, "utf8"))[1]);
const isSaid = ({ sentence, passages }) => passages.some(({ passage }) => passage.replace(/[“”]/g, "").includes(sentence));
writeFileSync("result.json", JSON.stringify({ unit, answers: sentences.map((each) => (
  { number: each.number, verdict: verdicts[each.sentence] ?? (isSaid(each) ? "supported" : "not-supported") })) }));
`,
  );
  return `cmd:${process.execPath} ${path}`;
}

let folder: string;
let data: string;
let built: string;
beforeAll(async () => {
  built = join(await sharedPackage(), "dist");
  folder = mkdtempSync(join(tmpdir(), "judges-"));
  data = join(folder, "gold.csv");
  const rows = pairs.map(
    ({ claim, passage, isRight }) => `"${claim}","${passage}",${isRight ? "supported" : "refuted"}`,
  );
  writeFileSync(data, ["claim,passage,label", ...rows].join("\n"));
});

const measured = (onRight: number, onWrong: number, tells = true): string =>
  measuredOf(agentThatErrs(folder, onRight, onWrong, tells));

const measuredOf = (agent: string): string =>
  execFileSync(process.execPath, ["bench/run.mjs", "judges", "--agent", agent, "--data", data, "--unconfined"], {
    cwd: root,
    encoding: "utf8",
    env: { ...process.env, HOME: folder, XDG_STATE_HOME: folder, BENCH_DIST: built },
  });

describe("the figures of an agent of known accuracy are its own", () => {
  test("of one that errs on four right ones of forty and on six wrong ones", () => {
    const said = measured(4, 6);
    expect(said).toContain("supported: 4 overstated, 36 supported; refuted: 34 contradicted, 6 supported");
    expect(said).toContain("wrong ones caught 34, missed 6; right ones doubted 4, passed 36; 0 can't tell");
    // P 34 / 38, R 34 / 40, F1 68 / 78, kappa (70 / 80 − 1 / 2) / (1 / 2)
    expect(said).toContain("P 0.895, R 0.850, F1 0.872, kappa 0.750");
    expect(said).toMatch(/controls (\d+) of \1 true and (\d+) of \2 false\. 80 of 80 judged in [2-4] iterations/);
  });

  test("of one that errs on none, and can't tell one", () => {
    const said = measured(0, 0, false);
    expect(said).toContain("supported: 1 cannot-tell, 39 supported; refuted: 40 contradicted");
    expect(said).toContain("P 1.000, R 1.000, F1 1.000, kappa 1.000");
    expect(said).toContain("1 can't tell");
  });
});

test("an agent that can't be started, or whose results can't be used, is not measured, and the row says why", () => {
  expect(measuredOf("scripted")).toContain("not measured: no claim was judged: Unknown agent 'scripted'; known agents");
  const useless = join(folder, "useless.mjs");
  writeFileSync(useless, `import { writeFileSync } from "node:fs"; writeFileSync("result.json", "{}");`);
  expect(measuredOf(`cmd:${process.execPath} ${useless}`)).toContain('no claim was judged: / "unit" is missing');
});
