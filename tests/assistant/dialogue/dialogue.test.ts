import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { stripVTControlCharacters } from "node:util";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { main } from "../../../src/assistant/main.js";
import { wrapTable } from "../../../src/assistant/dialogue/dialogue.js";
import { configKeys } from "../../../src/compose/config.js";
import { fakeIo } from "../../engine/ui/fake-io.js";
import { type Answer, type FakeLlm, type ModelRequest, startFakeLlm } from "../../fixtures/fake-llm/server.js";
import { outsideAlone } from "../nothing-handed.js";

let folder: string;
let server: FakeLlm | undefined;
let ended: Promise<number> | undefined;
let leave: (() => void) | undefined;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "dialogue-"));
  mkdirSync(join(folder, "home/.local/ralph"), { recursive: true });
  mkdirSync(join(folder, "here"));
});
afterEach(async () => {
  leave?.();
  await ended;
  await server?.close();
  server = undefined;
  rmSync(folder, { recursive: true, force: true });
});

/** A dialogue at a terminal that a test types into and reads. */
async function talking({
  args = [],
  answer = ({ user }) => ({ text: `You said: ${user.split("\n").at(-1)}` }),
  columns = 80,
  config = {},
}: { args?: readonly string[]; answer?: (request: ModelRequest) => Answer; columns?: number; config?: object } = {}) {
  server ??= await startFakeLlm((request) => answer(request), { countsAll: true });
  const url = `${server.url}/v1/chat/completions`;
  const home = join(folder, "home");
  writeFileSync(
    join(home, ".local/ralph/config.json"),
    JSON.stringify({ api_url: url, model: "local-model", context_window: 32_000, ...config }),
    { mode: 0o600 },
  );
  const stdin = new PassThrough();
  const gone = new AbortController();
  let screen = "";
  const terminal = Object.assign(new PassThrough(), { columns, isTTY: true });
  terminal.on("data", (chunk: Buffer) => (screen += chunk.toString("utf8")));
  const io = fakeIo({
    cwd: join(folder, "here"),
    env: { HOME: home, PATH: process.env["PATH"] ?? "" },
    stdin,
    terminal,
    columns,
    isTTY: true,
    canAsk: true,
    readerGone: gone.signal,
    stdout: (text) => void (screen += text),
    stderr: (text) => void (screen += text),
  });
  ended = main(args, io, { version: "1.2.3", keys: configKeys, otherCommands: new Set() }, outsideAlone);
  leave = () => stdin.end();
  const seen = () => stripVTControlCharacters(screen);
  /** Waits until what is printed from here on has these words. */
  let from = 0;
  const until = async (words: string) => {
    for (let tried = 0; tried < 2000; tried += 1) {
      const at = seen().indexOf(words, from);
      if (at !== -1) {
        from = at + words.length;
        return;
      }
      await sleep(5);
    }
    throw new Error(`'${words}' did not come; the screen has: ${seen().slice(from)}`);
  };
  const type = (text: string) => void stdin.write(text);
  await until("> ");
  return { type, until, seen, io, home, gone, requests: server.requests, screen: () => screen };
}

describe("a dialogue", () => {
  it("answers, goes on, and leaves at quit with exit code 0; --continue takes it up again", async () => {
    const { type, until, requests, home } = await talking();
    type("hello\r");
    await until("You said: hello");
    await until("> ");
    type("and now?\r");
    await until("You said: and now?");
    await until("> ");
    type("quit\r");
    expect(await ended).toBe(0);
    const said = (request: ModelRequest | undefined) =>
      ((request?.body["messages"] ?? []) as { role: string; content: string }[]).filter(
        ({ role }) => role !== "system",
      );
    expect(said(requests[1]).map(({ role }) => role)).toEqual(["user", "assistant", "user"]);

    const again = await talking({ args: ["--continue"] });
    again.type("what was first?\r");
    await again.until("You said: what was first?");
    expect(said(requests[2])).toHaveLength(5);
    expect(statSync(join(home, ".local/ralph/history")).mode & 0o777).toBe(0o600);
    // The line of the session before, by the arrow up, twice.
    await again.until("> ");
    again.type("\u001b[A");
    again.type("\u001b[A");
    again.type("\u001b[A");
    again.type("\r");
    await again.until("You said: and now?");
  });

  it.each(["exit\r", "/quit\r", "\u0004"])("leaves at %j", async (keys) => {
    const { type } = await talking();
    type(keys);
    expect(await ended).toBe(0);
  });

  it("sends a pasted text whole, and a line that goes on behind a backslash", async () => {
    const { type, until, requests } = await talking();
    type("see \u001b[200~one\rtwo\rthree\u001b[201~");
    await until("[3 lines]");
    type("\r");
    await until("You said");
    expect(requests.at(-1)?.user).toBe("see one\ntwo\nthree");
    await until("> ");
    type("first \\\r");
    await until("… ");
    type("second\r");
    await until("You said: second");
    expect(requests.at(-1)?.user.endsWith("first \nsecond")).toBe(true);
  });

  it("stops an answer that hangs at Ctrl+C and goes on; twice leaves", async () => {
    let first = true;
    const { type, until, requests } = await talking({
      answer: () => {
        if (!first) return { text: "Here again" };
        first = false;
        return "hang-mid-stream";
      },
    });
    type("hello\r");
    while (requests.length === 0) await sleep(5);
    type("\u0003");
    await until("Stopped.");
    await until("> ");
    type("next\r");
    await until("Here again");
    await until("> ");
    type("\u0003");
    await until("Press Ctrl+C again to leave.");
    type("\u0003");
    expect(await ended).toBe(0);
  });

  it("empties a line at Ctrl+C", async () => {
    const { type, until, requests } = await talking();
    type("not this");
    await until("not this");
    type("\u0003");
    type("this\r");
    await until("You said: this");
    expect(requests.at(-1)?.user).toBe("this");
  });

  it("adds the files of the folder that a message names, and no other", async () => {
    writeFileSync(join(folder, "here/note.txt"), "worn fingertips");
    writeFileSync(join(folder, "secret.txt"), "never seen");
    const { type, until, requests } = await talking();
    type("read @no");
    type("\t");
    await until("@note.txt ");
    type("and @../secret.txt\r");
    await until("You said");
    expect(requests.at(-1)?.user).toContain("worn fingertips");
    expect(requests.at(-1)?.user).not.toContain("never seen");
  });

  it("shows a failure as a sentence and goes on", async () => {
    const { type, until } = await talking({ answer: () => ({ status: 401, message: "Incorrect API key provided" }) });
    type("hello\r");
    await until("needs a key, and none is set");
    await until("> ");
  });

  it("fits 20 columns", async () => {
    const { type, until, seen } = await talking({ columns: 20, answer: () => ({ text: `${"word ".repeat(30)}\n` }) });
    type("hi\r");
    await until("word word");
    await until("> ");
    for (const line of seen()
      .split("\n")
      .filter((each) => each.startsWith("word")))
      expect(line.length).toBeLessThan(20);
  });

  it("asks before a tool in 20 columns without breaking a word", async () => {
    const tools = [{ name: "file_append", input: { file_path: "a", content: "x" } }];
    const { type, until, seen } = await talking({ columns: 20, answer: () => ({ tools }) });
    type("hi\r");
    await until("always");
    expect(seen()).toMatch(/Allow file_append\?\n(?:[^\n]{1,12}\n)+[^\n]{1,12}$/);
  });

  it("lets no command run whose end was not shown, however many lines or letters it has", async () => {
    const lines = Array.from({ length: 25 }, (_, number) => `echo ${number} > /dev/null`);
    const command = [...lines, `: ${"x".repeat(300)}; echo done > ran`].join("\n");
    const { type, until, seen } = await talking({
      answer: () => ({ tools: [{ name: "shell_execute", input: { command } }] }),
    });
    type("hi\r");
    await until("more lines of shell_execute.");
    expect(seen()).not.toContain("Allow");
    expect(seen()).not.toContain("> ran");
    // A yes before the end is none.
    type("y");
    type("a");
    type(" ");
    await until("Allow shell_execute?");
    expect(seen()).toContain("> ran");
    type("n");
    await until("did not allow");
    expect(existsSync(join(folder, "ran"))).toBe(false);
  });

  it("stops a command that waits for a server at Ctrl+C", async () => {
    const started = join(folder, "started");
    const script = `require("node:fs").writeFileSync(${JSON.stringify(started)}, ""); setInterval(() => undefined, 1000)`;
    const mute = { command: process.execPath, args: ["-e", script] };
    const { type, until } = await talking({ config: { mcpServers: { mute } } });
    type("/mcp\r");
    // Before, nothing waits that could be stopped.
    await expect.poll(() => existsSync(started)).toBe(true);
    type("\u0003");
    await until("Stopped.");
  });

  it("prints no control characters of an answer", async () => {
    const { type, until, screen } = await talking({ answer: () => ({ text: "a\u001b]0;title\u0007b\u0008c" }) });
    type("hi\r");
    await until("abc");
    expect(screen()).not.toContain("\u0007");
    expect(screen()).not.toContain("]0;title");
  });

  it("ends when nobody reads any more, and keeps what was said", async () => {
    const { type, until, gone, home } = await talking();
    type("hello\r");
    await until("You said: hello");
    await until("> ");
    gone.abort("SIGHUP");
    await ended;
    expect(existsSync(join(home, ".local/ralph/sessions"))).toBe(true);
  });
});

describe("a tool in a dialogue", () => {
  const program = join(import.meta.dirname, "../../fixtures/mcp/server.mjs");
  const config = { mcpServers: { one: { command: process.execPath, args: [program, "a"] } } };
  const calling = ({ results, user }: ModelRequest): Answer =>
    results.length === 0 || user.endsWith("again")
      ? results.length >= 2
        ? { text: `Then: ${results.at(-1)}` }
        : { tools: [{ name: "mcp_one_a_echo", input: { text: "hi" } }] }
      : { text: `It said: ${results.at(-1)}` };

  const ready = async (dialogue: Awaited<ReturnType<typeof talking>>) => {
    dialogue.type("/mcp\r");
    await dialogue.until("one  ready, 3 tools");
    await dialogue.until("> ");
  };

  it("runs after a yes, as one line", async () => {
    const dialogue = await talking({ config, answer: calling });
    await ready(dialogue);
    dialogue.type("echo\r");
    await dialogue.until("Allow mcp_one_a_echo?");
    dialogue.type("x");
    dialogue.type("y");
    await dialogue.until("● mcp_one_a_echo hi · a: hi");
    await dialogue.until("It said:");
  });

  it("does not run after a no, and is not asked for again after always", async () => {
    const dialogue = await talking({ config, answer: calling });
    await ready(dialogue);
    dialogue.type("echo\r");
    await dialogue.until("Allow mcp_one_a_echo?");
    dialogue.type("n");
    await dialogue.until("did not allow");
    await dialogue.until("> ");
    dialogue.type("/clear\r");
    await dialogue.until("> ");
    dialogue.type("echo\r");
    await dialogue.until("Allow mcp_one_a_echo?");
    dialogue.type("a");
    await dialogue.until("It said:");
    await dialogue.until("> ");
    dialogue.type("echo again\r");
    await dialogue.until("● mcp_one_a_echo hi · a: hi");
    await dialogue.until("Then:");
  });

  it("is not started from a folder's file before the user has agreed", async () => {
    writeFileSync(join(folder, "here/ralph.config.json"), JSON.stringify(config));
    const stdin = new PassThrough();
    const io = fakeIo({ cwd: join(folder, "here"), env: { HOME: join(folder, "home") }, stdin });
    server = await startFakeLlm(() => ({ text: "fine" }), { countsAll: true });
    const url = `${server.url}/v1/chat/completions`;
    writeFileSync(join(folder, "home/.local/ralph/config.json"), JSON.stringify({ api_url: url, model: "m" }), {
      mode: 0o600,
    });
    stdin.end();
    expect(await main(["hello"], io, { version: "1", keys: configKeys, otherCommands: new Set() }, outsideAlone)).toBe(
      2,
    );
    expect(io.err()).toMatch(/sets mcpServers\.one\.\w+, .*'research-ralph trust .*--trust/);
    expect(server.requests).toEqual([]);
    const trusting = fakeIo({ cwd: join(folder, "here"), env: { HOME: join(folder, "home") } });
    expect(
      await main(["--trust"], trusting, { version: "1", keys: configKeys, otherCommands: new Set() }, outsideAlone),
    ).toBe(0);
    const again = fakeIo({ cwd: join(folder, "here"), env: { HOME: join(folder, "home") } });
    (again.stdin as PassThrough).end();
    expect(
      await main(["hello"], again, { version: "1", keys: configKeys, otherCommands: new Set() }, outsideAlone),
    ).toBe(0);
    expect(JSON.stringify(server.requests[0]?.body)).toContain("mcp_one");
  });
});

describe("a table that is wider than the terminal", () => {
  const first = "  memory edit <chunk_id> <field> <value>";

  it("breaks the last column below itself where the first leaves it half of the width", () => {
    expect(wrapTable(`  /cost       say what this session used so far`, 30)).toBe(
      "  /cost       say what this\n              session used so\n              far",
    );
  });

  it("sets the last column in below the first where that takes more, with all words whole", () => {
    const rows = wrapTable(`${first}    change type, importance, source or content`, 60).split("\n");
    expect(rows).toEqual([first, "    change type, importance, source or content"]);
    const narrow = wrapTable(`${first}    change type, importance, source or content`, 30).split("\n");
    expect(narrow.join(" ").split(/\s+/)).toEqual(`${first} change type, importance, source or content`.split(/\s+/));
    for (const row of narrow) expect(row.length).toBeLessThan(30);
  });
});

describe("commands of a dialogue", () => {
  it.each([
    ["/help", "Ctrl+C"],
    ["/memory add hermes is the staging server", "Remembered as 1."],
    ["/memory help", "memory search"],
    ["/memory indices", "long_term_memory"],
    ["/tools", "tokens in each request"],
    ["/mcp", "No MCP server is configured"],
    ["/model", "local-model of 127.0.0.1"],
    ["/model other-model", "other-model of 127.0.0.1"],
    ["/cost", "0 requests"],
    ["/clear", "A new conversation begins."],
    ["/nonsense", "There is no command /nonsense."],
  ])("%s", async (line, words) => {
    const { type, until, requests } = await talking();
    type(`${line}\r`);
    await until(words);
    await until("> ");
    expect(requests).toHaveLength(0);
  });

  it("remember for later messages", async () => {
    const { type, until, requests, home } = await talking();
    type("/memory add the staging server is called hermes\r");
    await until("Remembered as 1.");
    await until("> ");
    type("what is the staging server called?\r");
    await until("You said");
    const [system] = (requests[0]?.body["messages"] ?? []) as { role: string; content: string }[];
    expect(system?.content).toMatch(/general, normal, from ralph memory add, similarity 0\.\d\d:\n<untrusted-text/);
    expect(readFileSync(join(home, ".local/ralph/history"), "utf8")).toContain("staging");
  });

  it("a path is no command", async () => {
    const { type, until, requests } = await talking();
    type("/etc/hosts is what?\r");
    await until("You said");
    expect(requests).toHaveLength(1);
  });
});
