import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { type FakeLlm, startFakeLlm } from "../../fixtures/fake-llm/server.js";
import { sharedPackage } from "../../support/processes/built.js";

const hasTmux = spawnSync("tmux", ["-V"]).status === 0;
/** One of its own for each dialogue: a server that is being ended still answers for a moment. */
let socket = "";
let dialogues = 0;

let built: string;
let folder: string;
let server: FakeLlm;
beforeAll(async () => {
  built = await sharedPackage();
  folder = mkdtempSync(join(tmpdir(), "terminal-"));
  mkdirSync(join(folder, ".local/ralph"), { recursive: true });
  writeFileSync(join(folder, "note.txt"), "worn fingertips\n");
  server = await startFakeLlm(
    ({ results, user }) => {
      const last = user.split("\n").at(-1) ?? "";
      if (last === "hang") return "hang-mid-stream";
      if (last === "markdown") return { text: "# Title\n\n- **one**\n- two\n\n| a | b |\n|---|---|\n| c | d |\n" };
      if (last === "write" && results.length === 0)
        return { tools: [{ name: "file_write", input: { file_path: "out.txt", content: "hello\n" } }] };
      return { text: `Heard ${user.length} characters.` };
    },
    { countsAll: true },
  );
  const config = { api_url: `${server.url}/v1/chat/completions`, model: "local-model", context_window: 32_000 };
  writeFileSync(join(folder, ".local/ralph/config.json"), JSON.stringify(config), { mode: 0o600 });
});
afterEach(async () => {
  const session = tmux("display-message", "-p", "#{pane_pid}").trim();
  tmux("kill-server");
  // `ralph` saves what was said once its terminal is gone, so its folder stays until it has ended.
  while (session !== "" && inSession(session)) await sleep(20);
});
afterAll(async () => {
  await server.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Whether a process of the terminal with this session leader is still there. */
const inSession = (leader: string): boolean => spawnSync("ps", ["-o", "pid=", "-s", leader]).stdout.length > 0;
const tmux = (...args: readonly string[]): string =>
  spawnSync("tmux", ["-L", socket, "-f", "/dev/null", ...args], { encoding: "utf8" }).stdout;
const keys = (...names: readonly string[]): void => void tmux("send-keys", ...names);
const screen = (): string => tmux("capture-pane", "-p").replace(/ +$/gm, "").trimEnd();

/** Waits until the terminal shows the words. */
async function shows(words: string | RegExp): Promise<string> {
  for (let tried = 0; tried < 300; tried += 1) {
    const seen = screen();
    if (typeof words === "string" ? seen.includes(words) : words.test(seen)) return seen;
    await sleep(100);
  }
  throw new Error(`The terminal does not show ${String(words)}:\n${screen()}`);
}

function begin(columns: number): void {
  socket = `ralph-${process.pid}-${(dialogues += 1)}`;
  const program = `cd '${folder}' && HOME='${folder}' '${process.execPath}' '${join(built, "dist/ralph.js")}'; echo LEFT; sleep 60`;
  tmux("new-session", "-d", "-x", String(columns), "-y", "40", `sh -c "${program}"`);
}

test.skipIf(!hasTmux)("a dialogue in a terminal: Markdown, a paste, a question, Ctrl+C, leaving", async () => {
  begin(80);
  await shows(/^> *$/m);
  keys("markdown", "Enter");
  await shows("Title\n\n• one\n• two\n\na  b\nc  d");

  writeFileSync(join(folder, "pasted"), "one\ntwo\nthree");
  tmux("load-buffer", join(folder, "pasted"));
  tmux("paste-buffer", "-p");
  await shows("> [3 lines]");
  keys("Enter");
  await shows("Heard 22 characters.");
  expect(server.requests.at(-1)?.user).toBe("markdown\none\ntwo\nthree");

  keys("write", "Enter");
  await shows("Allow file_write? y yes · n no · a always");
  keys("y");
  await shows("● file_write out.txt · 6 bytes");

  await shows(/> *$/);
  keys("hang", "Enter");
  await shows("Ctrl+C stops");
  keys("C-c");
  await shows("Stopped.");
  keys("see @no");
  await sleep(300);
  keys("Tab");
  await shows("> see @note.txt");
  keys("Enter");
  await shows(/Heard \d+ characters\.\n\n> *$/);
  expect(server.requests.at(-1)?.user).toContain("worn fingertips");
  keys("C-d");
  await shows("ralph --continue goes on with this conversation.");
  // Nothing of the answer that hung keeps the program running.
  await shows("LEFT");
});

test.skipIf(!hasTmux)("a dialogue in 20 columns", async () => {
  begin(20);
  await shows(/^> *$/m);
  keys("markdown", "Enter");
  await shows("• one\n• two");
  keys("/help", "Enter");
  await shows("stop the");
});
