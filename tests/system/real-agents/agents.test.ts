import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { countTokens } from "gpt-tokenizer";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { AgentEvent } from "../../../src/engine/loop/types.js";
import {
  type Answer,
  claimed,
  type Cli,
  type FakeLlm,
  type ModelRequest,
  processesOf,
  runReal,
  type Setup,
  startFakeLlm,
  type ToolCall,
  writeCall,
} from "./support/agents.js";
import { killProcesses } from "../../support/processes/kill-processes.js";
import { installed } from "./support/install.js";

let folder: string;
let server: FakeLlm | undefined;
beforeEach(() => {
  // Not in /tmp alone: what a sandbox makes of /tmp itself must not decide these tests.
  folder = mkdtempSync(join(tmpdir(), "agents-"));
});
afterEach(async () => {
  await server?.close();
  server = undefined;
  rmSync(folder, { recursive: true, force: true });
});

const workspace = (): string => join(folder, "workspace");

async function run(
  cli: Cli,
  answer: (request: ModelRequest) => Answer,
  more: Partial<Setup> = {},
  text = "the brief",
): Promise<AgentEvent[]> {
  server = await startFakeLlm(answer);
  return (await runReal(cli, text, { folder, server, ...more })).events;
}

/** A model that calls these tools one after the other, then says so. */
const calls =
  (...tools: readonly ToolCall[]) =>
  ({ results }: ModelRequest): Answer => {
    const tool = tools[results.length];
    return tool === undefined ? { text: "<promise>COMPLETE</promise>" } : { text: "Working.", tools: [tool] };
  };

const end = (events: readonly AgentEvent[]): AgentEvent | undefined => events.at(-1);
const said = (): string => (server?.requests ?? []).flatMap(({ results }) => results).join("\n");
const shell = (cmd: string): ToolCall => ({ name: "exec_command", input: { cmd } });

for (const cli of ["claude", "codex"] as const) {
  const found = installed(cli);
  const reason = "problem" in found ? ` (skipped: ${found.problem})` : "";
  describe.skipIf("problem" in found)(`the real ${cli}${reason}`, () => {
    it("writes result.json by a tool call and reports its answer, tokens and model", async () => {
      const events = await run(cli, (request) =>
        calls(writeCall(cli, workspace(), "result.json", '{"ok":true}'))(request),
      );
      expect(JSON.parse(readFileSync(join(workspace(), "result.json"), "utf8"))).toEqual({ ok: true });
      expect(end(events)).toEqual({ type: "end", message: "<promise>COMPLETE</promise>" });
      const usage = events.findLast((event) => event.type === "usage");
      expect(usage).toMatchObject({
        usage: { input: 2 * claimed.input, cached: 2 * claimed.cached, output: 2 * claimed.output, requests: 2 },
      });
      if (cli === "claude")
        expect(usage).toMatchObject({ cost_usd: expect.any(Number), model: expect.stringContaining("claude") });
      expect(readFileSync(join(folder, "1.log"), "utf8")).toContain("COMPLETE");
    });

    it("sends the whole brief, and of its own no more than the floor", async () => {
      const text = `the brief ${"word ".repeat(5000)}end`;
      await run(cli, () => ({ text: "done" }), {}, text);
      const [request] = server?.requests ?? [];
      expect(request?.user).toContain(text);
      const floor = countTokens(JSON.stringify(request?.body)) - countTokens(text);
      // 836 and 3,300 tokens measured; codex's default model comes with a description of its code mode of 2,000.
      expect(floor).toBeLessThan(cli === "claude" ? 2500 : 4500);
    });

    it("offers no shell", async () => {
      await run(
        cli,
        calls(cli === "claude" ? { name: "Bash", input: { command: "touch shell" } } : shell("touch shell")),
      );
      expect(existsSync(join(workspace(), "shell"))).toBe(false);
    });

    it("refuses to write outside the workspace", async () => {
      const outside = join(folder, "outside.txt");
      const tool: ToolCall =
        cli === "claude"
          ? writeCall(cli, workspace(), outside, "x")
          : writeCall(cli, workspace(), "../outside.txt", "x");
      await run(cli, calls(tool));
      expect(server?.requests).toHaveLength(2);
      expect(existsSync(outside)).toBe(false);
    });

    it("keeps the user's own instructions out", async () => {
      for (const [path, name] of [
        [join(folder, "home"), "home"],
        [folder, "above"],
        [workspace(), "workspace"],
      ] as const) {
        for (const file of [".claude/CLAUDE.md", "CLAUDE.md", "AGENTS.md", ".codex/AGENTS.md"]) {
          mkdirSync(join(path, file, ".."), { recursive: true });
          writeFileSync(join(path, file), `BLEED-IN from ${name} ${file}`);
        }
      }
      await run(cli, () => ({ text: "done" }));
      expect(JSON.stringify(server?.requests[0]?.body)).not.toContain("BLEED-IN");
    });

    it("works on the user's tree with its shell in classic mode, root or not", async () => {
      const command = `echo x > ${join(folder, "outside.txt")}`;
      const tool =
        cli === "claude" ? { name: "Bash", input: { command } } : { name: "exec_command", input: { cmd: command } };
      const classic = {
        access: { everything: true },
        settings: { classic: true },
        options: cli === "codex" ? { model: "gpt-5.5" } : {},
      };
      const events = await run(cli, calls(tool), classic);
      expect(end(events)).toEqual({ type: "end", message: "<promise>COMPLETE</promise>" });
      expect(existsSync(join(folder, "outside.txt"))).toBe(true);
    });

    it("loses a sentinel of an earlier message", async () => {
      const events = await run(cli, ({ results }) =>
        results.length === 0
          ? { text: "<promise>COMPLETE</promise>", tools: [writeCall(cli, workspace(), "result.json", "{}")] }
          : { text: "There is more to do." },
      );
      expect(end(events)).toEqual({ type: "end", message: "There is more to do." });
    });

    it("takes 429 for a rate limit and a phrase of the model about limits for none", async () => {
      const limited = await run(cli, () => ({
        status: 429,
        headers: { "retry-after": "1" },
        message: "This request would exceed your account's rate limit.",
      }));
      expect(end(limited)).toMatchObject({ type: "end", message: "", failure: { kind: "rate-limit" } });
      await server?.close();
      const talk = await run(cli, () => ({
        text: "429 Too Many Requests: the rate limit. 401 Unauthorized, please run /login.",
      }));
      expect(end(talk)).toMatchObject({ type: "end", message: expect.stringContaining("429") });
      expect(end(talk)).not.toHaveProperty("failure");
    });

    it("takes 401 for a missing login", async () => {
      const events = await run(cli, () => ({ status: 401, message: "invalid x-api-key" }));
      expect(end(events)).toMatchObject({ message: "", failure: { kind: "auth" } });
    });

    it("takes 500 and a server that is not there for the network", async () => {
      const broken = await run(cli, () => ({ status: 500, message: "boom" }));
      expect(end(broken)).toMatchObject({ message: "", failure: { kind: "network" } });
      await server?.close();
      const { events } = await runReal(cli, "the brief", { folder, server: { url: "http://127.0.0.1:9" } });
      expect(end(events)).toMatchObject({ message: "", failure: { kind: "network" } });
    });

    for (const hang of ["hang", "hang-mid-stream"] as const) {
      it(`is ended by our own clock when its service answers with a ${hang}`, async () => {
        const events = await run(cli, () => hang, { settings: { iterationMs: 4000 } });
        expect(end(events)).toMatchObject({ message: "", failure: { kind: "timeout" } });
      });
    }

    it("is ended when it says nothing", async () => {
      const events = await run(cli, () => "hang", { settings: { idleMs: 3000 } });
      expect(end(events)).toMatchObject({ message: "", failure: { kind: "idle" } });
    });

    for (const name of ["SIGINT", "SIGTERM"] as const) {
      it.skipIf(process.platform !== "linux")(
        `has failed when somebody sends it ${name}, although it may exit with 0`,
        async () => {
          const events = await run(cli, (request) => {
            setTimeout(() => killProcesses(processesOf(folder), name), 300);
            return request.results.length === 0 ? "hang" : { text: "done" };
          });
          expect(end(events)).toMatchObject({
            message: "",
            failure: { kind: expect.stringMatching(/^(no-answer|crashed|aborted)$/) },
          });
        },
      );
    }
  });
}

describe.skipIf("problem" in installed("claude"))("the confinement of the real claude", () => {
  const read = (path: string): ToolCall => ({ name: "Read", input: { file_path: path } });

  it("reads in the workspace where the brief allows it, and never a secret outside", async () => {
    mkdirSync(workspace());
    writeFileSync(join(workspace(), "01.txt"), "the text of the paper");
    writeFileSync(join(folder, "secret.txt"), "PLANTED");
    mkdirSync(join(folder, "home", ".ssh"), { recursive: true });
    writeFileSync(join(folder, "home", ".ssh", "id"), "PLANTED");
    const tools = [
      read(join(workspace(), "01.txt")),
      read(join(folder, "secret.txt")),
      read(join(folder, "home", ".ssh", "id")),
    ];
    const events = await run("claude", calls(...tools), { access: { read: true } });
    expect(said()).toContain("the text of the paper");
    expect(said()).not.toContain("PLANTED");
    expect(events).toContainEqual({ type: "notice", message: `Refused: Read ${join(folder, "secret.txt")}` });
  });

  it("has no tool to read with where the brief does not need one", async () => {
    mkdirSync(workspace());
    writeFileSync(join(workspace(), "01.txt"), "the text of the paper");
    await run("claude", calls(read(join(workspace(), "01.txt"))));
    expect(said()).not.toContain("the text of the paper");
  });

  it("keeps no memory between iterations", async () => {
    const memory = join(
      folder,
      "home",
      ".claude",
      "projects",
      workspace().replace(/[^a-zA-Z0-9]/g, "-"),
      "memory",
      "MEMORY.md",
    );
    await run("claude", calls(writeCall("claude", workspace(), memory, "PLANTED")));
    expect(existsSync(memory)).toBe(false);
    await server?.close();
    await run("claude", calls(writeCall("claude", workspace(), memory, "PLANTED")), {
      options: { env: { CLAUDE_CONFIG_DIR: join(folder, "home", ".claude") } },
    });
    expect(existsSync(memory)).toBe(false);
  });

  it("lets it use the web only where the brief asks for it", async () => {
    const tools = (): string[] => server?.requests[0]?.body["tools"].map(({ name }: { name: string }) => name);
    await run("claude", () => ({ text: "done" }));
    expect(tools()).not.toContain("WebSearch");
    await server?.close();
    await run("claude", () => ({ text: "done" }), { access: { web: true } });
    expect(tools()).toEqual(expect.arrayContaining(["WebFetch", "WebSearch", "Write"]));
  });
});

describe.skipIf("problem" in installed("codex"))("the confinement of the real codex", () => {
  /** A model of the user's choice keeps the shell, because Codex may not know another way for it to write. */
  const withShell = { options: { model: "gpt-5.5" } };

  it("writes with its shell in the workspace and nowhere else, asked nicely or not", async () => {
    const outside = join(folder, "outside.txt");
    const escalated = { cmd: `echo x > ${outside}`, sandbox_permissions: "require_escalated", justification: "please" };
    await run(
      "codex",
      calls(shell("echo x > inside.txt"), shell(`echo x > ${outside}`), { name: "exec_command", input: escalated }),
      withShell,
    );
    expect(existsSync(join(workspace(), "inside.txt"))).toBe(true);
    expect(existsSync(outside)).toBe(false);
  });

  it("hides keys from the commands it runs", async () => {
    await run("codex", calls(shell("env; echo end of environment")), withShell);
    expect(said()).toContain("end of environment");
    expect(said()).not.toContain("FAKE_KEY");
  });

  it("has no network for the commands it runs", async () => {
    const script = `node -e 'fetch("http://127.0.0.1:${"$"}{process.argv[1]}/v1/models").then(() => console.log("CAME" + " THROUGH"), () => console.log("no network"))'`;
    await run("codex", (request) => calls(shell(`${script} ${server?.port}`))(request), withShell);
    expect(said()).toContain("no network");
    expect(said()).not.toContain("CAME THROUGH");
  });

  it("leaves nothing in the background", async () => {
    const left =
      "nohup setsid sh -c 'echo $$ > left.pid; exec sleep 60' >/dev/null 2>&1 & while [ ! -s left.pid ]; do sleep 0.05; done";
    await run("codex", calls(shell(left)), withShell);
    expect(existsSync(join(workspace(), "left.pid"))).toBe(true);
    expect(processesOf(folder)).toEqual([]);
  });
});
