// Everything that must hold before a commit is merged. Runs every step, also after a failure, and ends with the list of
// what failed.
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const bin = (path, ...args) => [process.execPath, [`${root}node_modules/${path}`, ...args]];
const script = (path, ...args) => [process.execPath, [`${root}scripts/${path}`, ...args]];

/** What is checked, how, and what to do when it fails. */
const steps = [
  ["generated types are fresh", script("generate-types.mjs", "--check"), "npm run generate"],
  ["generated validators are fresh", script("generate-validators.mjs", "--check"), "npm run generate"],
  ["format", bin("oxfmt/bin/oxfmt", "--check"), "npm run format"],
  ["lint and import directions", bin("oxlint/bin/oxlint"), "see above"],
  ["types", bin("typescript/bin/tsc"), "see above"],
  ["build", script("build.mjs"), "see above"],
  ["generated pages are fresh", script("generate-docs.mjs", "--check"), "node scripts/generate-docs.mjs"],
  ["unused code", bin("knip/bin/knip.js"), "remove what nobody uses"],
  ["code that only tests use", bin("knip/bin/knip.js", "--production"), "remove it, or test what uses it"],
  ["package", bin("publint/src/cli.js", "--strict"), "see above"],
  ["what is released", script("check-package.mjs"), "see above"],
  // CI runs them by their own command before this.
  ...(process.argv.includes("--skip-tests")
    ? []
    : [
        ["tests", bin("vitest/vitest.mjs", "run", ...process.argv.slice(2)), "see above"],
        [
          "tests that drive real processes",
          bin("vitest/vitest.mjs", "run", "--config", "vitest.system.config.ts", ...process.argv.slice(2)),
          "see above",
        ],
      ]),
];

const failed = [];
for (const [name, [command, args], hint] of steps) {
  console.log(`\n▸ ${name}`);
  const started = performance.now();
  const { status } = spawnSync(command, args, { cwd: root, stdio: "inherit" });
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  console.log(status === 0 ? `✓ ${name} (${seconds} s)` : `✗ ${name} (${seconds} s)`);
  if (status !== 0) failed.push(`  ✗ ${name}: ${hint}`);
}

if (failed.length === 0) {
  console.log(`\nAll ${steps.length} checks passed.`);
} else {
  console.log(`\n${failed.length} of ${steps.length} checks failed:\n${failed.join("\n")}`);
  process.exitCode = 1;
}
