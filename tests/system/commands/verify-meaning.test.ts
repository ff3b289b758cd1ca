import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import type { ReportFile } from "../../../src/research/generated/report.js";
import { cli } from "../../support/processes/built-cli.js";
import { freshFolder } from "../../support/projects/research-folder.js";

const checker = fileURLToPath(new URL("../crash/check-agent.mjs", import.meta.url));
const byChecker = ["--agent", `cmd:${process.execPath} ${checker}`, "--unconfined", "--quiet"];

test("a report that was written without a check is checked later, once, and by an agent with a model alone", async () => {
  const cwd = freshFolder();
  expect((await cli(["demo", "--quiet"], cwd)).code).toBe(0);
  const [name = ""] = readdirSync(join(cwd, "researches"));
  const report = () => JSON.parse(readFileSync(join(cwd, "researches", name, "report.json"), "utf8")) as ReportFile;
  expect(report()).not.toHaveProperty("check.by");

  const free = await cli(["verify", "--meaning", "--agent", "baseline"], cwd);
  expect(free).toMatchObject({ code: 2, err: expect.stringContaining("takes a model; name one") });
  expect(report()).not.toHaveProperty("check.by");

  expect((await cli(["verify", "--meaning", ...byChecker], cwd)).code).toBe(0);
  expect(report().check).toMatchObject({ by: [expect.stringContaining("check-agent.mjs")] });
  expect(report().findings.every(({ check }) => check?.verdict === "supported")).toBe(true);

  const again = await cli(["verify", "--meaning", ...byChecker], cwd);
  expect(again).toMatchObject({ code: 0, err: expect.stringContaining("was checked already") });
});

test("a report that is not written yet can't be checked", async () => {
  const cwd = freshFolder();
  const made = await cli(["new", "robot hands in simulation", "--agent", "baseline", "--quiet"], cwd);
  expect(made.code).toBe(0);
  const refused = await cli(["verify", "--meaning", ...byChecker], cwd);
  expect(refused).toMatchObject({ code: 2, err: expect.stringContaining("is not finished") });
});
