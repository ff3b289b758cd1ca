import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { AgentOptions } from "../../../src/engine/agents/definition.js";
import { maxBriefBytes } from "../../../src/engine/agents/run-agent.js";
import { createAgent } from "../../../src/engine/agents/registry.js";
import type { AgentEnd, AgentEvent } from "../../../src/engine/loop/types.js";
import { isAtWork } from "../../support/processes/alive.js";
import { briefIn, endOf, fixture, place, program, run, settingsIn } from "./support.js";

const here = place();

/** Runs the adapter with a program of ours in place of the CLI. */
async function pretend(
  name: "claude" | "codex" | "amp" | "command",
  script: string,
  more: Parameters<typeof settingsIn>[1] = {},
): Promise<AgentEnd> {
  const command = program(here.folder, name, script);
  const settings = settingsIn(here, {
    unconfined: true,
    agents: { [name]: { command, env: { AMP_API_KEY: "dummy" } } },
    ...more,
  });
  return endOf(await run(name, settings, briefIn(here)));
}

describe("how a run is judged", () => {
  for (const name of ["claude", "codex", "amp"] as const) {
    it(`1: does not trust exit code 0 of ${name} without its own word that it ended`, async () => {
      expect(await pretend(name, "cat >/dev/null; echo '<promise>COMPLETE</promise>'")).toMatchObject({
        message: "",
        failure: { kind: "no-answer" },
      });
    });

    it(`1: does not trust that word of ${name} with another exit code or a signal`, async () => {
      expect(await pretend(name, `cat ${fixture(`${name}-success`)}; exit 3`)).toMatchObject({
        message: "",
        failure: { kind: "crashed" },
      });
      expect(await pretend(name, `cat ${fixture(`${name}-success`)}; kill -9 $$`)).toMatchObject({
        message: "",
        failure: { kind: "crashed" },
      });
    });
  }

  it("2: takes the final message from the protocol, whatever is printed around it", async () => {
    const noise = "echo '<promise>COMPLETE</promise>'; echo '<promise>COMPLETE</promise>' >&2";
    expect(await pretend("amp", `${noise}; cat ${fixture("amp-success")}; ${noise}`)).toEqual({
      type: "end",
      message: "Done.",
    });
  });

  it("3: passes an earlier message on and keeps it out of the final one", async () => {
    const command = program(here.folder, "claude", `cat ${fixture("claude-success")}`);
    const events = await run("claude", settingsIn(here, { agents: { claude: { command } } }), briefIn(here));
    expect(events).toContainEqual({ type: "text", text: "<promise>COMPLETE</promise> comes later." });
    expect(endOf(events).message).toBe("Done.\n\n<promise>COMPLETE</promise>");
  });

  it("4: records a timeout although the agent answers SIGTERM with a result and exit 0", async () => {
    const script = `trap 'cat ${fixture("claude-success")}; exit 0' TERM; while :; do sleep 0.05; done`;
    expect(await pretend("claude", script, { iterationMs: 300 })).toMatchObject({
      message: "",
      failure: { kind: "timeout" },
    });
    expect(await pretend("claude", "sleep 20", { idleMs: 300 })).toMatchObject({
      message: "",
      failure: { kind: "idle" },
    });
  });

  it("4: ends an agent after the time this iteration may take, where its settings give more", async () => {
    const command = program(here.folder, "claude", "sleep 20");
    const agent = createAgent("claude", settingsIn(here, { agents: { claude: { command } } }));
    const events: AgentEvent[] = [];
    for await (const event of agent.run(briefIn(here), { signal: new AbortController().signal, maxMs: 300 }))
      events.push(event);
    expect(events.at(-1)).toMatchObject({ failure: { kind: "timeout" } });
  });

  it.skipIf(process.platform !== "linux")("5: leaves no process, also after a good end", async () => {
    const left = join(here.folder, "left");
    await pretend(
      "claude",
      `setsid nohup sh -c 'echo $$ > ${left}; sleep 30' >/dev/null 2>&1 & while [ ! -s ${left} ]; do sleep 0.02; done; cat ${fixture("claude-success")}`,
    );
    expect(isAtWork(Number(readFileSync(left, "utf8")))).toBe(false);
  });

  it("6: refuses a brief that is too long before it starts anything", async () => {
    const command = program(here.folder, "claude", `touch ${join(here.folder, "started")}`);
    const settings = settingsIn(here, { agents: { claude: { command } } });
    const end = endOf(await run("claude", settings, briefIn(here, { text: "é".repeat(maxBriefBytes / 2 + 1) })));
    expect(end).toMatchObject({ message: "", failure: { kind: "too-large" } });
    expect(existsSync(join(here.folder, "started"))).toBe(false);
  });

  it("6: hands a brief of the greatest size over whole", async () => {
    const command = program(
      here.folder,
      "claude",
      `cat > ${join(here.folder, "brief")}; cat ${fixture("claude-success")}`,
    );
    const settings = settingsIn(here, { agents: { claude: { command } } });
    endOf(await run("claude", settings, briefIn(here, { text: "x".repeat(maxBriefBytes) })));
    expect(statSync(join(here.folder, "brief")).size).toBe(maxBriefBytes);
  });

  it("says which program is not there", async () => {
    const settings = settingsIn(here, { agents: { claude: { command: "/no/such/claude" } } });
    const end = endOf(await run("claude", settings, briefIn(here)));
    expect(end.failure).toMatchObject({ kind: "missing", message: expect.stringContaining("/no/such/claude") });
  });

  it("names what is installed instead of a program that is not there", async () => {
    program(here.folder, "codex", "exit 0");
    const settings = settingsIn(here, { env: { PATH: here.folder } });
    expect(endOf(await run("claude", settings, briefIn(here))).failure?.message).toContain("--agent codex");
  });

  it("names the key that was refused, the command that tries it, and the version that a CLI needs", async () => {
    const refused = "echo 'API Error: 401 unauthorized' >&2; exit 1";
    const withKey = await pretend("claude", refused, { env: { PATH: process.env["PATH"], ANTHROPIC_API_KEY: "k" } });
    expect(withKey.failure).toMatchObject({
      kind: "auth",
      message: expect.stringMatching(/ANTHROPIC_API_KEY.*doctor --probe claude/),
    });
    expect((await pretend("claude", refused)).failure?.message).toMatch(/Log in.*doctor --probe claude/);
    expect((await pretend("claude", "echo \"error: unknown option '--tools'\" >&2; exit 1")).failure).toMatchObject({
      kind: "unusable",
      message: expect.stringMatching(/claude 2\.\d+\.\d+ or newer.*npm install/),
    });
  });

  it("looks for a reason in stderr when the protocol tells none, and never in stdout", async () => {
    expect(await pretend("claude", "echo 'HTTP 429 Too Many Requests'; exit 1")).toMatchObject({
      failure: { kind: "crashed" },
    });
    expect(await pretend("claude", "echo 'HTTP 429 Too Many Requests, retry-after: 60' >&2; exit 1")).toMatchObject({
      failure: { kind: "rate-limit", reset_at: expect.any(String) },
    });
    expect(await pretend("claude", "echo 'connect ECONNREFUSED 127.0.0.1:9' >&2; exit 1")).toMatchObject({
      failure: { kind: "network" },
    });
    expect(await pretend("claude", "echo 'Not logged in · Please run /login' >&2; exit 1")).toMatchObject({
      failure: { kind: "auth" },
    });
  });

  it("reads a limit from the last line of a program that speaks no protocol, and shows what else it said there", async () => {
    const limit = "echo 'It works.'; echo 'You hit your limit · resets 11:59pm (UTC)'";
    expect(await pretend("command", `${limit}; exit 1`)).toMatchObject({
      failure: { kind: "rate-limit", reset_at: expect.stringContaining("T23:59:00") },
    });
    expect(await pretend("command", limit)).not.toHaveProperty("failure");
    expect(await pretend("command", "echo 'HTTP 429'; echo 'No licence for this host'; exit 1")).toMatchObject({
      failure: { kind: "crashed", message: expect.stringContaining("it said: No licence for this host") },
    });
  });

  it("does not look into stderr when the run ended well", async () => {
    expect(
      await pretend("claude", `echo '429 Too Many Requests, retrying' >&2; cat ${fixture("claude-success")}`),
    ).not.toHaveProperty("failure");
  });

  it("puts timeouts before every other reading", async () => {
    const script = `echo '429 Too Many Requests' >&2; cat ${fixture("claude-429")}; while :; do echo; sleep 0.05; done`;
    expect(await pretend("claude", script, { iterationMs: 400 })).toMatchObject({ failure: { kind: "timeout" } });
  });

  it.each([
    ["SIGINT", "the run was interrupted"],
    ["time", "the time of this run was up"],
  ])("ends at once when the run does, for %s, and says so", async (reason, why) => {
    const abort = new AbortController();
    const command = program(here.folder, "claude", "sleep 20");
    setTimeout(() => abort.abort(reason), 200);
    const end = endOf(
      await run("claude", settingsIn(here, { agents: { claude: { command } } }), briefIn(here), abort.signal),
    );
    expect(end).toMatchObject({
      message: "",
      failure: { kind: "aborted", message: `claude was ended because ${why}.` },
    });
  });

  it("runs in the workspace with the user's environment and the config's on top", async () => {
    const out = join(here.folder, "out");
    const command = program(
      here.folder,
      "claude",
      `echo "$PWD $USERS $OURS $CLAUDECODE" > ${out}; cat ${fixture("claude-success")}`,
    );
    const env = { ...settingsIn(here).env, USERS: "users", OURS: "users", CLAUDECODE: "1" };
    await run(
      "claude",
      settingsIn(here, { env, agents: { claude: { command, env: { OURS: "configured" } } } }),
      briefIn(here),
    );
    expect(readFileSync(out, "utf8").trim()).toBe(`${here.workspace} users configured`);
  });

  it("lets git start nothing that stands in a workspace, and lets one that its CLI alone confines see no repository", async () => {
    const [out, ran] = [join(here.folder, "git"), join(here.folder, "ran")];
    const planted = `git init -q . && git config core.fsmonitor 'touch ${ran}; false' && git config core.hooksPath hooks &&
      git config filter.evil.clean 'touch ${ran}; cat' && mkdir hooks && printf '#!/bin/sh\ntouch ${ran}' > hooks/pre-commit && chmod +x hooks/pre-commit`;
    const script = `(unset GIT_CONFIG_COUNT GIT_DIR; ${planted}); git status > ${out} 2>&1; git commit --allow-empty -m x >> ${out} 2>&1`;
    const tried = async (name: string, more: string) => {
      const command = program(here.folder, "planting", `${script}; ${more}`);
      const settings = settingsIn(here, { unconfined: true, agents: { claude: { command } } });
      await run(name === "claude" ? name : `cmd:${command}`, settings, briefIn(here));
      expect(existsSync(ran)).toBe(false);
      return readFileSync(out, "utf8");
    };
    expect(await tried("command", "echo done")).toContain("No commits yet");
    const filtered = `echo '* filter=evil' > .gitattributes; git add .; cat ${fixture("claude-success")}`;
    expect(await tried("claude", filtered)).toContain("not a git repository");
  });

  it("says so when the transcript can't be kept", async () => {
    const command = program(here.folder, "claude", `cat ${fixture("claude-success")}`);
    writeFileSync(join(here.folder, "file"), "");
    const settings = settingsIn(here, {
      agents: { claude: { command } },
      transcript: (iteration) => join(here.folder, "file", `${iteration}.log`),
    });
    const events = await run("claude", settings, briefIn(here));
    expect(events).toContainEqual({ type: "notice", message: expect.stringContaining("file/1.log") });
    expect(endOf(events).failure).toBeUndefined();
  });
});

describe("the model of a codex, which does not name it,", () => {
  const modelOf = async (options: AgentOptions, more: Parameters<typeof settingsIn>[1] = {}) => {
    const command = program(here.folder, "codex", `cat ${fixture("codex-success")}`);
    const events = await run(
      "codex",
      settingsIn(here, { agents: { codex: { command, ...options } }, ...more }),
      briefIn(here),
    );
    return events.findLast((event) => event.type === "usage");
  };

  it("is its own, or the one set, with an estimate of the cost", async () => {
    expect(await modelOf({})).toMatchObject({ model: "gpt-5.5", cost_usd: expect.any(Number), estimated: true });
    expect(await modelOf({ model: "gpt-5.4" })).toMatchObject({ model: "gpt-5.4", cost_usd: expect.any(Number) });
  });

  it.each<[string, AgentOptions, { classic?: boolean }]>([
    ["-m", { args: ["-m", "x"] }, {}],
    ["-c model=", { args: ["-c", 'model="x"'], model: "gpt-5.4" }, {}],
    ["--oss", { args: ["--oss"] }, {}],
    ["the user's settings", { user_settings: true }, {}],
    ["the user's settings in classic mode", {}, { classic: true }],
  ])("is not known where %s may choose it, and there is no price", async (_what, options, settings) => {
    const event = await modelOf(options, settings);
    expect(event).toMatchObject({ type: "usage" });
    expect(event).not.toHaveProperty("model");
    expect(event).not.toHaveProperty("cost_usd");
  });
});
