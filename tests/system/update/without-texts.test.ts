import { mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Rrd } from "../../../src/research/generated/rrd.js";
import { cli } from "../../support/processes/in-process.js";
import { temporaryFolder } from "../../support/projects/research.js";

/** A record of an export. No name under .invalid is ever found, so its text is not available. */
const record = (title: string, abstract: string) =>
  ["TY  - JOUR", `TI  - ${title}`, "AU  - Visser, Ada", "PY  - 2021", `UR  - http://paper.invalid/${title.length}`]
    .concat(abstract === "" ? [] : [`AB  - ${abstract}`], "ER  - ", "")
    .join("\n");

const abstract = "Walking for 30 minutes a day lowered blood pressure by 5 mmHg in 120 adults over six months.";

test("an export is read and updated without its texts, and a record without an abstract holds up nothing", async () => {
  const home = join(temporaryFolder(), "home");
  mkdirSync(home);
  writeFileSync(join(home, "ralph.config.json"), JSON.stringify({ lookups: false }));
  const source = join(home, "export.ris");
  const first = record("Walking and the blood pressure of adults", abstract) + record("Only the title is known", "");
  writeFileSync(source, first);
  const read = () => {
    const [folder = ""] = readdirSync(join(home, "researches"));
    return JSON.parse(readFileSync(join(home, "researches", folder, "rrd.json"), "utf8")) as Rrd;
  };
  const given = ["--abstracts", "-y", "--no-git", "--agent", "baseline"];
  const begun = await cli(["begin", "export.ris", "does walking lower blood pressure?", ...given], home);
  expect([begun.code, begun.err]).toEqual([0, expect.stringContaining("could not be retrieved")]);
  expect(read().papers_pool.map(({ status }) => status)).toContain("not_retrieved");

  writeFileSync(
    source,
    first + record("Cycling and the blood pressure of some nurses", abstract.replace("W", "Cycling and w")),
  );
  const updated = await cli(["update", ...given], home);
  expect([updated.code, updated.err]).toEqual([0, expect.stringContaining("complete: ")]);
  expect(read().papers_pool.filter(({ status }) => status === "not_retrieved")).toHaveLength(1);
});
