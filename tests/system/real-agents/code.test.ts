import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { findBubblewrap } from "../../../src/engine/sandbox/bubblewrap.js";
import { run, sharedPackage } from "../../support/processes/built.js";
import { offByOne } from "../../support/projects/code-project.js";
import { type Answer, type Cli, type FakeLlm, type ModelRequest, optionsFor, startFakeLlm } from "./support/agents.js";
import { installed, testFrameworks } from "./support/install.js";

/** A project with a bug, and the command that mends it. */
interface Fixture {
  readonly files: Readonly<Record<string, string>>;
  /** Where the bug is. */
  readonly place: string;
  readonly mend: string;
  /** Its language lies in the user's home. */
  readonly isAtHome?: true;
  /** Its framework is a package of npm, which has to lie in the project. */
  readonly isOfNpm?: true;
  /** A command that succeeds where the tests can run. */
  readonly needs: readonly [string, ...string[]];
}

const python = {
  "app/__init__.py": "",
  "app/dates.py": "def days(months):\n    return months * 31\n",
  "app/plan.py": "from app.dates import days\n\n\ndef length(months):\n    return days(months)\n",
};

/** A project that forgets to wait for a promise. */
const javascript = (name: string, script: string, more: Fixture["files"]): Fixture["files"] => ({
  ".gitignore": "node_modules\n",
  "package.json": JSON.stringify({
    name: "sample",
    private: true,
    type: "module",
    scripts: { test: script },
    devDependencies: { [name]: "*" },
  }),
  "src/price.mjs": "export const price = async () => 2;\n",
  "src/total.mjs":
    'import { price } from "./price.mjs";\n\nexport async function total(count) {\n  const each = price();\n  return each * count;\n}\n',
  ...more,
});

const ofJavascript = {
  place: "src/total.mjs",
  mend: "sed -i 's/= price()/= await price()/' src/total.mjs",
  isOfNpm: true,
  needs: ["node", "--version"],
} as const;

const fixtures: Readonly<Record<string, Fixture>> = {
  "node:test": {
    files: offByOne,
    place: "src/range.mjs",
    mend: "sed -i 's/i < b/i <= b/' src/range.mjs",
    needs: ["node", "--version"],
  },
  vitest: {
    files: javascript("vitest", "vitest run", {
      "test/total.test.mjs":
        'import { expect, test } from "vitest";\nimport { total } from "../src/total.mjs";\n\ntest("waits for the price", async () => expect(await total(3)).toBe(6));\n',
    }),
    ...ofJavascript,
  },
  jest: {
    files: {
      ".gitignore": "node_modules\n",
      "package.json": JSON.stringify({ name: "sample", private: true, scripts: { test: "jest" } }),
      "src/price.js": "exports.price = async () => 2;\n",
      "src/total.js":
        'const { price } = require("./price.js");\n\nexports.total = async (count) => {\n  const each = price();\n  return each * count;\n};\n',
      "test/total.test.js":
        'const { total } = require("../src/total.js");\n\ntest("waits for the price", async () => expect(await total(3)).toBe(6));\n',
    },
    ...ofJavascript,
    place: "src/total.js",
    mend: ofJavascript.mend.replace(".mjs", ".js"),
  },
  mocha: {
    files: javascript("mocha", "mocha test/total.test.mjs", {
      "test/total.test.mjs":
        'import assert from "node:assert";\nimport { total } from "../src/total.mjs";\n\nit("waits for the price", async () => assert.equal(await total(3), 6));\n',
    }),
    ...ofJavascript,
  },
  unittest: {
    files: {
      ...python,
      "tests/__init__.py": "",
      "tests/test_plan.py":
        "import unittest\nfrom app.plan import length\n\n\nclass Plan(unittest.TestCase):\n    def test_length(self):\n        self.assertEqual(length(2), 60)\n",
    },
    place: "app/dates.py",
    mend: "sed -i 's/31/30/' app/dates.py",
    needs: ["python3", "--version"],
  },
  pytest: {
    files: {
      ...python,
      "pytest.ini": "[pytest]\n",
      "test_plan.py": "from app.plan import length\n\n\ndef test_length():\n    assert length(2) == 60\n",
    },
    place: "app/dates.py",
    mend: "sed -i 's/31/30/' app/dates.py",
    isAtHome: true,
    needs: ["python3", "-m", "pytest", "--version"],
  },
  cargo: {
    files: {
      ".gitignore": "target\n",
      "Cargo.toml": '[package]\nname = "sample"\nversion = "0.1.0"\nedition = "2021"\n\n[lib]\ndoctest = false\n',
      "src/lib.rs":
        "pub mod half;\n\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn halves() {\n        assert_eq!(crate::half::of(4), 2);\n    }\n}\n",
      "src/half.rs": "pub fn of(a: i32) -> i32 {\n    a / 3\n}\n",
    },
    place: "src/half.rs",
    mend: "sed -i 's#a / 3#a / 2#' src/half.rs",
    isAtHome: true,
    needs: ["cargo", "--version"],
  },
};

const isThere = ({ needs: [command, ...args], isOfNpm }: Fixture): boolean => {
  if (isOfNpm === true && "problem" in testFrameworks()) return false;
  try {
    execFileSync(command, args, { stdio: "ignore", timeout: 30_000 });
    return true;
  } catch {
    return false;
  }
};

let built: string;
let top: string;
let server: FakeLlm;
beforeAll(async () => {
  built = await sharedPackage();
});
beforeEach(() => {
  top = realpathSync(mkdtempSync(join(tmpdir(), "code-")));
});
afterEach(async () => {
  await server.close();
  rmSync(top, { recursive: true, force: true });
});

function projectOf({ files, isOfNpm }: Fixture): string {
  const root = join(top, "repo");
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), text);
  }
  const packages = testFrameworks();
  if (isOfNpm === true && "folder" in packages) execFileSync("cp", ["-a", packages.folder, join(root, "node_modules")]);
  execFileSync("git", ["init", "-q", root]);
  return root;
}

async function runCode(root: string, clis: readonly Cli[], code: object, ...args: string[]) {
  const home = join(top, "home");
  mkdirSync(home, { recursive: true });
  const agents = Object.fromEntries(clis.map((cli) => [cli, optionsFor(cli, server, home)]));
  writeFileSync(join(root, "ralph.config.json"), JSON.stringify({ agents, code, state_dir: join(top, "state") }));
  const isAtHome = Object.values(fixtures).some((each) => each.isAtHome === true && existsSync(join(root, each.place)));
  const env = { HOME: isAtHome ? (process.env["HOME"] ?? home) : home };
  const program = [join(built, "dist/cli.js"), "code", "--agent", clis[0] ?? "claude", "--json", ...args];
  const { code: exit, out, err } = await run(process.execPath, program, root, env);
  const lines = out
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  return { exit, err, lines, last: lines.at(-1) };
}

const roleOf = ({ user }: ModelRequest): string => /# Your role: (\w+)/.exec(user)?.[1] ?? "";

/** A model that plays every role well. */
const playing =
  ({ place, mend }: Fixture) =>
  (request: ModelRequest): Answer => {
    const { api, results } = request;
    const text = (value: object): Answer => ({ text: JSON.stringify(value) });
    switch (roleOf(request)) {
      case "librarian":
        return text({ cause: "a wrong number", files: [{ path: place }], plan: ["mend it"] });
      case "critic":
        return text({ decision: "approve", findings: [] });
      case "adversary":
        return text({ tests: [], findings: [] });
      default: {
        if (results.length > 0) return text({ hypothesis: "a wrong number", action_taken: `mended ${place}` });
        const call =
          api === "anthropic"
            ? { name: "Bash", input: { command: mend } }
            : { name: "exec_command", input: { cmd: mend } };
        return { text: "Working.", tools: [call] };
      }
    }
  };

const bubblewrap = await findBubblewrap(process.env);
const clis = ["claude", "codex"] as const;
const problems = [...clis.map(installed), bubblewrap].flatMap((found) => ("problem" in found ? [found.problem] : []));
const why = problems.length === 0 ? "" : ` (skipped: ${problems[0]})`;

describe.skipIf(problems.length > 0)(`a team with real agents in bubblewrap${why}`, () => {
  for (const cli of clis)
    for (const [framework, fixture] of Object.entries(fixtures))
      it.skipIf(!isThere(fixture))(`${cli} repairs a project of ${framework}`, async () => {
        server = await startFakeLlm(playing(fixture));
        const root = projectOf(fixture);
        const { exit, last, err, lines } = await runCode(root, [cli], {}, "--sandbox", "bubblewrap", "--rounds", "2");
        expect(err).toBe("");
        expect(last, JSON.stringify(lines.filter(({ type }) => type === "notice" || type === "checked"))).toMatchObject(
          { verdict: "complete", rounds: 1, runs: 4 },
        );
        expect(exit).toBe(0);
        expect(readFileSync(join(root, fixture.place), "utf8")).not.toBe(fixture.files[fixture.place]);
        const ids = lines.filter(({ type }) => type === "iteration-started").map(({ iteration }) => iteration);
        expect(new Set(ids).size).toBe(4);
      });

  const [fixture] = Object.values(fixtures);
  if (fixture === undefined) throw new Error("no fixture");

  it("one agent a role, and one that is at its limit is replaced by the next", async () => {
    const play = playing(fixture);
    server = await startFakeLlm((request) =>
      request.api === "anthropic" && roleOf(request) === "artisan"
        ? { status: 429, headers: { "retry-after": "3600" }, message: "rate limited" }
        : play(request),
    );
    const root = projectOf(fixture);
    const roles = {
      librarian: { agent: "claude" },
      artisan: { agent: ["claude", "codex"] },
      critic: { agent: "codex" },
      adversary: { agent: "claude" },
    };
    const { last, lines } = await runCode(root, clis, { roles }, "--sandbox", "bubblewrap");
    expect(last).toMatchObject({ verdict: "complete", rounds: 1 });
    const ledger = readFileSync(join(root, ".ralph/ledger.jsonl"), "utf8").trim().split("\n");
    const who = ledger.map((line) => JSON.parse(line)).map(({ role, agent, outcome }) => `${role} ${agent} ${outcome}`);
    expect(who).toEqual([
      "librarian claude accepted",
      "artisan claude failed",
      "artisan codex accepted",
      "critic codex accepted",
      "adversary claude accepted",
    ]);
    const change = lines.find(({ type, to }) => type === "agent-changed" && to === "codex");
    expect(change?.reason).toMatch(/limit|429/i);
  });

  it("an error that comes again finds its fix in the memory, in the body of the request", async () => {
    server = await startFakeLlm(playing(fixture));
    const root = projectOf(fixture);
    await runCode(root, ["claude"], {}, "--sandbox", "bubblewrap");
    const before = server.requests.length;
    writeFileSync(join(root, fixture.place), fixture.files[fixture.place] ?? "");
    const { last } = await runCode(root, ["claude"], {}, "--sandbox", "bubblewrap");
    expect(last.verdict).toBe("complete");
    const bodies = server.requests.map(({ body }) => JSON.stringify(body));
    const helped = `Helped: mended ${fixture.place}`;
    expect(bodies.slice(0, before).some((body) => body.includes(helped))).toBe(false);
    expect(bodies.slice(before).filter((body) => body.includes(helped)).length).toBeGreaterThanOrEqual(2);
    expect(existsSync(join(root, ".ralph/memory.db"))).toBe(true);
  });
});
