import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { estimateTokens } from "../../../src/engine/lib/tokens.js";
import { codeProject, offByOne, usual } from "../../support/code-project.js";
import { cli } from "../../support/in-process.js";

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
      ...{ id, type: "message", role: "assistant", model: "claude-haiku-4-5", content: [call] },
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

const configured = (more: object = {}): void =>
  project.write("ralph.config.json", JSON.stringify({ agents: { claude: { command: claude(), ...more } } }));

describe("the context of a role", () => {
  it("is warned of at 30 % of its model's window and closed at 40 %, and its next brief is smaller", async () => {
    // More files than the librarian's share holds, so that a smaller brief is seen.
    for (let at = 0; at < 60; at += 1)
      project.write(`src/more${at}.mjs`, `import "./range.mjs";\n${`// ${"word ".repeat(30)}\n`.repeat(60)}`);
    configured();
    const { last, lines } = await project.json("--agent", "claude", "--sandbox", "host", "--rounds", "1");
    expect([last.verdict, last.rounds, last.iterations]).toEqual(["complete", 1, 5]);
    const said = lines.map(({ message = "", failure }) => `${message} ${failure?.message ?? ""}`).join("\n");
    expect(said).toMatch(/Librarian, round 1: repair the tests fills 31 % [^\n]*at 40 % it is closed/);
    expect(project.ledger()[0]).toMatchObject({ unit: "librarian:1", outcome: "failed", failure: "context" });
    expect(project.ledger()[0]?.reasons?.join()).toMatch(/filled 41 % .*its next brief is smaller/);
    const [first = 0, second = 0] = [1, 2].map((time) => estimateTokens(project.brief("librarian", time)));
    expect(first).toBeLessThanOrEqual(50_000);
    expect(first).toBeGreaterThan(35_000);
    expect(second).toBeLessThan(first * 0.6);
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
