import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { execa } from "execa";
import { afterEach, beforeEach, describe, expect, test } from "vitest";

const root = fileURLToPath(new URL("../..", import.meta.url));
/** Each start of the linter takes most of a second, so all that it must report is planted at once. */
let house: string;

beforeEach(() => {
  house = mkdtempSync(join(tmpdir(), "house-"));
  // There are no packages there: a link to them would be linted too.
  const own = readFileSync(join(root, ".oxlintrc.json"), "utf8");
  const plugin = JSON.stringify(join(root, "node_modules/eslint-plugin-regexp/dist/index.js"));
  writeFileSync(join(house, ".oxlintrc.json"), own.replace('"eslint-plugin-regexp"', plugin));
  cpSync(join(root, "scripts/lint"), join(house, "scripts/lint"), { recursive: true });
});
afterEach(() => rmSync(house, { recursive: true, force: true }));

function plant(path: string, text: string): void {
  mkdirSync(dirname(join(house, path)), { recursive: true });
  writeFileSync(join(house, path), text);
}

/** What the project's own lint configuration says of the planted files: "file:line: rule: message". */
async function lint(): Promise<string[]> {
  const { stdout } = await execa(process.execPath, [join(root, "node_modules/oxlint/bin/oxlint"), "--format", "json"], {
    cwd: house,
    reject: false,
  });
  const { diagnostics } = JSON.parse(stdout) as {
    diagnostics: { code: string; message: string; filename: string; labels: { span: { line: number } }[] }[];
  };
  return diagnostics.map(
    ({ code, message, filename, labels }) => `${filename}:${labels[0]?.span.line}: ${code}: ${message}`,
  );
}

const use = (specifier: string) => `import { thing } from "${specifier}";\n\nexport const use = thing;\n`;
const given = "export const thing = 1;\n";

/** Each planted import, with the file that it reaches. */
const forbidden: [what: string, file: string, imports: string, target: string][] = [
  ["the engine imports a tenant", "src/engine/storage/a.ts", "../../research/papers/b.js", "src/research/papers/b.ts"],
  [
    "the engine imports a tenant's types",
    "src/engine/loop/a.ts",
    "../../research/generated/rrd.js",
    "src/research/generated/rrd.ts",
  ],
  ["a tenant imports another", "src/task/a.ts", "../research/papers/b.js", "src/research/papers/b.ts"],
  ["the engine imports the composition root", "src/engine/agents/a.ts", "../../compose/b.js", "src/compose/b.ts"],
  ["an agent imports the sinks", "src/engine/agents/a.ts", "../ui/b.js", "src/engine/ui/b.ts"],
  [
    "an adapter imports its sibling",
    "src/engine/agents/claude/claude.ts",
    "../codex/codex.js",
    "src/engine/agents/codex/codex.ts",
  ],
  [
    "an adapter of one file imports its sibling",
    "src/engine/agents/amp.ts",
    "./claude/stream.js",
    "src/engine/agents/claude/stream.ts",
  ],
  [
    "an adapter imports the registry",
    "src/engine/agents/codex/codex.ts",
    "../registry.js",
    "src/engine/agents/registry.ts",
  ],
  ["lib imports the storage", "src/engine/lib/a.ts", "../storage/b.js", "src/engine/storage/b.ts"],
  [
    "the loop imports anything but its words",
    "src/engine/loop/run-loop.ts",
    "./stop-conditions/limits.js",
    "src/engine/loop/stop-conditions/limits.ts",
  ],
  ["the loop imports a library of ours", "src/engine/loop/run-loop.ts", "../lib/errors.js", "src/engine/lib/errors.ts"],
  ["a sink imports a command", "src/engine/ui/a.ts", "../../commands/b.js", "src/commands/b.ts"],
  ["the composition root imports a command", "src/compose/a.ts", "../commands/b.js", "src/commands/b.ts"],
  ["a command imports the command line", "src/commands/a.ts", "../cli.js", "src/cli.ts"],
  ["papers import the workflow", "src/research/papers/a.ts", "../workflow/b.js", "src/research/workflow/b.ts"],
  [
    "a kind of unit imports its sibling",
    "src/research/units/reading/a.ts",
    "../report/b.js",
    "src/research/units/report/b.ts",
  ],
  [
    "a kind of unit imports the list of all",
    "src/research/units/ideas/a.ts",
    "../kinds.js",
    "src/research/units/kinds.ts",
  ],
  [
    "what is derived from the state imports a kind of unit",
    "src/research/derived/a.ts",
    "../units/b.js",
    "src/research/units/b.ts",
  ],
  [
    "a folder of the workflow imports its roof",
    "src/research/workflow/steering/a.ts",
    "../b.js",
    "src/research/workflow/b.ts",
  ],
  [
    "the assistant's tools import its dialogue",
    "src/assistant/tools/a.ts",
    "../dialogue/b.js",
    "src/assistant/dialogue/b.ts",
  ],
  ["the assistant's settings import the program", "src/assistant/settings.ts", "./main.js", "src/assistant/main.ts"],
  [
    "a folder of the workflow without a place is imported",
    "src/research/workflow/a.ts",
    "./attic/b.js",
    "src/research/workflow/attic/b.ts",
  ],
  ["a folder without a place is imported", "src/research/workflow/a.ts", "../attic/b.js", "src/research/attic/b.ts"],
  ["a wing without a floor is imported", "src/commands/a.ts", "../attic/b.js", "src/attic/b.ts"],
];

/** Each form of an import, on its first line. */
const forms: [what: string, text: string][] = [
  ["import()", 'export const load = async () => await import("../../research/b.js");\n'],
  ["export … from", 'export { thing } from "../../research/b.js";\n'],
  ["export * from", 'export * from "../../research/b.js";\n'],
  ["import type", 'import type { thing } from "../../research/b.js";\n\nexport type Use = typeof thing;\n'],
  ["a type's import()", 'export type Use = import("../../research/b.js").Thing;\n'],
];

describe("imports point down only", () => {
  test("the linter reports each that does not, in whatever form it is written, and a circle", async () => {
    // By the file and line of the planted import: files hold several.
    const planted = new Map<string, string[]>();
    const expected: [what: string, place: string][] = [];
    for (const [what, file, specifier, target] of forbidden) {
      const lines = planted.get(file) ?? [];
      lines.push(`import { thing as thing${lines.length} } from "${specifier}";`);
      planted.set(file, lines);
      expected.push([what, `${file}:${lines.length}: house(import-directions)`]);
      plant(target, given);
    }
    for (const [file, lines] of planted)
      plant(
        file,
        `${lines.join("\n")}\n\nexport const use = [${lines.map((_, index) => `thing${index}`).join(", ")}];\n`,
      );
    for (const [index, [what, text]] of forms.entries()) {
      plant(`src/engine/lib/form-${index}.ts`, text);
      expected.push([what, `src/engine/lib/form-${index}.ts:1: house(import-directions)`]);
    }
    plant("src/research/b.ts", `${given}export type Thing = number;\n`);
    plant("src/engine/lib/circle-a.ts", `${use("./circle-b.js")}export const other = 1;\n`);
    plant(
      "src/engine/lib/circle-b.ts",
      'import { other } from "./circle-a.js";\n\nexport const thing = () => other;\n',
    );

    const said = await lint();
    expect(expected.filter(([, place]) => !said.some((line) => line.startsWith(place)))).toEqual([]);
    expect(said).toContainEqual(expect.stringMatching(/circle-.*no-cycle/));
    // Nothing but what was planted, so that a report is the one meant.
    expect(said.filter((line) => line.includes("house(import-directions)"))).toHaveLength(expected.length);
  });

  test("what points down passes", async () => {
    plant("src/commands/a.ts", use("../compose/b.js"));
    plant("src/compose/b.ts", use("../engine/agents/registry.js"));
    plant("src/engine/agents/registry.ts", use("./claude/claude.js"));
    plant("src/engine/agents/claude/claude.ts", use("./stream.js"));
    plant("src/engine/agents/claude/stream.ts", use("../definition.js"));
    plant("src/engine/agents/definition.ts", use("../loop/types.js"));
    plant("src/research/project-files/a.ts", use("../generated/rrd.js"));
    plant("src/research/generated/rrd.ts", given);
    plant("src/research/workflow/a.ts", use("./brief/b.js"));
    plant("src/research/workflow/brief/b.ts", use("../../units/reading/c.js"));
    plant("src/research/units/reading/c.ts", use("../unit-kind.js"));
    plant("src/research/units/unit-kind.ts", given);
    plant("src/code/a.ts", use("../task/criteria.js"));
    plant("src/task/criteria.ts", use("../engine/storage/lock.js"));
    plant("src/engine/storage/lock.ts", given);
    plant("src/engine/loop/run-loop.ts", use("./types.js"));
    plant("src/engine/loop/types.ts", given);

    expect(await lint()).toEqual([]);
  });
});
