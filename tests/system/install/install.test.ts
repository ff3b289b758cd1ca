import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, afterEach, describe, expect, test } from "vitest";
import { packageFile } from "../../../src/engine/lib/package-root.js";
import { type FakeLlm, startFakeLlm } from "../../fixtures/fake-llm/server.js";
import { skippedFor } from "../../support/processes/bubblewrap.js";
import { run } from "../../support/processes/built.js";
import { installed, npm, quietly } from "../../support/processes/installed.js";

/** What a production install may take; docs/decisions/what-is-installed.md. */
const maxBytes = 90_000_000;
const maxPackages = 110;

const found = await installed();
const missing = "problem" in found ? found.problem : undefined;
const { folder, file } = "problem" in found ? { folder: "", file: "" } : found;
const modules = join(folder, "node_modules");
const program = (name: "cli" | "ralph") => join(modules, "research-ralph", "dist", `${name}.js`);
const home = join(folder, "home");

/** What npx keeps of this package stands in the user's cache of npm. */
afterAll(() => {
  if (file === "") return;
  const kept = join(npm(["config", "get", "cache"], folder).stdout.trim(), "_npx");
  for (const name of existsSync(kept) ? readdirSync(kept) : [])
    if (
      existsSync(join(kept, name, "package.json")) &&
      readFileSync(join(kept, name, "package.json"), "utf8").includes(file)
    )
      rmSync(join(kept, name), { recursive: true, force: true });
});

let server: FakeLlm | undefined;
afterEach(async () => {
  await server?.close();
  server = undefined;
});

describe.skipIf(missing !== undefined)(`the package, installed in an empty folder${skippedFor(missing)}`, () => {
  test(`has at most ${maxBytes} bytes by du -sb and ${maxPackages} packages, none with an install script`, () => {
    const lock = JSON.parse(readFileSync(join(modules, ".package-lock.json"), "utf8")) as {
      packages: Record<string, { hasInstallScript?: boolean }>;
    };

    expect(Number(execFileSync("du", ["-sb", modules], { encoding: "utf8" }).split("\t")[0])).toBeLessThan(maxBytes);
    expect(Object.keys(lock.packages).length).toBeGreaterThan(50);
    expect(Object.keys(lock.packages).length).toBeLessThanOrEqual(maxPackages);
    expect(Object.entries(lock.packages).filter(([, { hasInstallScript }]) => hasInstallScript === true)).toEqual([]);
  });

  test("has no package whose code is in dist/", () => {
    const licences = readFileSync(join(modules, "research-ralph/dist/LICENSES.md"), "utf8");
    const inside = [...licences.matchAll(/^## (\S+) \d\S* \(.+\)$/gm)].map(([, name = ""]) => name);

    expect(inside).toEqual(
      expect.arrayContaining(["ai", "hono", "xstate", "markdown-it", "@clack/prompts", "css-tree"]),
    );
    // One that another package brings may be of another version.
    expect(inside.filter((name) => existsSync(join(modules, name)) && name !== "entities")).toEqual([]);
  });

  test("completes the demo", async () => {
    const { code, out, err } = await run(process.execPath, [program("cli"), "demo"], home);
    expect(code, `${out}${err}`).toBe(0);
  });

  test("reads what Python and Rust import", async () => {
    const project = join(folder, "project");
    mkdirSync(project);
    writeFileSync(join(project, "grammars.mjs"), grammarsOf(modules));
    const { out, err } = await run(process.execPath, [join(project, "grammars.mjs")], project);
    expect(out, err).toBe("import_statement\nuse_declaration\n");
  });

  test.each([
    ["/v1/chat/completions", "gpt-4o-mini"],
    ["/v1/responses", "gpt-5-mini"],
    ["/v1/messages", "claude-sonnet-4-5"],
    ["/v1beta/models", "gemini-2.5-flash"],
  ])("streams answers of a model at %s, and calls the tools of MCP servers over stdio", async (path, model) => {
    const scripted = fileURLToPath(new URL("../../fixtures/mcp/server.mjs", import.meta.url));
    const mcpServers = {
      scripted: { command: process.execPath, args: [scripted, "a"] },
      papers: { command: process.execPath, args: [program("cli"), "mcp"] },
    };
    mkdirSync(join(home, ".local/ralph"), { recursive: true });
    writeFileSync(join(home, ".local/ralph/config.json"), JSON.stringify({ mcpServers }), { mode: 0o600 });
    server = await startFakeLlm(
      ({ results }) =>
        results.length === 0
          ? { tools: [{ name: "mcp_scripted_a_echo", input: { text: "from the model" } }] }
          : { text: `Heard: ${results.join()}` },
      { countsAll: true },
    );
    const args = ["--api-url", `${server.url}${path}`, "--model", model, "--yes", "Ask the server."];
    const keys = Object.fromEntries(
      ["OPENAI", "ANTHROPIC", "GOOGLE"].map((name) => [`${name}_API_KEY`, "dummy-key-of-a-test"]),
    );
    const { code, out, err } = await run(process.execPath, [program("ralph"), ...args], home, keys);

    expect(code, err).toBe(0);
    expect(out).toMatch(/^Heard: .*a: from the model/);
    const [first] = server.requests;
    expect(first?.body["stream"] === true || first?.path.includes("stream"), first?.path).toBe(true);
    expect(JSON.stringify(first?.body["tools"])).toContain("mcp_papers_search_papers");
  });
});

describe.skipIf(missing !== undefined)(`agents on other machines${skippedFor(missing)}`, () => {
  const worker = ["worker", "--agent", "claude", "--redis", "redis://127.0.0.1:1"];
  const said =
    /^research-ralph: Agents on other machines need the packages bullmq and ioredis, which are not installed; (.*)\.\n$/;
  /** The command between the marks of a sentence, as words. */
  const commandOf = (sentence: string): string[] => /`([^`]+)`/.exec(sentence)?.[1]?.split(" ") ?? [];

  test("ask a global install for their packages, and work once the command was run", async () => {
    const prefix = ["--prefix", join(folder, "global")];
    expect(npm(["install", "--global", ...prefix, ...quietly, file], folder).status).toBe(0);
    const start = () => run(join(folder, "global/bin/research-ralph"), worker, home);
    const before = await start();
    const [, how = ""] = said.exec(before.err) ?? [];
    expect(how, before.err).toMatch(/^run `npm install --global bullmq@\S+ ioredis@\S+`$/);
    expect(npm([...commandOf(how).slice(1), ...prefix, ...quietly], folder).status).toBe(0);
    expect((await start()).err).toContain("Redis at redis://127.0.0.1:1 could not be reached");
  });

  test("ask npx for their packages, and work by the command", () => {
    const npx = (args: readonly string[]) => npm(["exec", "--yes", ...quietly, ...args], home);
    const before = npx([`file:${file}`, "--", ...worker]);
    const [, how = ""] = said.exec(before.stderr) ?? [];
    const command = commandOf(how);
    expect(command.slice(0, 3), before.stderr).toEqual(["npx", "--package", `file:${file}`]);
    expect(npx([...command.slice(1, -1), "--", ...command.slice(-1), ...worker]).stderr).toContain(
      "could not be reached",
    );
  });

  // The last, as the folder has the packages from then on.
  test("ask a local install for their packages, and work once the command was run in the folder named", async () => {
    const start = () => run(process.execPath, [program("cli"), ...worker], home);
    const before = await start();
    const [, how = ""] = said.exec(before.err) ?? [];
    expect(how, before.err).toMatch(new RegExp(`^run .* in ${folder}$`));
    expect(npm([...commandOf(how).slice(1), ...quietly], folder).status).toBe(0);
    expect((await start()).err).toContain("Redis at redis://127.0.0.1:1 could not be reached");
  });

  test("have their packages tried here, in the versions that are named", () => {
    const { devDependencies, peerDependencies } = JSON.parse(readFileSync(packageFile("package.json"), "utf8")) as {
      devDependencies: Record<string, string>;
      peerDependencies: Record<string, string>;
    };
    expect(Object.keys(peerDependencies)).toEqual(["bullmq", "ioredis"]);
    for (const [name, range] of Object.entries(peerDependencies)) expect(range).toBe(`^${devDependencies[name]}`);
  });
});

/** A program that parses a line of each language with the grammars of an installed package. */
const grammarsOf = (place: string): string => `
import { createRequire } from "node:module";
const { parse, registerDynamicLanguage } = createRequire(${JSON.stringify(join(place, "x.js"))})("@ast-grep/napi");
const systems = { darwin: "macOS", linux: "Linux", win32: "Windows" };
const at = (name) => ({
  libraryPath: [${JSON.stringify(join(place, "research-ralph/dist/grammars"))}, name, "prebuild-" + systems[process.platform] + "-" + process.arch.toUpperCase(), "parser.so"].join("/"),
  extensions: [name], languageSymbol: "tree_sitter_" + name,
});
registerDynamicLanguage({ python: at("python"), rust: at("rust") });
console.log(parse("python", "import os").root().children()[0].kind());
console.log(parse("rust", "use std::fs;").root().children()[0].kind());
`;
