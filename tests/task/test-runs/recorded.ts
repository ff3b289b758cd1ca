import { readFileSync } from "node:fs";
import { packageFile } from "../../../src/engine/lib/package-root.js";
import type { Framework } from "../../../src/task/test-runs/detect.js";
import { resultsOf } from "../../../src/task/test-runs/run-tests.js";
import type { Case } from "../../fixtures/test-projects/projects.js";

interface Recorded {
  readonly exitCode?: number;
  readonly stdout: string;
  readonly stderr: string;
  readonly file?: string;
}
const recorded: Readonly<Record<string, Recorded>> = JSON.parse(
  readFileSync(packageFile("tests/fixtures/test-projects/recorded.json"), "utf8"),
);

/** What our reader of a framework makes of what its program has said of a project in /project. */
export async function resultsFrom(framework: Framework, { exitCode, stdout, stderr, file }: Recorded) {
  const end =
    exitCode === undefined ? ({ cause: "timeout", stderr } as const) : ({ cause: "exited", exitCode, stderr } as const);
  return await resultsOf({ framework }, { end, ok: exitCode === 0, stdout, stderr }, file, "/project", 4_000);
}

/** The same of what a tool has left that was recorded. */
export async function recordedResults(framework: Framework, which: Case) {
  const said = recorded[`${framework} ${which}`];
  if (said === undefined) throw new Error(`${framework} ${which} is not recorded`);
  return await resultsFrom(framework, said);
}
