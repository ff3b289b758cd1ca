import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { builtInPrompt, folderPrompt, systemPrompt } from "../../../src/assistant/conversation/system-prompt.js";
import { estimateTokens } from "../../../src/engine/lib/tokens.js";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "prompt-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const all = ["file_read", "remember", "TodoWrite"];
const headings = (text: string): string[] => [...text.matchAll(/^# (\w+)$/gm)].map(([, name = ""]) => name);

describe("the built-in prompt", () => {
  it("has five parts, and as many tokens as the page says", () => {
    const prompt = builtInPrompt({ cwd: "/home/someone/work", tools: all });
    expect(headings(prompt)).toEqual(["Effort", "Context", "Tools", "Memory", "Todos"]);
    const page = readFileSync(join(import.meta.dirname, "../../../docs/assistant.md"), "utf8");
    const said = Number(/built-in prompt has about (\d+) tokens/.exec(page)?.[1]);
    expect(Math.abs(estimateTokens(prompt) - said)).toBeLessThan(15);
  });

  it("promises no tools that are not there", () => {
    expect(headings(builtInPrompt({ cwd: "/", tools: [] }))).toEqual(["Effort", "Context"]);
    expect(headings(builtInPrompt({ cwd: "/", tools: ["file_read"] }))).toEqual(["Effort", "Context", "Tools"]);
  });

  it("is followed by the settings' prompt, PROMPT.md and memories", () => {
    const prompt = systemPrompt({
      cwd: "/",
      tools: [],
      settingsPrompt: "OWN",
      promptFile: "FOLDER",
      memories: "MEMORIES",
    });
    expect(prompt).toMatch(/OWN\n\nFOLDER\n\nMEMORIES$/);
  });
});

describe("PROMPT.md", () => {
  it("is read by its exact name", async () => {
    writeFileSync(join(folder, "PROMPT.md"), "Answer in French.\n");
    expect(await folderPrompt(folder)).toBe("Answer in French.");
  });

  it.each([
    ["prompt.md", "Answer in French."],
    ["Prompt.md", "Answer in French."],
    ["PROMPT.md", "Work on {{RESEARCH_DIR}}."],
    ["PROMPT.md", "---\nworkspace: folder\n---\nDo it."],
    ["PROMPT.md", "---\ntitle: x\r\nworkspace: fresh\n---\nDo it."],
    ["PROMPT.md", "  \n"],
  ])("%s with %j says nothing to the assistant", async (name, text) => {
    writeFileSync(join(folder, name), text);
    expect(await folderPrompt(folder)).toBeUndefined();
  });

  it("that is in no folder says nothing", async () => {
    expect(await folderPrompt(join(folder, "nowhere"))).toBeUndefined();
  });

  it("that can't be read as UTF-8 is told of", async () => {
    const path = join(folder, "PROMPT.md");
    writeFileSync(path, Buffer.from("Réponds en français.", "latin1"));
    await expect(folderPrompt(folder)).rejects.toThrow(`${path} is not UTF-8; save it as UTF-8 in your editor.`);
    rmSync(path);
    mkdirSync(path);
    await expect(folderPrompt(folder)).rejects.toThrow(`${path} is a folder where a file belongs; move it away.`);
  });
});
