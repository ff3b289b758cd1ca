import { appendFileSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { main } from "../../../src/commands/main.js";
import { runProcess } from "../../../src/engine/process/run-process.js";
import type { Io } from "../../../src/engine/ui/io.js";
import { scriptedKeyboard } from "../../engine/ui/scripted-keyboard.js";
import { unitAgent, withUnitAgent } from "../../support/processes/command-agents.js";
import { ioIn } from "../../support/processes/in-process.js";
import { sampleResearch } from "../../support/projects/research-folder.js";
import { work } from "../../support/processes/unit-agent.mjs";

let cwd: string;
beforeEach(() => {
  cwd = realpathSync(mkdtempSync(join(tmpdir(), "approve-")));
  sampleResearch(cwd);
  writeFileSync(join(cwd, "AGENTS.md"), "# Mine\n\n- Read tables.\n");
});
afterEach(() => rmSync(cwd, { recursive: true, force: true }));

const edit = "- Read appendices first.";

/** A run of three iterations on a terminal: while the first agent works, AGENTS.md is edited; the second one waits. */
function running() {
  const keys = scriptedKeyboard();
  const briefs: string[] = [];
  let goOn = (): void => undefined;
  const gate = new Promise<void>((resolve) => (goOn = resolve));
  const runProgram: Io["runProgram"] = async function* (request) {
    if (`cmd:${request.args[1]}` !== unitAgent) return yield* runProcess(request);
    briefs.push(request.stdin);
    if (briefs.length === 1) appendFileSync(join(cwd, "AGENTS.md"), `${edit}\n`);
    if (briefs.length === 2) await gate;
    yield* work(request.stdin, request.cwd, request.env);
    return { cause: "exited", exitCode: 0, stderr: "" };
  };
  const io = ioIn(cwd, {}, { isTTY: true, keyboard: keys, runProgram, columns: 100 });
  const code = main(["run", ...withUnitAgent, "-i", "3"], io, "0.0.0");
  const shows = (text: string) => expect.poll(() => io.err().replace(/\s+/g, " ")).toContain(text);
  return { keys, briefs, code, shows, goOn };
}

test("key a in the live view shows an edit of AGENTS.md, y approves it, and the next brief has it", async () => {
  const { keys, briefs, code, shows, goOn } = running();
  await shows("The edit of AGENTS.md waits for your approval · a: show it");
  keys.press("a");
  await shows(`+ ${edit}`);
  // The brief of the second iteration is made by then; an answer before would count for it.
  await expect.poll(() => briefs.length).toBe(2);
  await shows("Let briefs use this AGENTS.md? n takes the edit back. y/n, Esc: later");
  keys.press("y");
  await shows("AGENTS.md: approved, from the next iteration on.");
  await expect.poll(() => keys.isRead()).toBe(false);
  goOn();
  expect(await code).toBe(3);
  expect(briefs.map((brief) => brief.includes(edit))).toEqual([false, false, true]);
  expect(readFileSync(join(cwd, "AGENTS.md"), "utf8")).toContain(edit);
});

test("n takes it back, and no brief ever has it", async () => {
  const { keys, briefs, code, shows, goOn } = running();
  await shows("a: show it");
  keys.press("a", "n");
  await shows("AGENTS.md: the edit is undone, from the next iteration on.");
  goOn();
  expect(await code).toBe(3);
  expect(briefs.map((brief) => brief.includes(edit))).toEqual([false, false, false]);
  expect(readFileSync(join(cwd, "AGENTS.md"), "utf8")).toBe("# Mine\n\n- Read tables.\n");
});

test("where nobody answers it waits, and no brief has it", async () => {
  const { briefs, code, shows, goOn } = running();
  await shows("a: show it");
  goOn();
  expect(await code).toBe(3);
  expect(briefs.map((brief) => brief.includes(edit))).toEqual([false, false, false]);
  expect(readFileSync(join(cwd, "AGENTS.md"), "utf8")).toContain(edit);
});
