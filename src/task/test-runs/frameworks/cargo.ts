import { basename } from "node:path";
import type { TestResult } from "../../generated/test-results.js";
import {
  errorOf,
  failedResult,
  notLoadedName,
  type ParsedTests,
  type TestRunOutput,
  wholeRunName,
} from "../results.js";
import { fieldsIn } from "../../../engine/lib/json-fields.js";

/** A line of `cargo test --no-run --message-format json`, which reports code that does not compile. */
interface CompilerLine {
  readonly reason?: string;
  readonly message?: {
    readonly level?: string;
    readonly message?: string;
    readonly rendered?: string | null;
    readonly spans?: readonly {
      readonly file_name?: string;
      readonly line_start?: number;
      readonly column_start?: number;
      readonly is_primary?: boolean;
    }[];
  };
}

/** The errors in the compiler's JSON lines, each as a failed test. */
function compileErrors(stdout: string, root: string): TestResult[] {
  return stdout.split("\n").flatMap((line) => {
    const { reason, message } = (line.startsWith("{") ? fieldsIn<CompilerLine>(line) : undefined) ?? {};
    if (reason !== "compiler-message" || message?.level !== "error") return [];
    const span = message.spans?.find(({ is_primary }) => is_primary === true);
    // The last error only counts the others.
    if (span === undefined && /^aborting due to|^could not compile/.test(message.message ?? "")) return [];
    const file = span?.file_name;
    const location =
      file === undefined
        ? {}
        : {
            source_location: {
              file,
              line: Math.max(1, span?.line_start ?? 1),
              column: Math.max(1, span?.column_start ?? 1),
            },
          };
    const error = errorOf(message.message ?? "it does not compile", message.rendered ?? "", root);
    return [failedResult(notLoadedName(file ?? "the crate"), { ...error, type: "syntax", ...location })];
  });
}

/** Reads the compiler's errors. Without errors, reads the text of the tests: stable Rust has no JSON for it. */
export function readCargo({ root, stdout, stderr }: TestRunOutput): ParsedTests {
  const errors = compileErrors(stdout, root);
  if (errors.length > 0) return { tests: errors, problem: "The code does not compile." };
  const sections = new Map<string, string>();
  let sectionKey: string | undefined;
  const tests: { name: string; status: string; target: string }[] = [];
  // The targets are printed on stderr, in the same order as their runs on stdout.
  const runs = stderr.split("\n").flatMap((line) => {
    const [, file, program, doc] =
      /^(?:Running (?:unittests )?(\S+)(?: \(([^()]+)\))?|Doc-tests (\S+))/.exec(line.trim()) ?? [];
    // The program is named after its crate and a hash.
    if (file !== undefined) return { file, crate: program && basename(program).replace(/-[0-9a-f]+$/, "") };
    return doc === undefined ? [] : { file: `doc-tests ${doc}`, crate: undefined };
  });
  // Every crate of a workspace may have a src/lib.rs.
  const targets = runs.map(({ file, crate }) =>
    crate !== undefined && runs.filter((otherRun) => otherRun.file === file).length > 1 ? `${crate}: ${file}` : file,
  );
  let runIndex = -1;
  for (const line of stdout.split("\n")) {
    if (/^running \d+ tests?$/.test(line)) runIndex += 1;
    const test = /^test (.+?)(?: - should panic)? \.\.\. (ok|FAILED|ignored)/.exec(line);
    if (test !== null) tests.push({ name: test[1] ?? "", status: test[2] ?? "", target: targets[runIndex] ?? "" });
    const section = /^---- (.+?)(?: stdout)? ----$/.exec(line);
    if (section !== null) sectionKey = `${targets[runIndex] ?? ""} ${section[1]}`;
    else if (/^(?:failures:|test result:)/.test(line)) sectionKey = undefined;
    else if (sectionKey !== undefined) sections.set(sectionKey, `${sections.get(sectionKey) ?? ""}${line}\n`);
  }
  const results = tests.map(({ name, status, target }): TestResult => {
    const test_name = target === "" ? name : `${target} > ${name}`;
    if (status === "ok") return { status: "pass", test_name };
    if (status === "ignored") return { status: "skip", test_name };
    const output = sections.get(`${target} ${name}`) ?? "";
    const panic = /panicked at (?:'([^']*)', )?([^\n]*)\n?([^\n]*)/.exec(output);
    const message = panic?.[1] ?? (panic?.[3] || output.trim().split("\n")[0]);
    return failedResult(
      test_name,
      errorOf(message || "it failed", output, root, /assertion/.test(output) ? "Assertion" : "panicked"),
    );
  });
  // If a test ends the whole process, the other tests have no result, so a failure of the whole run is added.
  const abort =
    /error: test failed[^\n]*\n(?:[\s\S]{0,300}?)(process didn't exit successfully[^\n]*\(signal[^\n]*)/.exec(stderr);
  const crash = abort === null ? [] : [failedResult(wholeRunName, errorOf(abort[1] ?? "", stderr, root))];
  const allResults = [...results, ...crash];
  if (allResults.length > 0) return { tests: allResults };
  const [error] = /^error: .+$/m.exec(stderr) ?? [];
  return { tests: [], problem: error === undefined ? "No tests were found." : `cargo could not run: ${error}` };
}
