import { basename } from "node:path";
import type { TestResult } from "../../generated/test-results.js";
import { errorOf, failed, notLoaded, type ReadTests, type RunOfTests, wholeRun } from "../results.js";
import { fieldsIn } from "../../../engine/lib/json-fields.js";

/** What `cargo test --no-run --message-format json` says of code that does not compile. */
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

/** Errors of the compiler in its JSON lines, each as a test that failed. */
function compileErrors(stdout: string, root: string): TestResult[] {
  return stdout.split("\n").flatMap((line) => {
    const { reason, message } = (line.startsWith("{") ? fieldsIn<CompilerLine>(line) : undefined) ?? {};
    if (reason !== "compiler-message" || message?.level !== "error") return [];
    const span = message.spans?.find(({ is_primary }) => is_primary === true);
    // The last one only counts the others.
    if (span === undefined && /^aborting due to|^could not compile/.test(message.message ?? "")) return [];
    const file = span?.file_name;
    const place =
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
    return [failed(notLoaded(file ?? "the crate"), { ...error, type: "syntax", ...place })];
  });
}

/**
 * Reads what the compiler says of code that does not compile, else the text of cargo's own test harness, whose JSON
 * stable releases refuse.
 */
export function readCargo({ root, stdout, stderr }: RunOfTests): ReadTests {
  const errors = compileErrors(stdout, root);
  if (errors.length > 0) return { tests: errors, problem: "The code does not compile." };
  const sections = new Map<string, string>();
  let open: string | undefined;
  const tests: { name: string; how: string; target: string }[] = [];
  // Which target runs is printed on stderr, in the same order as the runs on stdout.
  const runs = stderr.split("\n").flatMap((line) => {
    const [, file, program, doc] =
      /^(?:Running (?:unittests )?(\S+)(?: \(([^()]+)\))?|Doc-tests (\S+))/.exec(line.trim()) ?? [];
    // The program is named by its crate and a hash.
    if (file !== undefined) return { file, crate: program && basename(program).replace(/-[0-9a-f]+$/, "") };
    return doc === undefined ? [] : { file: `doc-tests ${doc}`, crate: undefined };
  });
  // Every crate of a workspace may have a src/lib.rs.
  const targets = runs.map(({ file, crate }) =>
    crate !== undefined && runs.filter((each) => each.file === file).length > 1 ? `${crate}: ${file}` : file,
  );
  let run = -1;
  for (const line of stdout.split("\n")) {
    if (/^running \d+ tests?$/.test(line)) run += 1;
    const test = /^test (.+?)(?: - should panic)? \.\.\. (ok|FAILED|ignored)/.exec(line);
    if (test !== null) tests.push({ name: test[1] ?? "", how: test[2] ?? "", target: targets[run] ?? "" });
    const section = /^---- (.+?)(?: stdout)? ----$/.exec(line);
    if (section !== null) open = `${targets[run] ?? ""} ${section[1]}`;
    else if (/^(?:failures:|test result:)/.test(line)) open = undefined;
    else if (open !== undefined) sections.set(open, `${sections.get(open) ?? ""}${line}\n`);
  }
  const results = tests.map(({ name, how, target }): TestResult => {
    const test_name = target === "" ? name : `${target} > ${name}`;
    if (how === "ok") return { status: "pass", test_name };
    if (how === "ignored") return { status: "skip", test_name };
    const said = sections.get(`${target} ${name}`) ?? "";
    const panic = /panicked at (?:'([^']*)', )?([^\n]*)\n?([^\n]*)/.exec(said);
    const message = panic?.[1] ?? (panic?.[3] || said.trim().split("\n")[0]);
    return failed(
      test_name,
      errorOf(message || "it failed", said, root, /assertion/.test(said) ? "Assertion" : "panicked"),
    );
  });
  // A test that ends its whole process leaves the others without a word.
  const abort =
    /error: test failed[^\n]*\n(?:[\s\S]{0,300}?)(process didn't exit successfully[^\n]*\(signal[^\n]*)/.exec(stderr);
  const crash = abort === null ? [] : [failed(wholeRun, errorOf(abort[1] ?? "", stderr, root))];
  const all = [...results, ...crash];
  if (all.length > 0) return { tests: all };
  const [error] = /^error: .+$/m.exec(stderr) ?? [];
  return { tests: [], problem: error === undefined ? "No tests were found." : `cargo could not run: ${error}` };
}
