import { describe, expect, it } from "vitest";
import { checkAgent, createAgent, knownAgents } from "../../../src/engine/agents/registry.js";
import { place, program, settingsIn } from "./support.js";

const here = place();

describe("the registry", () => {
  it("knows these adapters", () => {
    expect(knownAgents(settingsIn(here))).toEqual([
      ...["claude", "codex", "amp", "ralph"],
      ...["acp:gemini", "acp:opencode", "acp:auggie", "acp:goose", "acp:kimi"],
      "baseline",
    ]);
  });

  it("takes a command behind acp:, and of single words only those it knows", () => {
    const settings = {
      ...settingsIn(here),
      unconfined: true,
      agents: { mine: { type: "acp" as const, command: "x --acp" } },
    };
    for (const spec of ["acp:gemini", "acp:./my-agent", "acp:my-agent --acp", "mine"])
      expect(createAgent(spec, settings)).toMatchObject({ name: spec, confinement: "unconfined", takesTools: true });
    expect(() => createAgent("acp:germini", settings)).toThrow(
      /does not know the agent 'germini'.*'acp:germini --acp'/,
    );
    expect(() => createAgent("acp:", settings)).toThrow(/'acp:my-agent --acp'/);
    expect(() => createAgent("acp", settings)).toThrow(/'acp' is a kind of agent; name one, such as acp:gemini/);
    expect(() => createAgent("acp:gemini", settingsIn(here))).toThrow(/Nothing confines the agent acp:gemini/);
    const wrong = { ...settings, agents: { mine: { type: "cladue", command: "x" } } };
    expect(() => createAgent("mine", wrong)).toThrow(/the type 'cladue'.*types are .*acp.*Did you mean claude\?/);
  });

  it("refuses an unknown name as wrong usage and names the nearest", () => {
    expect(() => createAgent("cluade", settingsIn(here))).toThrow(
      expect.objectContaining({
        name: "ExpectedError",
        exitCode: 2,
        message: expect.stringMatching(/'cluade'.*Did you mean claude\?/),
      }),
    );
    expect(() => createAgent("xyzzy", settingsIn(here))).toThrow(
      /known agents are claude, codex, amp, ralph, acp:gemini, .*, baseline and 'cmd:<command>'/,
    );
    expect(() => createAgent("toString", settingsIn(here))).toThrow(/Unknown agent 'toString'/);
    expect(() => createAgent("sh", { ...settingsIn(here), env: { PATH: "/usr/bin:/bin" } })).toThrow(
      /Unknown agent 'sh'.*Did you mean cmd:sh, the program in your PATH\?/,
    );
  });

  it("refuses an agent that nothing confines unless the user allows it or the run is classic", () => {
    for (const spec of ["amp", "cmd:./x"]) {
      expect(() => createAgent(spec, settingsIn(here))).toThrow(
        expect.objectContaining({ exitCode: 2, message: expect.stringContaining("--unconfined") }),
      );
      expect(createAgent(spec, settingsIn(here, { unconfined: true })).confinement).toBe("unconfined");
      expect(createAgent(spec, settingsIn(here, { classic: true })).confinement).toBe("unconfined");
    }
  });

  it("says that an agent confined by its flags is not so in classic mode", () => {
    expect(createAgent("claude", settingsIn(here)).confinement).toBe("workspace");
    expect(createAgent("claude", settingsIn(here, { classic: true })).confinement).toBe("unconfined");
  });

  it("says of the one agent without a model that it costs nothing", () => {
    expect(
      knownAgents(settingsIn(here)).filter(
        (name) => createAgent(name, settingsIn(here, { unconfined: true })).free === true,
      ),
    ).toEqual(["baseline"]);
  });

  it("takes a configured name by its type, by its own name, or for a command", () => {
    const agents = {
      deep: { type: "claude" as const, model: "opus" },
      codex: { model: "x" },
      mine: { command: "./mine" },
      empty: {},
      bare: { type: "command" as const },
    };
    const settings = settingsIn(here, { agents });
    expect(createAgent("deep", settings)).toMatchObject({ name: "deep", confinement: "workspace" });
    expect(createAgent("codex", settings)).toMatchObject({ name: "codex", confinement: "workspace" });
    expect(() => createAgent("mine", settings)).toThrow(/--unconfined/);
    expect(() => createAgent("empty", settings)).toThrow(/neither a type nor a command/);
    expect(() => createAgent("bare", settings)).toThrow(/has no command/);
    expect(() => createAgent("cmd: ", settings)).toThrow(/no command after the colon/);
  });
});

describe("7: the check of an agent", () => {
  const secret = "sk-secret-0123456789";
  const check = (spec: string, script: string | undefined, env: Record<string, string> = {}) => {
    const command = script === undefined ? "/no/such/program" : program(here.folder, "cli", script);
    return checkAgent(
      spec,
      settingsIn(here, { agents: { [spec]: { command } }, env: { ...settingsIn(here).env, ...env } }),
    );
  };
  const claude = (loggedIn: boolean): string =>
    `[ "$1" = auth ] || { echo '2.1.330 (Claude Code)'; exit; }; echo '{ "loggedIn": ${loggedIn}, "authMethod": "api_key", "key": "${secret}" }'`;

  it("finds a program missing and says how to install it", async () => {
    for (const spec of ["claude", "codex", "amp"]) {
      expect(await check(spec, undefined)).toMatchObject({
        ok: false,
        detail: expect.stringContaining("/no/such/program"),
        fix: expect.stringContaining("npm install"),
      });
    }
  });

  it("tells a login from none before the first run, and never prints a key", async () => {
    expect(await check("claude", claude(true))).toEqual({
      ok: true,
      version: "2.1.330",
      detail: expect.stringContaining("logged in (api_key)"),
    });
    expect(await check("claude", claude(false))).toMatchObject({
      ok: false,
      version: "2.1.330",
      fix: expect.stringContaining("ANTHROPIC_API_KEY"),
    });
    const codex = (code: number): string =>
      `[ "$1" = login ] || { echo 'codex-cli 0.169.0'; exit; }; echo 'Logged in using ChatGPT' >&2; exit ${code}`;
    expect(await check("codex", codex(0))).toEqual({
      ok: true,
      version: "0.169.0",
      detail: expect.stringContaining("logged in (ChatGPT)"),
    });
    expect(await check("codex", codex(1))).toMatchObject({ ok: false, fix: expect.stringContaining("codex login") });
    const withKey = await check("codex", codex(1), { OPENAI_API_KEY: secret });
    expect(withKey).toMatchObject({ ok: true, detail: expect.stringContaining("API key") });
    expect(await check("amp", "echo 1.2.3")).toMatchObject({ ok: false, fix: expect.stringContaining("AMP_API_KEY") });
    const amp = await check("amp", "echo 1.2.3", { AMP_API_KEY: secret });
    expect(amp).toMatchObject({ ok: true, version: "1.2.3" });
    expect(JSON.stringify([withKey, amp, await check("claude", claude(true))])).not.toContain(secret);
  });

  it("finds the program of a command relative to the user's folder", async () => {
    program(here.folder, "mine.sh", "exit 0");
    const settings = settingsIn(here);
    expect(await checkAgent("cmd:./mine.sh --fast", settings)).toMatchObject({
      ok: true,
      detail: expect.stringContaining("mine.sh"),
    });
    expect(await checkAgent("cmd:./other.sh", settings)).toMatchObject({ ok: false, fix: expect.any(String) });
  });
});
