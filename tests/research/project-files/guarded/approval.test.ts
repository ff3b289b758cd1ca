import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { approveCommand } from "../../../../src/commands/setup/approve.js";
import { defaultStateDir } from "../../../../src/engine/config/state-dir.js";
import { acquireLock } from "../../../../src/engine/storage/lock.js";
import { editFile, realFile } from "../../../../src/engine/storage/guard/held-edits.js";
import { waitingEdits } from "../../../../src/research/project-files/guarded/guarded-files.js";
import { guardFiles } from "../../../support/projects/guarded-project.js";
import { agentsFile } from "../../../../src/research/workflow/brief/about-research.js";
import { agreedPrompt } from "../../../../src/research/workflow/brief/prompt-file.js";
import { readPatterns } from "../../../../src/research/project-files/progress-log.js";
import { fakeIo } from "../../../engine/ui/fake-io.js";
import { sampleRrd, temporaryFolder, writeRrd } from "../../../support/folders.js";

/** A project in a folder with its instructions, beside which agents work that nothing confines. */
function beside() {
  const root = temporaryFolder();
  const folder = join(root, "researches", "hands-2026-01-01");
  const stateDir = defaultStateDir({}, root);
  mkdirSync(join(folder, ".ralph"), { recursive: true });
  writeRrd(folder, sampleRrd(3));
  const [agents, prompt, log] = [join(root, "AGENTS.md"), join(root, "prompt.md"), join(folder, "progress.txt")];
  writeFileSync(agents, "# Lessons\n\nBe exact.\n");
  writeFileSync(prompt, "# COMMON\n\nMine.\n");
  writeFileSync(log, pattern("a", "Read the appendix."));
  let iteration = 0;
  /** What is told after an agent has done this. */
  const agentDoes = async (deed: () => unknown) => {
    const guard = await guardFiles({
      folder,
      root,
      configs: [],
      stateDir,
      iteration: (iteration += 1),
      memory: new Map(),
    });
    await deed();
    return guard.undoTampering("the agent");
  };
  const command = (reject = false) => {
    const io = fakeIo({ cwd: root, env: { HOME: root, RESEARCH_RALPH_TRUST: "true" } });
    return approveCommand({ folder, reject, json: false }, io).then(() => io.err());
  };
  const lessons = () => agentsFile(root, stateDir, 1_000);
  const patterns = async () => (await readPatterns(folder, stateDir)).map(({ text }) => text);
  const waiting = async () => (await waitingEdits(folder, root, stateDir)).map(({ path }) => path);
  return { root, folder, stateDir, agents, prompt, log, agentDoes, command, lessons, patterns, waiting };
}

const pattern = (unit: string, text: string) => `---\n\n**Research Patterns:**\n- (${unit}) ${text}\n\n`;
const old = "# Lessons\n\nBe exact.\n";
const more = `${old}Always give 5.\n`;

describe("an edit of what instructs agents, made while an agent ran that nothing confines,", () => {
  it("stays, is told with its difference, and reaches briefs after a yes", async () => {
    const { agents, prompt, agentDoes, command, lessons, root, stateDir, waiting } = beside();
    const said = await agentDoes(() => {
      writeFileSync(agents, more);
      rmSync(prompt);
      writeFileSync(join(root, "CLAUDE.md"), "Always give 5.\n");
    });
    expect(said).toHaveLength(3);
    expect(said[0]).toMatch(
      /^AGENTS\.md changed while the agent ran unconfined .*\(\+ "Always give 5\."\).* research-ralph trust \S+ --edits/,
    );
    expect(readFileSync(agents, "utf8")).toBe(more);
    expect(await lessons()).not.toContain("Always");
    expect(await agreedPrompt(root, stateDir)).toContain("Mine.");
    // Further agents change nothing of that.
    expect(await agentDoes(() => undefined)).toEqual([]);
    expect(await waiting()).toHaveLength(3);
    expect(await command()).toContain("AGENTS.md, CLAUDE.md, prompt.md: approved");
    expect([await waiting(), await agreedPrompt(root, stateDir)]).toEqual([[], undefined]);
    expect(await lessons()).toContain("Always give 5.");
    expect(await command()).toContain("No edit");
  });

  it("is taken back by a no, and the edited file is kept", async () => {
    const { agents, folder, root, agentDoes, command, waiting } = beside();
    await agentDoes(() => {
      writeFileSync(agents, more);
      writeFileSync(join(root, "CLAUDE.md"), "Always give 5.\n");
    });
    await command(true);
    expect([readFileSync(agents, "utf8"), existsSync(join(root, "CLAUDE.md"))]).toEqual([old, false]);
    expect(readFileSync(join(folder, ".ralph/set-aside/rejected/AGENTS.md"), "utf8")).toBe(more);
    expect(await waiting()).toEqual([]);
  });

  it("waits no longer once the file is as before, by the agent or by hand", async () => {
    const { agents, agentDoes, lessons, waiting } = beside();
    await agentDoes(() => writeFileSync(agents, more));
    expect(await agentDoes(() => writeFileSync(agents, old))).toEqual([]);
    expect(await waiting()).toEqual([]);
    await agentDoes(() => writeFileSync(agents, more));
    writeFileSync(agents, old);
    expect(await waiting()).toEqual([]);
    // What a person writes while no agent runs is theirs.
    writeFileSync(agents, "Mine.\n");
    expect(await lessons()).toBe("Mine.");
    expect(await agentDoes(() => undefined)).toEqual([]);
  });

  it("waits with what the agent of a later iteration adds to it", async () => {
    const { agents, agentDoes, command, lessons } = beside();
    await agentDoes(() => writeFileSync(agents, more));
    expect(await agentDoes(() => writeFileSync(agents, "Forged.\n"))).toHaveLength(1);
    expect(await lessons()).toContain("Be exact.");
    await command(true);
    expect(readFileSync(agents, "utf8")).toBe(old);
  });

  it("is agreed to by a yes said while an agent runs, which covers nothing that the agent writes after it", async () => {
    const { agents, agentDoes, command, lessons, waiting } = beside();
    await agentDoes(() => writeFileSync(agents, more));
    expect(await agentDoes(() => command())).toEqual([]);
    expect([await waiting(), await lessons()]).toEqual([[], expect.stringContaining("Always give 5.")]);
    await agentDoes(() => writeFileSync(agents, "One.\n"));
    const said = await agentDoes(async () => {
      await command();
      writeFileSync(agents, "Two.\n");
    });
    expect([said.length, await lessons()]).toEqual([1, "One."]);
  });

  it("is not agreed to by an agent: what it does to the records is undone", async () => {
    const { agents, stateDir, agentDoes, lessons, waiting } = beside();
    await agentDoes(() => writeFileSync(agents, more));
    const [path, record] = [realFile(agents), editFile(stateDir, realFile(agents))];
    for (const deed of [
      () => rmSync(record),
      () => writeFileSync(record, JSON.stringify({ path, agent: "x", before: more })),
      () => writeFileSync(record, JSON.stringify({ path, agent: "x", before: more, signature: "0".repeat(64) })),
    ]) {
      expect(await agentDoes(deed)).toEqual([expect.stringContaining("the record of edits")]);
      expect([await waiting(), await lessons()]).toEqual([[path], expect.not.stringContaining("Always")]);
    }
  });

  it("is none where a link was put in its place; a link of the person's is followed", async () => {
    const { agents, root, agentDoes, lessons } = beside();
    const other = join(root, "other.md");
    writeFileSync(other, "mine");
    const said = await agentDoes(() => (rmSync(agents), symlinkSync(other, agents)));
    expect(said).toEqual([expect.stringMatching(/^AGENTS\.md changed .* was restored/)]);
    expect(await lessons()).toContain("Be exact.");
    rmSync(agents);
    symlinkSync(other, agents);
    expect(await agentDoes(() => writeFileSync(other, "forged"))).toEqual([
      expect.stringMatching(/^other\.md changed/),
    ]);
    expect(await lessons()).toBe("mine");
  });
});

describe("lines added to the log while an agent ran that nothing confines", () => {
  it("stay, and reach briefs after a yes; what research-ralph adds behind them is read at once", async () => {
    const { log, agentDoes, command, patterns } = beside();
    const before = readFileSync(log, "utf8");
    const said = await agentDoes(() => writeFileSync(log, before + pattern("b", "Always give 5.")));
    expect(said).toEqual([expect.stringMatching(/^progress\.txt changed .*Always give 5/)]);
    writeFileSync(log, readFileSync(log, "utf8") + pattern("c", "Mind the units."));
    expect(await patterns()).toEqual(["Read the appendix.", "Mind the units."]);
    await agentDoes(() => writeFileSync(log, pattern("d", "Planted.") + readFileSync(log, "utf8")));
    expect(await patterns()).toEqual(["Read the appendix.", "Mind the units."]);
    await command();
    expect((await patterns()).toSorted()).toEqual([
      "Always give 5.",
      "Mind the units.",
      "Planted.",
      "Read the appendix.",
    ]);
    expect(await agentDoes(() => undefined)).toEqual([]);
  });

  it("are taken out by a no, though not while a run writes there", async () => {
    const { folder, log, agentDoes, command, waiting } = beside();
    const before = readFileSync(log, "utf8");
    await agentDoes(() => writeFileSync(log, before + pattern("b", "Always give 5.")));
    const lock = await acquireLock(join(folder, ".ralph/lock"), { subject: "It" });
    await expect(command(true)).rejects.toThrow("is in use");
    await lock.release();
    await command(true);
    expect([readFileSync(log, "utf8"), await waiting()]).toEqual([before, []]);
  });

  it("that change others are put back", async () => {
    const { log, agentDoes } = beside();
    const before = readFileSync(log, "utf8");
    expect(await agentDoes(() => writeFileSync(log, `${before.replace("appendix", "abstract")}More.\n`))).toEqual([
      expect.stringMatching(/^progress\.txt changed .* was restored/),
    ]);
    expect(readFileSync(log, "utf8")).toBe(before);
  });
});

it("an AGENTS.md that can't be read as UTF-8 is told of; a missing one, and a pipe, are empty", async () => {
  const { agents, lessons } = beside();
  for (const bytes of [Buffer.from("Be naïve.", "latin1"), Buffer.from("Be exact.", "utf16le")]) {
    writeFileSync(agents, bytes);
    await expect(lessons()).rejects.toThrow(`${agents} is not UTF-8; save it as UTF-8 in your editor.`);
  }
  rmSync(agents);
  expect(await lessons()).toBe("");
  mkdirSync(agents);
  await expect(lessons()).rejects.toThrow(`${agents} is a folder where a file belongs; move it away.`);
  rmSync(agents, { recursive: true });
  execFileSync("mkfifo", [agents]);
  expect(await lessons()).toBe("");
});

it("a prompt.md in another encoding is told of, and a byte order mark is no part of one", async () => {
  const { root, prompt } = beside();
  writeFileSync(prompt, "\uFEFF# ANALYSIS\n");
  expect(await agreedPrompt(root, join(root, "state"))).toBe("# ANALYSIS\n");
  writeFileSync(prompt, Buffer.from("# ANALYSIS\nBe naïve.\n", "latin1"));
  await expect(agreedPrompt(root, join(root, "state"))).rejects.toThrow(
    `${prompt} is not UTF-8; save it as UTF-8 in your editor.`,
  );
});
