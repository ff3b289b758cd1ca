import { spawn } from "node:child_process";
import { chmodSync, cpSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { execa } from "execa";
import ts from "typescript";
import { beforeAll, describe, expect, test } from "vitest";
import { packageFile } from "../../../src/engine/lib/package-root.js";
import { run, sharedPackage } from "../../support/processes/built.js";
import { freshFolder } from "../../support/projects/research-folder.js";

/** The program of the page, which is kept nowhere else. */
const page = readFileSync(packageFile("docs/loop.md"), "utf8");
const program = /^```ts\n([\s\S]*?)^```$/m.exec(page)?.[1] ?? "";

/** A folder in which the packed package is installed. */
let home: string;

beforeAll(async () => {
  home = freshFolder();
  const stage = join(freshFolder(), "package");
  for (const file of ["package.json", "schemas", "bin"])
    cpSync(packageFile(file), join(stage, file), { recursive: true });
  cpSync(join(await sharedPackage(), "dist"), join(stage, "dist"), { recursive: true });
  const { stdout } = await execa("npm", ["pack", "--json", "--ignore-scripts", "--pack-destination", home], {
    cwd: stage,
  });
  const [{ filename }] = JSON.parse(stdout) as [{ filename: string }];
  const installed = join(home, "node_modules/research-ralph");
  mkdirSync(installed, { recursive: true });
  await execa("tar", ["-xzf", join(home, filename), "-C", installed, "--strip-components=1"]);
  const { dependencies } = JSON.parse(readFileSync(join(installed, "package.json"), "utf8")) as {
    dependencies: Record<string, string>;
  };
  for (const name of [...Object.keys(dependencies), "@types"]) {
    mkdirSync(dirname(join(home, "node_modules", name)), { recursive: true });
    symlinkSync(packageFile("node_modules", name), join(home, "node_modules", name));
  }
  const { outputText } = ts.transpileModule(program, {
    compilerOptions: { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2023 },
  });
  writeFileSync(join(home, "todo.mjs"), outputText);
});

/** A folder with a list of so many open items, and an agent of these shell lines, which finds the brief in $BRIEF. */
function workplace(items: number, worker: string): string {
  const folder = freshFolder();
  const lines = Array.from({ length: items }, (_, index) => `- [ ] item ${index + 1}`);
  writeFileSync(join(folder, "todo.md"), `# To do\n\n${lines.join("\n")}\n`);
  writeFileSync(join(folder, "worker.sh"), `#!/bin/sh\nBRIEF=$(cat)\necho start >> starts\n${worker}\n`);
  chmodSync(join(folder, "worker.sh"), 0o755);
  return folder;
}

const args = () => [join(home, "todo.mjs"), "todo.md", "cmd:./worker.sh"];
const marks = (folder: string) =>
  readFileSync(join(folder, "todo.md"), "utf8")
    .match(/^- \[.\]/gm)
    ?.join(" ");
const starts = (folder: string) => readFileSync(join(folder, "starts"), "utf8").split("\n").length - 1;

/** What the compiler says of TypeScript modules beside the installed package, whose own types it checks too. */
function diagnosticsOf(modules: Readonly<Record<string, string>>): string[] {
  for (const [name, code] of Object.entries(modules)) writeFileSync(join(home, name), code);
  const options: ts.CompilerOptions = {
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    target: ts.ScriptTarget.ES2023,
    lib: ["lib.es2023.d.ts"],
    types: ["node"],
    typeRoots: [join(home, "node_modules/@types")],
    strict: true,
    noEmit: true,
  };
  const names = Object.keys(modules).map((name) => join(home, name));
  return ts.getPreEmitDiagnostics(ts.createProgram(names, options)).map(({ file }) => basename(file?.fileName ?? ""));
}

describe("the program of the page on the loop", () => {
  test("has at most 40 lines, and its types and those of the package fit", () => {
    expect(program.split("\n").length).toBeLessThanOrEqual(41);
    expect(program).toContain('from "research-ralph/loop"');
    const wrong = program.replace('outcome: "accepted"', 'outcome: "done"');
    expect(diagnosticsOf({ "right.mts": program, "wrong.mts": wrong })).toEqual(["wrong.mts"]);
  });

  test("ends at its limit, tells the next brief of a refusal, goes on where it ended, and prints on stderr alone", async () => {
    const folder = workplace(
      6,
      'case "$BRIEF" in *"item 2"*refused*) echo DONE;; *"item 2"*) echo no;; *) echo DONE;; esac',
    );
    const first = await run(process.execPath, args(), folder);
    expect(first).toMatchObject({ code: 3, out: "" });
    expect(first.err).toContain("refused: it has no line DONE");
    expect(first.err).toContain("All 5 iterations of this run are used up; run again to continue.");
    expect(marks(folder)).toBe("- [x] - [x] - [x] - [x] - [ ] - [ ]");
    expect(await run(process.execPath, args(), folder)).toMatchObject({ code: 0, out: "" });
    expect(marks(folder)).toBe("- [x] - [x] - [x] - [x] - [x] - [x]");
    expect(starts(folder)).toBe(7);
    expect((await run(process.execPath, args(), folder)).code).toBe(0);
    expect(starts(folder)).toBe(7);
  });

  test("ends after three failures in a row, and says why", async () => {
    const folder = workplace(2, "echo broken >&2\nexit 9");
    const { code, err } = await run(process.execPath, args(), folder);
    expect(code).toBe(1);
    expect(err).toContain("three failures in a row");
    expect(starts(folder)).toBe(3);
  });

  test("finishes the iteration under way at Ctrl+C, ends it at the second, and goes on when it is started again", async () => {
    const folder = workplace(2, "while [ ! -e go ]; do sleep 0.05; done\necho DONE");
    for (const times of [2, 1]) {
      const child = spawn(process.execPath, args(), { cwd: folder, stdio: ["ignore", "ignore", "pipe"] });
      const ended = new Promise<number | null>((resolve) => void child.once("exit", resolve));
      let said = "";
      child.stderr.setEncoding("utf8").on("data", (text: string) => (said += text));
      const before = existsSync(join(folder, "starts")) ? starts(folder) : 0;
      while (!existsSync(join(folder, "starts")) || starts(folder) === before) await sleep(20);
      child.kill("SIGINT");
      while (!said.includes("press Ctrl+C again")) await sleep(20);
      if (times === 2) child.kill("SIGINT");
      else writeFileSync(join(folder, "go"), "");
      expect(await ended).toBe(130);
      expect(marks(folder)).toBe(times === 2 ? "- [ ] - [ ]" : "- [x] - [ ]");
    }
    expect((await run(process.execPath, args(), folder)).code).toBe(0);
    expect(marks(folder)).toBe("- [x] - [x]");
  });
});

describe("a mistake in a program of one's own is told", () => {
  const workflow = `{
    name: "mine",
    load: async () => 0,
    next: () => ({ kind: "k", id: "a", phase: "P", title: "A" }),
    brief: async () => ({ brief: { text: "", workspace: process.env.PLACE ?? process.cwd() } }),
    accept: async () => ({ outcome: "accepted", summary: "" }),
    progress: () => ({ done: 0, total: 1 }),
  }`;
  const agent = `{ name: "mine", confinement: "workspace", async *run() { yield { type: "end", message: "" }; } }`;

  test.each([
    ["an agent that nothing confines", 'await openAgent("cmd:true")', "{ unconfined: true }"],
    ["an unknown agent", 'await openAgent("clade")', "Did you mean claude?"],
    ["a command that is empty", 'await openAgent("cmd:", { unconfined: true })', "no command after the colon"],
    ["no job", `await runLoop(${workflow}, ${agent}, { jobs: 0 })`, "'jobs' is 0"],
    ["a unit that is named twice", `await runLoop(${workflow}, ${agent}, { jobs: 2 })`, "mine names a although"],
    ["a relative workspace", `process.env.PLACE = "x"; await runLoop(${workflow}, ${agent})`, "absolute path"],
  ])("%s", async (_, code, said) => {
    const module = `import { openAgent, runLoop } from "research-ralph/loop";
      try { ${code}; } catch (error) { console.log(error.message); }`;
    const { out, err } = await run(process.execPath, ["--input-type=module", "-e", module], home);
    expect(out).toContain(said);
    expect(err).toBe("");
  });

  test("a run that is aborted by a program of one's own is interrupted", async () => {
    const module = `import { exitCodeOf, runLoop } from "research-ralph/loop";
      const verdict = await runLoop(${workflow}, ${agent}, { finish: AbortSignal.abort() });
      console.log(verdict.verdict, exitCodeOf(verdict), verdict.signal, verdict.reason);`;
    const { out } = await run(process.execPath, ["--input-type=module", "-e", module], home);
    expect(out).toMatch(/^interrupted 130 undefined Ended by the program that started it/);
  });
});
