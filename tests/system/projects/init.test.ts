import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { initCommand } from "../../../src/commands/setup/init.js";
import { packageFile } from "../../../src/engine/lib/package-root.js";
import { fakeIo } from "../../engine/ui/fake-io.js";
import { main } from "../../../src/commands/main.js";
import { ioIn, type } from "../../support/processes/in-process.js";
import { freshFolder } from "../../support/projects/research-folder.js";

async function init(cwd: string, json = false) {
  const io = fakeIo({ cwd });
  return { exitCode: await initCommand({ json, yes: false }, io), out: io.out(), err: io.err() };
}

test("init copies the files people edit, makes the researches folder, a repository and what git should ignore", async () => {
  const cwd = freshFolder();
  const { exitCode, out } = await init(cwd);
  expect(exitCode).toBe(0);
  for (const file of ["prompt.md", "AGENTS.md", "CLAUDE.md"]) {
    expect(readFileSync(join(cwd, file), "utf8")).toBe(readFileSync(packageFile(file), "utf8"));
    expect(out).toContain(`made: ${file}`);
  }
  expect(statSync(join(cwd, "researches")).isDirectory()).toBe(true);
  expect(readFileSync(join(cwd, ".gitignore"), "utf8")).toMatch(/^\.ralph\/$/m);
  expect(execFileSync("git", ["rev-parse", "--show-toplevel"], { cwd, encoding: "utf8" }).trim()).toBe(cwd);
});

test("init overwrites nothing, adds to .gitignore what is missing, and says so; a second time it changes nothing", async () => {
  const cwd = freshFolder();
  writeFileSync(join(cwd, "AGENTS.md"), "mine");
  const before = Buffer.from("# d\xe9pendances\nnode_modules", "latin1");
  writeFileSync(join(cwd, ".gitignore"), before);
  const { out } = await init(cwd);
  expect(out).toContain("kept as it is: AGENTS.md");
  expect(out).toContain("added to: .gitignore");
  expect(readFileSync(join(cwd, "AGENTS.md"), "utf8")).toBe("mine");
  expect(readFileSync(join(cwd, ".gitignore")).subarray(0, before.length)).toEqual(before);
  const ignored = readFileSync(join(cwd, ".gitignore"), "utf8");
  expect(ignored).toContain("\nnode_modules\n.ralph/\n");
  const steps = (JSON.parse((await init(cwd, true)).out) as { steps: { did: string }[] }).steps;
  expect(new Set(steps.map((step) => step.did))).toEqual(new Set(["kept"]));
  expect(readFileSync(join(cwd, ".gitignore"), "utf8")).toBe(ignored);
});

test("a folder inside a repository gets no repository of its own", async () => {
  const outer = freshFolder();
  execFileSync("git", ["init", "--quiet"], { cwd: outer });
  execFileSync("mkdir", [join(outer, "inner")]);
  await init(join(outer, "inner"));
  expect(existsSync(join(outer, "inner", ".git"))).toBe(false);
});

test("on a terminal init asks for an agent among those installed and writes it down, off it and with --yes never", async () => {
  const cwd = freshFolder();
  writeFileSync(join(cwd, "codex"), "");
  const io = ioIn(cwd, { PATH: `${cwd}:${process.env["PATH"]}` }, { canAsk: true });
  expect(await main(["init", "--yes"], io, "0.0.0")).toBe(0);
  expect(existsSync(join(cwd, "ralph.config.yaml"))).toBe(false);
  type(io, "\r", "\r");
  expect(await main(["init"], io, "0.0.0")).toBe(0);
  expect(readFileSync(join(cwd, "ralph.config.yaml"), "utf8")).toBe("agent: codex\n");
  expect([".claude", ".agents"].some((folder) => existsSync(join(cwd, folder)))).toBe(false);
});

test("on a terminal init offers the skill by which other agents drive it, and puts it where they look", async () => {
  const cwd = freshFolder();
  const io = ioIn(cwd, { PATH: "/usr/bin:/bin" }, { canAsk: true });
  type(io, "\r", "\u001b[B", "\r");
  expect(await main(["init"], io, "0.0.0")).toBe(0);
  for (const folder of [".claude", ".agents"]) {
    const file = `${folder}/skills/research-ralph/SKILL.md`;
    expect(io.out()).toContain(`made: ${file}\n`);
    expect(readFileSync(join(cwd, file), "utf8")).toBe(
      readFileSync(packageFile("skills/research-ralph/SKILL.md"), "utf8"),
    );
  }
});

test("it offers the plugin too: commands that name the server's tools, and the server, over nothing that is there", async () => {
  const cwd = freshFolder();
  const io = ioIn(cwd, { PATH: "/usr/bin:/bin" }, { canAsk: true });
  type(io, "\r", "\u001b[B\u001b[B", "\r");
  writeFileSync(join(cwd, ".mcp.json"), "{}");
  expect(await main(["init"], io, "0.0.0")).toBe(0);
  expect(io.out()).toContain("kept as it is: .mcp.json\n");
  const review = readFileSync(join(cwd, ".claude/commands/research-ralph/review.md"), "utf8");
  expect(review).toContain("allowed-tools: mcp__research-ralph__list");
  rmSync(join(cwd, ".mcp.json"));
  rmSync(join(cwd, ".claude"), { recursive: true });
  rmSync(join(cwd, ".agents"), { recursive: true });
  const again = ioIn(cwd, { PATH: "/usr/bin:/bin" }, { canAsk: true });
  type(again, "\r", "\u001b[B\u001b[B", "\r");
  expect(await main(["init"], again, "0.0.0")).toBe(0);
  const { mcpServers } = JSON.parse(readFileSync(join(cwd, ".mcp.json"), "utf8")) as { mcpServers: object };
  expect(mcpServers).toMatchObject({
    "research-ralph": { args: expect.arrayContaining(["mcp", "--write"]) as unknown },
  });
});

test("init offers the built-in agent where there is a key for it, and none of its own accord without", async () => {
  for (const [env, expected] of [
    [{ ANTHROPIC_API_KEY: "planted" }, "agent: ralph\n"],
    [{}, undefined],
  ] as const) {
    const cwd = freshFolder();
    const io = ioIn(cwd, { PATH: "/usr/bin:/bin", ...env }, { canAsk: true });
    type(io, "\r", "\r");
    expect(await main(["init"], io, "0.0.0")).toBe(0);
    const file = join(cwd, "ralph.config.yaml");
    expect(existsSync(file) ? readFileSync(file, "utf8") : undefined).toBe(expected);
  }
});

test("who would rather not name an agent has the folder set up all the same, and is told what was made", async () => {
  const cwd = freshFolder();
  const io = ioIn(cwd, { PATH: "/usr/bin:/bin" }, { canAsk: true });
  type(io, "\u0003", "\u0003");
  expect(await main(["init"], io, "0.0.0")).toBe(0);
  expect(io.out()).toMatch(/^made: prompt\.md$[\s\S]*^ {2}research-ralph doctor$/m);
  expect(existsSync(join(cwd, "ralph.config.yaml"))).toBe(false);
});
