// Prints `N passed, N failed, N skipped` over vitest's JSON reports, and above it each test that passed only when it was
// tried again. Fails when a test failed or a report is missing.
import { readFileSync } from "node:fs";

const total = { passed: 0, failed: 0, skipped: 0 };

for (const path of process.argv.slice(2)) {
  let report;
  try {
    report = JSON.parse(readFileSync(path, "utf8"));
  } catch {
    total.failed += 1; // The run ended before it could report.
    continue;
  }
  for (const { name, assertionResults } of report.testResults)
    for (const { status, fullName, failureMessages } of assertionResults)
      if (status === "passed" && failureMessages?.length > 0)
        console.log(`passed only at the second try: ${fullName} (${name}): ${failureMessages[0].split("\n")[0]}`);
  total.passed += report.numPassedTests;
  total.failed += report.numFailedTests;
  total.skipped += report.numPendingTests + report.numTodoTests;
  // A file that does not even load is a failed suite with no test in it.
  total.failed += report.testResults.filter(
    ({ status, assertionResults }) => status === "failed" && !assertionResults.some(isFailed),
  ).length;
}

function isFailed({ status }) {
  return status === "failed";
}

console.log(`${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped`);
if (total.failed > 0 || process.argv.length === 2) process.exitCode = 1;
