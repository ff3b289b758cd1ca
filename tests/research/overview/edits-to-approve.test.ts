import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { markVariable } from "../../../src/engine/process/descendants.js";
import { realFile, recordEdit } from "../../../src/engine/storage/guard/held-edits.js";
import { waitingEdits } from "../../../src/research/project-files/guarded/guarded-files.js";
import { editsToApprove } from "../../../src/research/overview/edits-to-approve.js";
import { temporaryFolder } from "../../support/folders.js";

/** A project beside whose AGENTS.md an edit waits. */
async function waitingEdit() {
  const root = temporaryFolder();
  const [folder, stateDir] = [join(root, "researches", "hands-2026-01-01"), join(root, "state")];
  mkdirSync(join(folder, ".ralph"), { recursive: true });
  const file = join(root, "AGENTS.md");
  writeFileSync(file, "# Lessons\n\nBe exact.\nAlways give 5.\n\u001b[2JBe kind.\n");
  const edit = { path: realFile(file), agent: "cmd:x", before: "# Lessons\n\nBe exact.\nBe kind.\n" };
  await recordEdit(stateDir, edit);
  const questions = editsToApprove(folder, stateDir, { cwd: root, env: {} });
  const waiting = async () => (await waitingEdits(folder, root, stateDir)).length;
  return { file, questions, waiting, root, folder, stateDir, edit };
}

it("what waits is asked with its whole difference, and a yes lets briefs use it", async () => {
  const { questions, waiting, file } = await waitingEdit();
  const question = await questions?.();
  expect(question?.subject).toBe("The edit of AGENTS.md");
  expect(question?.answerCommand).toBe("research-ralph trust hands-2026-01-01 --edits");
  expect(question?.detailLines.slice(1)).toEqual(["- Be kind.", "+ Always give 5.", "+ \u001b[2JBe kind."]);
  expect(await question?.answer(true)).toBe("AGENTS.md: approved, from the next iteration on.");
  expect([await waiting(), await questions?.()]).toEqual([0, undefined]);
  expect(readFileSync(file, "utf8")).toContain("Always give 5.");
});

it("a no takes it back", async () => {
  const { questions, waiting, file, edit } = await waitingEdit();
  expect(await (await questions?.())?.answer(false)).toBe("AGENTS.md: the edit is undone, from the next iteration on.");
  expect(await waiting()).toBe(0);
  expect(readFileSync(file, "utf8")).toBe(edit.before);
});

it("nothing is decided on what has changed since it was shown, or waits no more", async () => {
  const { questions, waiting, file, edit } = await waitingEdit();
  const shown = await questions?.();
  writeFileSync(file, `${edit.before}Give everything 5.\n`);
  expect(await shown?.answer(true)).toMatch(/^AGENTS\.md has changed since it was shown/);
  expect(await waiting()).toBe(1);
  const again = await questions?.();
  expect(again?.detailLines.slice(1)).toEqual(["+ Give everything 5."]);
  writeFileSync(file, edit.before);
  expect(await again?.answer(false)).toBe("AGENTS.md: nothing waits any more.");
  expect(existsSync(file)).toBe(true);
});

it("an agent is not asked", async () => {
  const { folder, stateDir, root } = await waitingEdit();
  expect(editsToApprove(folder, stateDir, { cwd: root, env: { [markVariable]: "x" } })).toBeUndefined();
});
