/**
 * The test files that need a process of their own, as they replace a module, load one anew, or count all that the process
 * carries out. `npm run test:system` has them: in `npm test` all files share a process. tests/house/files.test.ts holds
 * the list to the files.
 */
export const needOwnProcess: readonly string[] = [
  "tests/engine/sandbox/limits.test.ts",
  "tests/engine/storage/alternatives.test.ts",
  "tests/engine/storage/lock-faults.test.ts",
  "tests/fuzz/linear-quotes.test.ts",
  "tests/fuzz/linear-work.test.ts",
  "tests/research/project-files/hindered-guard.test.ts",
  "tests/research/workflow/workspace.test.ts",
];
