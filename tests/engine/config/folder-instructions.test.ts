import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { folderInstructions } from "../../../src/engine/config/folder-instructions.js";
import { estimateTokens } from "../../../src/engine/lib/tokens.js";

let around: string;
let root: string;
beforeEach(() => {
  around = mkdtempSync(join(tmpdir(), "instructions-"));
  root = join(around, "repo");
  mkdirSync(join(root, "packages/a"), { recursive: true });
});
afterEach(() => rmSync(around, { recursive: true, force: true }));

const write = (name: string, text: string) => writeFileSync(join(around, name), text);
const found = async (folder = "repo/packages/a", tokens?: number) =>
  await folderInstructions(join(around, folder), tokens);

describe("the instructions of a folder", () => {
  it("are the nearest first, up to the root of the repository and not above it", async () => {
    mkdirSync(join(root, ".git"));
    write("AGENTS.md", "of nobody");
    write("repo/AGENTS.md", "of all");
    write("repo/packages/a/AGENTS.md", "of a");
    const text = await found();
    expect(text).toBe(
      '# Instructions of this project\n\n<instructions file="AGENTS.md">\nof a\n</instructions>\n\n<instructions file="../../AGENTS.md">\nof all\n</instructions>\n\n',
    );
  });

  it("are those of CLAUDE.md only where it alone is there, and of the folder alone outside of a repository", async () => {
    write("repo/AGENTS.md", "of all");
    write("repo/packages/a/CLAUDE.md", "of Claude");
    expect(await found()).toContain('<instructions file="CLAUDE.md">\nof Claude\n');
    expect(await found()).not.toContain("of all");
    write("repo/packages/a/AGENTS.md", "of a");
    expect(await found()).not.toContain("of Claude");
    expect(await found("repo/packages")).toBe("");
  });

  it("are bounded, whole sections first, and what is left out is named", async () => {
    write("repo/AGENTS.md", `# One\nshort\n# Two\n${"long ".repeat(9_000)}\n# Three\nshort too\n`);
    const text = await found("repo");
    expect(estimateTokens(text)).toBeLessThanOrEqual(1_500);
    expect(text).toMatch(/# One\nshort\n\n# Three\nshort too\n\n\(Left out of AGENTS\.md for length: "Two"\.\)/);
    expect(await found("repo", 50)).toBe("");
  });

  it("are no file that a link leads to outside, and another encoding is told", async () => {
    write("secret.txt", "secret");
    symlinkSync(join(around, "secret.txt"), join(root, "AGENTS.md"));
    expect(await found("repo")).toBe("");
    writeFileSync(join(root, "packages/a/AGENTS.md"), Buffer.from([0xe9, 0x20]));
    await expect(found()).rejects.toThrow(/AGENTS\.md is not UTF-8; save it as UTF-8/);
  });
});
