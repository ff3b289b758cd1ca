import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { crewOf, noticesOf } from "../../src/compose/code-roles.js";
import type { AgentSettings } from "../../src/engine/agents/definition.js";
import { familiesOf } from "../../src/engine/agents/registry.js";
import type { ResolvedConfig } from "../../src/compose/config.js";

const config = (more: object): ResolvedConfig =>
  ({ agent: "claude", fallbacks: ["codex"], agents: {}, ...more }) as unknown as ResolvedConfig;

describe("the agents of roles", () => {
  it("are the run's own unless the configuration says otherwise", () => {
    const crew = crewOf(config({}), {});
    expect(crew.names).toEqual({});
    expect([crew.hasAdversary, crew.isBuiltIn]).toEqual([true, false]);
    expect(crew.temperatures).toEqual({ librarian: 0.3, artisan: 0.7, critic: 0.2, adversary: 0.9 });
  });

  it("may be several, code, or none", () => {
    const roles = {
      librarian: { agent: "built-in" },
      artisan: { agent: ["claude", "codex"], temperature: 0.1 },
      adversary: false,
    };
    const crew = crewOf(config({ code: { roles } }), {});
    expect(crew.names).toEqual({ artisan: ["claude", "codex"] });
    expect([crew.hasAdversary, crew.isBuiltIn, crew.temperatures["artisan"]]).toEqual([false, true, 0.1]);
  });

  it("have a model of their own by models.<role>, whose key counts below the environment", () => {
    const models = { critic: { model: "haiku", temperature: 0.5, api_key: "k-123" } };
    const crew = crewOf(config({ models }), {});
    expect(crew.names).toEqual({ critic: ["claude-critic", "codex"] });
    expect(crew.config.agents["claude-critic"]).toEqual({
      type: "claude",
      model: "haiku",
      env: { ANTHROPIC_API_KEY: "k-123" },
    });
    expect(crew.temperatures["critic"]).toBe(0.5);
    const known = crewOf(config({ models }), { ANTHROPIC_API_KEY: "mine" });
    expect(known.config.agents["claude-critic"]?.env).toEqual({});
    const token = crewOf(config({ models, agents: { claude: { env: { ANTHROPIC_AUTH_TOKEN: "t" } } } }), {});
    expect(token.config.agents["claude-critic"]?.env).toEqual({ ANTHROPIC_AUTH_TOKEN: "t" });
    const gemini = { critic: { model: "gemini-3-pro", api_key: "k" } };
    expect(crewOf(config({ agent: "ralph", models: gemini }), {}).config.agents["ralph-critic"]?.env).toEqual({
      GEMINI_API_KEY: "k",
    });
  });

  it("are others where the run's own has no such model", () => {
    const models = { librarian: { model: "gemini-2.0-pro" } };
    const name = (more: object, env = {}) => crewOf(config({ models, ...more }), env).names["librarian"]?.[0];
    expect(() => crewOf(config({ models }), {})).toThrow(
      "/models/librarian: claude has no model 'gemini-2.0-pro', and no agent that has it is installed",
    );
    expect(name({ agents: { mine: { type: "ralph" } } })).toBe("mine-librarian");
    const other = crewOf(config({ models }), { GOOGLE_API_KEY: "k" });
    expect(other.config.agents["ralph-librarian"]).toEqual({ type: "ralph", model: "gemini-2.0-pro", env: {} });
    expect(other.modelNotices).toEqual([
      expect.stringContaining("claude has no model gemini-2.0-pro, so ralph is asked"),
    ]);
    // A gateway may have any model, and who knows what arguments say.
    expect(name({}, { ANTHROPIC_BASE_URL: "http://127.0.0.1:1" })).toBe("claude-librarian");
    expect(name({ agents: { claude: { args: ["--settings", "x"] } } })).toBe("claude-librarian");
    expect(crewOf(config({ models: { librarian: "opusplan" } }), {}).modelNotices).toEqual([]);
  });

  it("is the maker's own where that is installed", () => {
    const folder = mkdtempSync(join(tmpdir(), "path-"));
    writeFileSync(join(folder, "gemini"), "", { mode: 0o755 });
    const models = { critic: { model: "gemini-3-pro", api_key: "k" } };
    const crew = crewOf(config({ models }), { PATH: folder });
    rmSync(folder, { recursive: true });
    expect(crew.names["critic"]).toEqual(["gemini-critic", "codex"]);
    const agents = crew.config.agents as AgentSettings["agents"];
    expect(agents["gemini-critic"]).toMatchObject({ type: "acp", command: "gemini", env: { GEMINI_API_KEY: "k" } });
    const settings = { agents, adapters: [], env: {} };
    expect(familiesOf("gemini-critic", settings)).toEqual(["gemini"]);
  });

  it.each([
    [{ code: { roles: { artist: {} } } }, "/code/roles/artist", "Did you mean artisan?"],
    [{ models: { writer: {} } }, "/models/writer", "librarian, artisan"],
    [{ code: { roles: { critic: false } } }, "/code/roles/critic", "only the adversary"],
    [{ code: { roles: { critic: { agent: "built-in" } } } }, "/code/roles/critic/agent", "librarian alone"],
    [
      { models: { critic: { model: "m" } }, code: { roles: { critic: { agent: "codex" } } } },
      "/models/critic and /code/roles/critic/agent",
      "leave one out",
    ],
    [{ agent: "cmd:./x", models: { critic: { model: "m" } } }, "/models/critic", "command agent"],
  ])("%j end with exit code 2", (more, pointer, hint) => {
    expect(() => crewOf(config(more), {})).toThrow(expect.objectContaining({ exitCode: 2 }));
    expect(() => crewOf(config(more), {})).toThrow(pointer);
    expect(() => crewOf(config(more), {})).toThrow(hint);
  });

  it("are told of once where a temperature or the closing of a context does not apply", () => {
    const agents = [{ name: "mine", takesTemperature: true as const }, { name: "claude" }, { name: "codex" }];
    const notices = noticesOf({ config: config({}), modelNotices: [] }, agents);
    expect(notices).toEqual([
      expect.stringContaining("claude, codex take no temperature"),
      expect.stringContaining("codex does not report its usage"),
    ]);
    expect(noticesOf({ config: config({}), modelNotices: [] }, agents.slice(0, 1))).toEqual([]);
  });
});
