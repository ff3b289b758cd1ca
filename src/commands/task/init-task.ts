import { existsSync } from "node:fs";
import { storeTrust } from "../../engine/config/trust.js";
import { hiddenName } from "../../engine/lib/layout.js";
import { writeFileAtomic } from "../../engine/storage/atomic-file.js";
import { repositoryOf } from "../../engine/storage/git-repository.js";
import { schemaAddress } from "../../engine/storage/schema-check.js";
import type { Io } from "../../engine/ui/io.js";
import { detectTests } from "../../task/test-runs/detect.js";
import { stateName, taskFile, taskName } from "../../task/project-files/layout.js";
import { programCriteriaIn } from "../../task/project-files/needs-trust.js";
import { excludeFromGit } from "../../task/project-files/snapshots.js";
import type { Criterion, RalphTask } from "../../task/generated/ralph.js";

/** Writes a ralph.json as an example that the user can edit; it fits the tests in the folder. Overwrites nothing. */
export async function initTask(io: Io, json: boolean): Promise<number> {
  const path = taskFile(io.cwd);
  const result = existsSync(path) ? "kept" : "made";
  if (result === "made") {
    const example = exampleFor(io.cwd);
    await writeFileAtomic(path, `${JSON.stringify(example, null, 2)}\n`);
    await storeTrust(programCriteriaIn(example, path), io.env);
  }
  await excludeFromGit(await repositoryOf(io.cwd), [`${hiddenName}/`, stateName]);
  if (json) io.stdout(`${JSON.stringify({ steps: [{ file: taskName, did: result }], warnings: [] })}\n`);
  else
    io.stdout(
      `${result === "kept" ? "kept as it is" : "made"}: ${taskName}\nNext: say in ${taskName} what is to be done, then research-ralph task --dry-run, then research-ralph task\n`,
    );
  return 0;
}

function exampleFor(folder: string): RalphTask {
  const hasTests = detectTests(folder).length > 0;
  const criteria: Criterion[] = hasTests
    ? [{ type: "tests_pass" }]
    : [
        { type: "file_exists", path: "hello.txt" },
        { type: "contains_text", path: "hello.txt", text: "Hello from Ralph" },
      ];
  return {
    $schema: schemaAddress("ralph"),
    task: hasTests ? "Make all tests pass." : "Create a hello.txt file with content 'Hello from Ralph'",
    acceptance_criteria: criteria,
    max_iterations: 10,
    budget: { max_tokens: 500_000 },
  };
}
