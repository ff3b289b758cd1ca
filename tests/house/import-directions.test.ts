import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { execa } from "execa";
import { afterEach, beforeEach, describe, expect, test } from "vitest";

const root = fileURLToPath(new URL("../..", import.meta.url));
let house: string;

beforeEach(() => {
  house = mkdtempSync(join(tmpdir(), "house-"));
  cpSync(join(root, ".oxlintrc.json"), join(house, ".oxlintrc.json"));
  cpSync(join(root, "scripts/lint"), join(house, "scripts/lint"), { recursive: true });
});
afterEach(() => rmSync(house, { recursive: true, force: true }));

function plant(path: string, text: string): void {
  mkdirSync(dirname(join(house, path)), { recursive: true });
  writeFileSync(join(house, path), text);
}

/** Messages of the project's own lint configuration on the planted files. */
async function lint(): Promise<string[]> {
  const { stdout } = await execa(process.execPath, [join(root, "node_modules/oxlint/bin/oxlint"), "--format", "json"], { cwd: house, reject: false });
  const { diagnostics } = JSON.parse(stdout) as { diagnostics: { code: string; message: string; filename: string }[] };
  return diagnostics.map(({ code, message, filename }) => `${filename}: ${code}: ${message}`);
}

const use = (specifier: string) => `import { thing } from "${specifier}";\n\nexport const use = thing;\n`;
const given = "export const thing = 1;\n";

/** Each planted import, with the file that it reaches. */
const forbidden: [what: string, file: string, imports: string, target: string][] = [
  ["the store imports a workflow", "src/store/a.ts", "../workflows/research/b.js", "src/workflows/research/b.ts"],
  ["a workflow imports an agent", "src/workflows/research/a.ts", "../../agents/b.js", "src/agents/b.ts"],
  ["an agent imports a workflow", "src/agents/a.ts", "../workflows/b.js", "src/workflows/b.ts"],
  ["an adapter imports its sibling", "src/agents/claude.ts", "./codex.js", "src/agents/codex.ts"],
  ["a part of an adapter imports another adapter", "src/agents/baseline/a.ts", "../codex.js", "src/agents/codex.ts"],
  ["an adapter imports a part of its sibling", "src/agents/claude.ts", "./codex-stream.js", "src/agents/codex-stream.ts"],
  ["an adapter imports the registry", "src/agents/claude.ts", "./registry.js", "src/agents/registry.ts"],
  ["lib imports the store", "src/lib/a.ts", "../store/b.js", "src/store/b.ts"],
  ["the loop imports anything but its words", "src/loop/run-loop.ts", "./guards.js", "src/loop/guards.ts"],
  ["the loop imports a library of ours", "src/loop/run-loop.ts", "../lib/errors.js", "src/lib/errors.ts"],
  ["a sink imports a command", "src/ui/a.ts", "../commands/b.js", "src/commands/b.ts"],
  ["the composition root imports a command", "src/compose.ts", "./commands/b.js", "src/commands/b.ts"],
  ["a command imports the command line", "src/commands/a.ts", "../cli.js", "src/cli.ts"],
  ["a room nobody gave a floor is imported", "src/commands/a.ts", "../attic/b.js", "src/attic/b.ts"],
];

describe("imports point down only", () => {
  test.each(forbidden)("the linter reports it when %s", async (_what, file, specifier, target) => {
    plant(file, use(specifier));
    plant(target, given);

    expect(await lint()).toContainEqual(expect.stringContaining("house(import-directions)"));
  });

  test.each([
    ["import()", 'export const load = async () => await import("../workflows/b.js");\n'],
    ["export … from", 'export { thing } from "../workflows/b.js";\n'],
    ["export * from", 'export * from "../workflows/b.js";\n'],
    ["import type", 'import type { thing } from "../workflows/b.js";\n\nexport type Use = typeof thing;\n'],
    ["a type's import()", 'export type Use = import("../workflows/b.js").Thing;\n'],
  ])("%s is an import too", async (_kind, text) => {
    plant("src/store/a.ts", text);
    plant("src/workflows/b.ts", `${given}export type Thing = number;\n`);

    expect(await lint()).toContainEqual(expect.stringContaining("house(import-directions)"));
  });

  test("a file in a circle of imports is reported", async () => {
    plant("src/store/a.ts", `${use("./b.js")}export const other = 1;\n`);
    plant("src/store/b.ts", 'import { other } from "./a.js";\n\nexport const thing = () => other;\n');

    expect(await lint()).toContainEqual(expect.stringContaining("no-cycle"));
  });

  test("what points down passes", async () => {
    plant("src/commands/a.ts", use("../compose.js"));
    plant("src/compose.ts", use("./agents/registry.js"));
    plant("src/agents/registry.ts", use("./claude.js"));
    plant("src/agents/claude.ts", use("./claude-stream.js"));
    plant("src/agents/claude-stream.ts", use("./definition.js"));
    plant("src/agents/definition.ts", use("../loop/types.js"));
    plant("src/store/a.ts", use("../generated/rrd.js"));
    plant("src/generated/rrd.ts", given);
    plant("src/loop/run-loop.ts", use("./types.js"));
    plant("src/loop/types.ts", given);

    expect(await lint()).toEqual([]);
  });
});
