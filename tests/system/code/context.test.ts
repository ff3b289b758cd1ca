import { chmodSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { estimateTokens } from "../../../src/engine/lib/tokens.js";
import { codeProject, offByOne, usual } from "../../support/projects/code-project.js";
import { cli } from "../../support/processes/in-process.js";

let project: ReturnType<typeof codeProject>;
beforeEach(() => {
  project = codeProject(offByOne);
});
afterEach(() => project.remove());

/** A line of Claude Code's stream: one request of so many tokens, after which it goes on by reading a file. */
const request = (tokens: number, id: string): string => {
  const call = { type: "tool_use", id: `call-${id}`, name: "Read", input: { file_path: "src/range.mjs" } };
  return JSON.stringify({
    type: "assistant",
    message: {
      id,
      type: "message",
      role: "assistant",
      model: "claude-haiku-4-5",
      content: [call],
      usage: { input_tokens: tokens, cache_creation_input_tokens: 0, cache_read_input_tokens: 0, output_tokens: 10 },
    },
  });
};

/**
 * Writes a program that speaks as Claude Code does and plays every role well, but for the librarian, which fills its
 * model's window of 200,000 tokens to 31 % and then to 41 % the first time, and waits.
 */
function claude(): string {
  const answers = Object.entries(usual).map(
    ([role, script]) => `${role}) ANSWER=$(${script.replaceAll(/; echo/g, " && echo")}) ;;`,
  );
  const file = join(project.top, "claude.sh");
  writeFileSync(
    file,
    `#!/bin/sh
BRIEF=${project.top}/brief.$$
cat > $BRIEF
ROLE=$(sed -n 's/^# Your role: //p' $BRIEF | head -1)
mkdir -p ${project.top}/counts
N=$(( $(cat ${project.top}/counts/$ROLE 2>/dev/null || echo 0) + 1 ))
echo $N > ${project.top}/counts/$ROLE
cp $BRIEF ${project.top}/brief-$ROLE-$N.md
if [ $ROLE = librarian ] && [ $N = 1 ]; then
  echo '${request(62_000, "a")}'
  sleep 1
  echo '${request(82_000, "b")}'
  sleep 600
fi
case $ROLE in
${answers.join("\n")}
esac
node -e 'const text = process.argv[1]; const usage = { input_tokens: 9000, output_tokens: 10 }; console.log(JSON.stringify({ type: "assistant", message: { id: "z", role: "assistant", model: "claude-haiku-4-5", content: [{ type: "text", text }], usage } })); console.log(JSON.stringify({ type: "result", subtype: "success", is_error: false, result: text, usage, total_cost_usd: 0.01 }));' "$ANSWER"
`,
  );
  chmodSync(file, 0o755);
  return file;
}

/**
 * Writes a program that speaks as `codex exec --json` does, which tells the sum of its requests only: the librarian
 * makes two of `average` tokens in the first round. Its artisan mends the bug in the third.
 */
function codex(average: number): string {
  const answers = Object.entries({
    ...usual,
    artisan: `if [ $N != 3 ]; then echo "// $N" >> src/sum.mjs; else sed -i 's/i < b/i <= b/' src/range.mjs; fi; echo '{"hypothesis":"h","action_taken":"a"}'`,
  }).map(([role, script]) => `${role}) ANSWER=$(${script}) ;;`);
  const file = join(project.top, "codex.mjs");
  writeFileSync(
    join(project.top, "answer.sh"),
    `#!/bin/sh\nROLE=$1\nN=$2\ncase $ROLE in\n${answers.join("\n")}\nesac\nprintf '%s' "$ANSWER"\n`,
  );
  writeFileSync(
    file,
    `#!/usr/bin/env node
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
if (process.argv.includes("--version")) {
  console.log("codex-cli 0.144.0");
  process.exit();
}
const brief = readFileSync(0, "utf8");
const role = /^# Your role: (.*)$/m.exec(brief)[1];
const counts = ${JSON.stringify(join(project.top, "counts"))};
mkdirSync(counts, { recursive: true });
let n = 0;
try { n = Number(readFileSync(counts + "/" + role, "utf8")); } catch {}
n += 1;
writeFileSync(counts + "/" + role, String(n));
writeFileSync(${JSON.stringify(project.top)} + "/brief-" + role + "-" + n + ".md", brief);
const text = execFileSync("sh", [${JSON.stringify(join(project.top, "answer.sh"))}, role, String(n)], { encoding: "utf8" });
const isFull = role === "librarian" && n === 1;
const command = { id: "a", type: "command_execution", command: "ls", aggregated_output: "", exit_code: 0, status: "completed" };
const say = (event) => console.log(JSON.stringify(event));
say({ type: "thread.started", thread_id: "t" });
say({ type: "turn.started" });
say({ type: "item.started", item: { ...command, status: "in_progress" } });
say({ type: "item.completed", item: command });
say({ type: "item.completed", item: { id: "b", type: "agent_message", text } });
say({ type: "turn.completed", usage: { input_tokens: isFull ? ${Math.round(average * 2) - 10} : 9000, cached_input_tokens: 0, output_tokens: 10 } });
`,
  );
  chmodSync(file, 0o755);
  return file;
}

/** More files than the librarian's share holds, so that a smaller brief is seen. */
function manyFiles(): void {
  for (let at = 0; at < 60; at += 1)
    project.write(`src/more${at}.mjs`, `import "./range.mjs";\n${`// ${"word ".repeat(30)}\n`.repeat(60)}`);
}

const configured = (more: object = {}): void =>
  project.write("ralph.config.json", JSON.stringify({ agents: { claude: { command: claude(), ...more } } }));

describe("the context of a role", () => {
  it("is warned of at 30 % of its model's window and closed at 40 %, and its next brief is smaller", async () => {
    manyFiles();
    configured();
    const { last, lines } = await project.json("--agent", "claude", "--sandbox", "host", "--rounds", "1");
    expect([last.verdict, last.rounds, last.runs]).toEqual(["complete", 1, 5]);
    const said = lines.map(({ message = "", failure }) => `${message} ${failure?.message ?? ""}`).join("\n");
    expect(said).toMatch(
      /Librarian, round 1: Repair the failing tests of this project\. fills 31 % [^\n]*at 40 % the iteration is ended/,
    );
    expect(project.ledger()[0]).toMatchObject({ unit: "librarian:1", outcome: "failed", failure: "context" });
    expect(project.ledger()[0]?.reasons?.join()).toMatch(/filled 41 % .*its next brief is smaller/);
    const [first = 0, second = 0] = [1, 2].map((time) => estimateTokens(project.brief("librarian", time)));
    expect(first).toBeLessThanOrEqual(50_000);
    expect(first).toBeGreaterThan(35_000);
    expect(second).toBeLessThan(first * 0.6);
  });

  it("makes the next brief of a role of Codex smaller, where its average request was too full", async () => {
    manyFiles();
    for (const [average, isFull] of [
      [82_000, true],
      [78_000, false],
    ] as const) {
      rmSync(project.path("ralph.state.json"), { force: true });
      rmSync(join(project.top, "counts"), { recursive: true, force: true });
      project.write("src/range.mjs", offByOne["src/range.mjs"] ?? "");
      project.write(
        "ralph.config.json",
        JSON.stringify({ agents: { codex: { command: codex(average), model: "unlisted-1" } } }),
      );
      const args = ["code", "--json", "--agent", "codex", "--sandbox", "host"];
      // Its own home must not stand in the project.
      const { out } = await cli(args, project.folder, { ...project.home, XDG_STATE_HOME: join(project.top, "state") });
      const last = JSON.parse(out.trim().split("\n").at(-1) ?? "");
      expect([last.verdict, last.rounds]).toEqual(["complete", 3]);
      expect(project.ledger().every(({ outcome }) => outcome === "accepted")).toBe(true);
      const [first = 0, second = 0, third = 0] = [1, 2, 3].map((time) =>
        estimateTokens(project.brief("librarian", time)),
      );
      expect(first).toBeGreaterThan(35_000);
      expect(second < first * 0.6).toBe(isFull);
      // It counts for the round after it.
      expect(third).toBeGreaterThan(first * 0.9);
    }
  });

  it("has a share for files that is a quarter of its model's window, and of the usual one at most", async () => {
    const room = async () => JSON.parse((await cli(["code", "--graph", "--json"], project.folder)).out).room;
    configured({ model: "claude-haiku-4-5" });
    expect(await room()).toBe(42_500);
    // A window of a million tokens is no reason to send a quarter of a million with every step.
    configured({ model: "claude-sonnet-5-5" });
    expect(await room()).toBe(42_500);
    project.write("ralph.config.json", JSON.stringify({ models: { librarian: { model: "claude-2" } } }));
    expect(await room()).toBe(17_500);
  });
});
