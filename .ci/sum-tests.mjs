// Prints `N passed, N failed, N skipped` over vitest's JSON reports, and above it each test that failed, or passed only when
// it was tried again. Fails when a test failed or a report is missing.
import { readFileSync } from "node:fs";

const total = { passed: 0, failed: 0, skipped: 0 };

for (const path of process.argv.slice(2)) {
  let report;
  try {
    report = JSON.parse(readFileSync(path, "utf8"));
  } catch {
    total.failed += 1;
    console.log(`${path}: no report; the run ended before it could write one.`);
    continue;
  }
  for (const { name, status: fileStatus, message, assertionResults } of report.testResults) {
    for (const { status, fullName, failureMessages } of assertionResults) {
      const [failure] = failureMessages ?? [];
      if (failure === undefined) continue;
      const outcome = status === "passed" ? "passed only at the second try" : "failed";
      console.log(`${outcome}: ${fullName} (${name}): ${failure.split("\n")[0]}`);
    }
    // A file that does not even load is a failed suite with no test in it.
    if (fileStatus === "failed" && !assertionResults.some(isFailed)) {
      total.failed += 1;
      console.log(`failed to load: ${name}: ${message?.split("\n")[0]}`);
    }
  }
  total.passed += report.numPassedTests;
  total.failed += report.numFailedTests;
  total.skipped += report.numPendingTests + report.numTodoTests;
}

function isFailed({ status }) {
  return status === "failed";
}

console.log(`${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped`);
if (total.failed > 0 || process.argv.length === 2) process.exitCode = 1;
