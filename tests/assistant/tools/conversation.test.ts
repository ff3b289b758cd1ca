import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Readable } from "node:stream";
import { afterEach, describe, expect, it } from "vitest";
import { main } from "../../../src/assistant/main.js";
import { configKeys } from "../../../src/compose/config.js";
import { fakeIo } from "../../engine/ui/fake-io.js";
import { type Answer, type FakeLlm, type ModelRequest, startFakeLlm } from "../../fixtures/fake-llm/server.js";
import { bench } from "./setup.js";
import { outsideAlone } from "../nothing-handed.js";

const here = bench();
let server: FakeLlm | undefined;
afterEach(async () => {
  await server?.close();
  server = undefined;
});

/** Runs `ralph` in the workspace against a scripted model. */
async function ralph(
  args: readonly string[],
  answer: (request: ModelRequest) => Answer,
  during?: (io: ReturnType<typeof fakeIo>) => void,
) {
  server = await startFakeLlm(answer, { countsAll: true });
  const home = join(here.folder, "home");
  mkdirSync(join(home, ".local/ralph"), { recursive: true });
  const config = { api_url: `${server.url}/v1/chat/completions`, model: "local", context_window: 32_000 };
  writeFileSync(join(home, ".local/ralph/config.json"), JSON.stringify(config), { mode: 0o600 });
  const io = fakeIo({ cwd: here.root, env: { HOME: home }, stdin: Readable.from([]) });
  const ended = main(args, io, { version: "0.0.0", keys: configKeys, otherCommands: new Set() }, outsideAlone);
  during?.(io);
  const code = await ended;
  return { code, out: io.out(), err: io.err(), requests: server.requests };
}

/** Calls a tool first, then says what came of it. */
const calling =
  (name: string, input: object) =>
  ({ results }: ModelRequest): Answer =>
    results.length === 0 ? { tools: [{ name, input }] } : { text: results.join("") };

describe("a message", () => {
  it("is answered with what a tool found", async () => {
    writeFileSync(join(here.root, "notes.md"), "staging is hermes\n");
    const { code, out, requests } = await ralph(["where?"], calling("file_read", { file_path: "notes.md" }));
    expect([code, requests.length]).toEqual([0, 2]);
    expect(JSON.parse(out)).toMatchObject({ success: true, content: "staging is hermes\n" });
  });

  it("shows what the model says before it calls a tool, also in brackets, but not the call itself as text", async () => {
    writeFileSync(join(here.root, "notes.md"), "staging is hermes\n");
    const call = { name: "file_read", input: { file_path: "notes.md" } };
    const printed = async (text: string) =>
      (
        await ralph(["where?"], ({ results }) =>
          results.length === 0 ? { text, tools: [call] } : { text: "On hermes." },
        )
      ).out;
    expect(await printed("[1/2] I look.")).toBe("[1/2] I look.\nOn hermes.\n");
    expect(await printed(JSON.stringify({ name: call.name, arguments: call.input }))).toBe("On hermes.\n");
  });

  it("that has a tool called that is not there, is told which there are", async () => {
    const { code, out, requests } = await ralph(["x"], calling("teleport", {}));
    expect([code, requests.length]).toEqual([0, 2]);
    expect(JSON.parse(out)).toMatchObject({ success: false, code: "TOOL_ERROR_NOT_FOUND" });
  });
});

describe("a call of 10 MB", () => {
  it("is answered, and is not sent again with every later request", async () => {
    const content = "x".repeat(10 * 1024 * 1024 + 1);
    const { code, out, requests } = await ralph(["x"], calling("file_write", { file_path: "a", content }));
    expect([code, requests.length]).toEqual([0, 2]);
    expect(JSON.parse(out)).toMatchObject({ code: "TOOL_ERROR_NOT_ALLOWED" });
    expect(JSON.stringify(requests[1]?.body).length).toBeLessThan(100_000);
  });
});

describe("a tool that writes or runs", () => {
  it("does nothing where nobody can be asked, and says what allows it", async () => {
    const { out, err } = await ralph(["x"], calling("shell_execute", { command: "touch made" }));
    expect(JSON.parse(out)).toMatchObject({ code: "TOOL_ERROR_NOT_ALLOWED" });
    expect(err).toContain("--yes");
    expect(existsSync(join(here.root, "made"))).toBe(false);
  });

  it("does it with --yes", async () => {
    const { out } = await ralph(["--yes", "x"], calling("shell_execute", { command: "touch made" }));
    expect(JSON.parse(out)).toMatchObject({ success: true });
    expect(existsSync(join(here.root, "made"))).toBe(true);
  });

  it("and hangs, ends with Ctrl+C", async () => {
    const command = "echo > begun; sleep 60";
    const { code, requests } = await ralph(["--yes", "x"], calling("shell_execute", { command }), (io) => {
      const wait = setInterval(() => {
        if (!existsSync(join(here.root, "begun"))) return;
        clearInterval(wait);
        io.signals.emit("SIGINT");
      }, 20);
    });
    expect([code, requests.length]).toEqual([130, 1]);
  });
});

describe("a model without tool calls", () => {
  const words = ({ body }: ModelRequest): string[] =>
    (body["messages"] as { role: string; content: string }[])
      .filter(({ role }) => role === "user")
      .map(({ content }) => content);
  const refusing =
    (answer: (said: string[]) => Answer) =>
    (request: ModelRequest): Answer =>
      request.body["tools"] === undefined
        ? answer(words(request))
        : { status: 400, message: "local does not support tools" };

  it("acts by JSON in its words, once its server has refused tools", async () => {
    writeFileSync(join(here.root, "notes.md"), "staging is hermes\n");
    const { code, out, requests } = await ralph(
      ["where?"],
      refusing(([, result]) =>
        result === undefined ? { text: '{"action": "cat", "file": "notes.md"}' } : { text: `It says ${result}` },
      ),
    );
    expect(code).toBe(0);
    expect(out).toContain("staging is hermes");
    expect(requests).toHaveLength(3);
    expect(JSON.stringify(requests[1]?.body["messages"])).toContain('{\\"action\\": \\"read\\"');
  });

  it.each([
    ["whole", '{"action": "read", "path": "notes.md"}'],
    ["cut", '{"action": "read", "path": "no'],
    ["cut in a code block", '```json\n{"action": "read", "path": "no'],
  ])("may introduce an action, which is not printed, also if it is %s", async (_, action) => {
    writeFileSync(join(here.root, "notes.md"), "staging is hermes\n");
    const { code, out, requests } = await ralph(
      ["where?"],
      refusing((messages) => ({ text: messages.length < 2 ? `Let me look.\n${action}` : "On hermes." })),
    );
    expect([code, out]).toEqual([0, "Let me look.\nOn hermes.\n"]);
    expect(words(requests.at(-1) as ModelRequest).at(-1)).toMatch(/staging is hermes|ends too early/);
  });

  it("is told that an action is unknown, and that one is malformed", async () => {
    const said: string[] = [];
    await ralph(
      ["x"],
      refusing((messages) => {
        said.push(messages.at(-1) ?? "");
        const turns = ['{"action": "teleport"}', '{"action": "write", "path": "a"}', "Done."];
        return { text: turns[messages.length - 1] ?? "" };
      }),
    );
    expect(said[1]).toContain("TOOL_ERROR_NOT_FOUND");
    expect(said[2]).toContain("TOOL_ERROR_INVALID_ARGUMENTS");
    expect(existsSync(join(here.root, "a"))).toBe(false);
  });
});

describe("--json", () => {
  it("asks for JSON, and prints it without a fence", async () => {
    const { code, out, requests } = await ralph(["--json", "x"], () => ({ text: '```json\n{"a": 1}\n```' }));
    expect([code, JSON.parse(out)]).toEqual([0, { a: 1 }]);
    expect(requests[0]?.body["response_format"]).toEqual({ type: "json_object" });
  });

  it("ends with 1 where the answer is none", async () => {
    const { code, out, err } = await ralph(["--json", "x"], () => ({ text: "## Sure!\n\nHere:" }));
    expect([code, out]).toEqual([1, ""]);
    expect(err).toContain("The answer is not JSON, but begins with: ## Sure! Here:\n");
  });
});

describe("ralph tools", () => {
  it("lists each with what it does, or as JSON with its schema", async () => {
    expect((await ralph(["tools"], () => "hang")).out).toMatch(/^file_read +Read .* \(reads\)$/m);
    const all = JSON.parse((await ralph(["tools", "--json"], () => "hang")).out) as Record<string, unknown>[];
    expect(all).toContainEqual(
      expect.objectContaining({
        name: "file_read",
        does: ["reads"],
        parameters: expect.objectContaining({ type: "object", required: ["file_path"] }),
      }),
    );
  });
});
