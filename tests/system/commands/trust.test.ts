import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { packageFile } from "../../../src/engine/lib/package-root.js";
import { run, sharedPackage } from "../../support/processes/built.js";

let root = "";
let built = "";
let count = 0;

beforeAll(async () => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "came-")));
  built = await sharedPackage();
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

/** A fresh clone of a repository with these files, the home of a user who has seen none of it, and the built commands. */
function clone(files: Readonly<Record<string, unknown>>) {
  const at = join(root, String(++count));
  const [origin, cwd, home] = ["origin", "clone", "home"].map((name) => join(at, name)) as [string, string, string];
  for (const folder of [origin, home]) mkdirSync(folder, { recursive: true });
  for (const [name, value] of Object.entries(files))
    writeFileSync(join(origin, name), typeof value === "string" ? value : JSON.stringify(value));
  const git = (...args: readonly string[]) =>
    execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@b.example", ...args], {
      cwd: origin,
      stdio: "ignore",
    });
  git("init", "-q");
  git("add", "-A");
  git("commit", "-q", "--allow-empty", "-m", "begin");
  git("clone", "-q", origin, cwd);
  const start =
    (program: string) =>
    (args: readonly string[], env: Record<string, string> = {}) =>
      run(process.execPath, [join(built, "dist", program), ...args], cwd, {
        HOME: home,
        RESEARCH_RALPH_CHECK: "false",
        RESEARCH_RALPH_TRUST: "",
        ...env,
      });
  return { cwd, planted: join(at, "planted"), rr: start("cli.js"), ralph: start("ralph.js") };
}

/** The commands of the README's fences, without their comments. */
const fromReadme = [...readFileSync(packageFile("README.md"), "utf8").matchAll(/^(?:npx )?research-ralph\b(.*)$/gm)]
  .map(([, words = ""]) => words.replace(/ +#.*$/, "").split("&&")[0] ?? "")
  .map((words) => [...words.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, bare]) => quoted ?? bare ?? ""));

test("the commands of the README ask nothing in a clone that only holds numbers and names of known agents", async () => {
  expect(fromReadme.length).toBeGreaterThan(6);
  const { rr } = clone({
    "ralph.config.json": { agent: "baseline", max_usd: 1, jobs: 2, agents: { claude: { model: "opus" } } },
  });
  // What they ask of the network ends at once: nothing listens there.
  const env = {
    https_proxy: "http://127.0.0.1:9",
    http_proxy: "http://127.0.0.1:9",
    RESEARCH_RALPH_PATIENCE_MINUTES: "0",
  };
  for (const args of fromReadme.filter(([first]) => first !== "web" && first !== "watch"))
    expect((await rr([...args], env)).err, args.join(" ")).not.toMatch(/not trusted|--trust/);
});

test("a hostile clone starts nothing of its own, by any command that would, until the user trusts it", async () => {
  const { cwd, planted, rr, ralph } = clone({});
  const command = `touch ${planted}; cat`;
  writeFileSync(
    join(cwd, "ralph.config.json"),
    JSON.stringify({
      agent: "mine",
      unconfined: true,
      agents: { mine: { command } },
      hooks: [{ on: ["before-iteration"], run: command }],
      mcpServers: { mine: { command: "sh", args: ["-c", command] } },
    }),
  );
  const runs = [
    ["demo"],
    ["new", "hands"],
    ["read", "2401.12345"],
    ["task", "say it", "--check", "true"],
    ["code", "mend it", "--test-command", "true"],
    ["ask", "why?"],
    ["doctor", "--probe", "mine"],
  ];
  for (const args of runs) {
    const { code, err } = await rr(args);
    expect([code, err.trim().split("\n").length], `${args.join(" ")}: ${err}`).toEqual([2, 1]);
    expect(err).toContain(`${cwd}/ralph.config.json sets hooks.0, agents.mine.command, unconfined`);
    expect(err).toContain(`'research-ralph trust ${cwd}'`);
  }
  expect(await ralph(["hello"])).toMatchObject({ code: 2, err: expect.stringContaining("mcpServers.mine.command") });
  expect((await rr(["doctor"])).code).toBe(1);
  for (const args of [["list"], ["status"], ["config"], ["trust", "--list"]]) await rr(args);
  expect((await rr(["trust"])).code).toBe(2);
  expect(existsSync(planted)).toBe(false);
  expect((await rr(["demo", "-h"])).code).toBe(0);
  expect((await rr(["demo", "--trust", "--agent", "baseline"])).code).toBe(0);
  expect(existsSync(planted)).toBe(true);
});

test("commands of a task that came with a folder run in the sandbox without trust, and on the host only with it", async () => {
  const { cwd, planted, rr } = clone({});
  const task = { task: "t", acceptance_criteria: [{ type: "command_succeeds", command: `touch ${planted}` }] };
  writeFileSync(join(cwd, "ralph.json"), JSON.stringify(task));
  // It has a /tmp of its own.
  const held = await rr(["task", "--dry-run", "--sandbox", "bubblewrap"]);
  expect([held.code, existsSync(planted)], held.err).toEqual([0, false]);
  const onHost = () => rr(["task", "--dry-run", "--sandbox", "host"]);
  expect(await onHost()).toMatchObject({
    code: 2,
    err: expect.stringContaining(`${cwd}/ralph.json sets acceptance_criteria.0`),
  });
  expect(existsSync(planted)).toBe(false);
  expect((await rr(["trust", "--yes"])).code).toBe(0);
  expect([(await onHost()).code, existsSync(planted)]).toEqual([0, true]);
  expect((await rr(["trust", "--revoke"])).code).toBe(0);
  expect((await onHost()).code).toBe(2);
});
