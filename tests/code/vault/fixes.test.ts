import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { TestFailure } from "../../../src/task/generated/ralph-state.js";
import { changedSymbols } from "../../../src/code/vault/fault.js";
import { type FixAttempt, openFixes } from "../../../src/code/vault/fixes.js";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "fixes-"));
  mkdirSync(join(folder, ".ralph"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

type Files = Readonly<Record<string, string>>;

const memoryOf = (warnings: string[] = []) =>
  openFixes(
    folder,
    () => 0,
    (message) => warnings.push(message),
  );

const put = (files: Files): void => {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
};

const failing = (test: string, more: Partial<TestFailure> = {}): TestFailure => ({
  test,
  type: "assertion",
  signature: "s",
  message: `${test} does not hold`,
  file: "test/a.test.ts",
  line: 3,
  ...more,
});

let rounds = 0;
/** Keeps a round that changed these files, and what the tests said after it. */
async function did(
  action: string,
  before: Files,
  after: Files,
  more: Partial<FixAttempt> & { failures: TestFailure[] },
) {
  rounds += 1;
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  const changed = await changedSymbols(
    {
      changes: async () => names.map((path) => ({ path, kind: "changed" as const })),
      textAt: async (commit, path) => (commit === "before" ? before : after)[path],
    },
    "before",
    "after",
  );
  const round = { round: rounds, hypothesis: "why", action_taken: action };
  const passing = more.passing ?? more.failures.map(({ test }) => test);
  const told = { run: `run ${rounds}`, isPutBack: false, failing: [], tokens: 1, framework: "vitest" };
  await memoryOf().keep({ ...told, round, changed, before: (path) => before[path], passing, ...more });
}

const source = (add: string, dashes = '"-"') =>
  `export function add(a: number, b: number) {\n  return ${add};\n}\n\nexport class Words {\n  split(text: string) {\n    return text.split(${dashes});\n  }\n}\n`;
const file = "src/a.ts";

describe("the memory of fixes", () => {
  it("recommends what helped where the faulty line is back in its symbol, wherever that stands by now", async () => {
    await did("used a plus", { [file]: source("a - b") }, { [file]: source("a + b") }, { failures: [failing("adds")] });
    put({ [file]: `// A line above.\n${source("a - b").replace("return a", "// Sums up.\n  return a")}` });
    expect(await memoryOf().recall([failing("adds", { message: "other words" })])).toBe(
      "- adds (src/a.ts#add): why Helped: used a plus",
    );
  });

  it("recommends nothing for another fault of the same test, whose fix still stands", async () => {
    await did("used a plus", { [file]: source("a - b") }, { [file]: source("a + b") }, { failures: [failing("adds")] });
    put({ [file]: source("a + b", '"0"') });
    expect(await memoryOf().recall([failing("adds")])).toBe("");
  });

  it("recommends nothing for a test that no fix was for, though the errors read alike", async () => {
    const dashes = failing("splits at dashes", { message: "expected 2 to be 3" });
    await did(
      "split at dashes",
      { [file]: source("a + b", '"+"') },
      { [file]: source("a + b") },
      { failures: [dashes] },
    );
    put({ [file]: source("a + b", '"+"') });
    expect(await memoryOf().recall([failing("splits at digits", { message: "expected 2 to be 3" })])).toBe("");
    expect(await memoryOf().recall([dashes])).toContain("split at dashes");
  });

  it("knows a fault by its frame in the sources where another test meets it", async () => {
    const framed = (test: string, line: number) => failing(test, { file, line, type: "runtime" });
    const [broken, whole] = [{ [file]: source("a.b") }, { [file]: source("a + b") }];
    await did("used a plus", broken, whole, { failures: [framed("adds", 2)] });
    put(broken);
    expect(await memoryOf().recall([framed("sums up", 2)])).toContain("used a plus");
    expect(await memoryOf().recall([framed("sums up", 7)])).toBe("");
  });

  it("takes the same test, frame and error for the same fault where the symbol holds something else by now", async () => {
    await did("used a plus", { [file]: source("a - b") }, { [file]: source("a + b") }, { failures: [failing("adds")] });
    put({ [file]: source("sumOf(a, -b)") });
    expect(await memoryOf().recall([failing("adds")])).toContain("used a plus");
    expect(await memoryOf().recall([failing("adds", { message: "expected 3 to be 2" })])).toBe("");
  });

  it("counts what a round did as helpful only for tests that pass at its end, and not where it was put back", async () => {
    const [before, after] = [{ [file]: source("a - b") }, { [file]: source("b - a") }];
    const failures = [failing("adds"), failing("sums up"), failing("is gone")];
    await did("turned it round", before, after, { failures, passing: ["adds"], failing: ["sums up"] });
    await did("broke the rest", before, after, { failures, isPutBack: true });
    put(before);
    expect(await memoryOf().recall([failing("adds")])).toContain("turned it round");
    expect(await memoryOf().recall([failing("sums up"), failing("is gone")])).toBe("");
  });

  it("takes the success back where the test fails again at the end of a later round of the run", async () => {
    const [before, after] = [{ [file]: source("a - b") }, { [file]: source("a + b") }];
    await did("used a plus", before, after, { run: "one", failures: [failing("adds")] });
    put(before);
    const later = { run: "one", failures: [failing("waits")], passing: ["waits"], failing: ["adds"] };
    await did("put back", {}, {}, { ...later, isPutBack: true });
    await did("another run", {}, {}, { ...later, run: "two" });
    expect(await memoryOf().recall([failing("adds")])).toContain("used a plus");
    await did("waited", {}, {}, later);
    expect(await memoryOf().recall([failing("adds")])).toBe("");
  });

  it.each([
    ["src/a.py", "class A:\n    def f(self):\n        return OP\n\ndef g():\n    return 1\n", "A.f"],
    ["src/a.rs", "impl A {\n    fn f(&self) -> u8 {\n        OP\n    }\n}\nfn g() {}\n", "A.f"],
    ["src/a.go", "func f() int {\n  return OP\n}\n", ""],
    ["src/a.jsx", "export default class A {\n  f() {\n    return <b>OP</b>;\n  }\n}\n", "A.f"],
    ["src/a.js", "const x = 1;\nexports.f = function () {\n  return OP;\n};\n", "exports.f"],
  ])("names the symbol that was changed in %s", async (name, text, symbol) => {
    const [before, after] = ["1 - 1", "1 + 1"].map((by) => ({ [name]: text.replace("OP", by) })) as [Files, Files];
    await did("used a plus", before, after, { failures: [failing("adds")] });
    put(before);
    expect(await memoryOf().recall([failing("adds")])).toContain(`(${symbol === "" ? name : `${name}#${symbol}`})`);
  });

  it("sets a broken file aside and goes on with a new one", async () => {
    writeFileSync(
      join(folder, ".ralph/memory.db"),
      "this is no database at all, but long enough to be looked at\n".repeat(20),
    );
    const warnings: string[] = [];
    const fixes = memoryOf(warnings);
    expect(await fixes.recall([failing("adds")])).toBe("");
    await did("used a plus", { [file]: source("a - b") }, { [file]: source("a + b") }, { failures: [failing("adds")] });
    put({ [file]: source("a - b") });
    expect(await fixes.recall([failing("adds")])).toContain("used a plus");
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toMatch(/was broken; it is kept as .*memory\.db\.broken-\d+, and a new one is begun/);
    expect(readdirSync(join(folder, ".ralph")).some((name) => name.startsWith("memory.db.broken-"))).toBe(true);
  });

  it("goes on without a memory where there can't be one, and says so once", async () => {
    rmSync(join(folder, ".ralph"), { recursive: true });
    writeFileSync(join(folder, ".ralph"), "a file");
    const warnings: string[] = [];
    const fixes = memoryOf(warnings);
    expect([await fixes.recall([failing("adds")]), await fixes.recall([failing("waits")])]).toEqual(["", ""]);
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toContain("goes on without");
  });
});
