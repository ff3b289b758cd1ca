import type { Brief, ToolServer } from "../../loop/types.js";
import { readClaude } from "./stream.js";
import { join } from "node:path";
import { anyPublicHost, hostOf, keyAddress, keyPlaceholder, sandboxHome } from "../../process/access.js";
import type { AgentContext, AgentDefinition, AgentAccess, Invocation } from "../definition.js";
import { checkProgram, runProbe, homeIn, instructionsFor, configuredAccess, programOf } from "../program.js";
import { serverName, commandWithoutSecrets } from "../shared/tool-server.js";

const keyVariables = ["ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_API_KEY", "CLAUDE_CODE_OAUTH_TOKEN"];

/** Claude Code: https://code.claude.com/docs/en/headless */
export const claude: AgentDefinition = {
  name: "claude",
  program: "claude",
  confinement: "workspace",
  takesTools: true,
  oldestTested: { version: "2.1.197", updateCommand: "npm install -g @anthropic-ai/claude-code@latest" },
  settingVariables: /^(?:ANTHROPIC|CLAUDE|DISABLE|MAX|BASH)_|^API_TIMEOUT_MS$/,
  keyVariables,
  families: ["claude"],
  // The account decides which of these models is used.
  usualModels: ["sonnet", "opus"],
  invoke(brief, context, maxUsd): Invocation {
    const { options } = context;
    const model = options.model === undefined ? [] : ["--model", options.model];
    // The CLI does not accept 0.
    const budget = maxUsd === undefined ? [] : ["--max-budget-usd", Math.max(maxUsd, 0.01).toFixed(2)];
    const mode = brief.access.everything
      ? ["--dangerously-skip-permissions", "--allowedTools", classicTools]
      : confinedArguments(brief, context);
    return {
      command: programOf(context, "claude"),
      args: [
        "-p",
        "--output-format",
        "stream-json",
        "--verbose",
        ...mode,
        ...model,
        ...budget,
        ...(options.args ?? []),
      ],
      env: {
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
        // A background task would be killed at the end of the program.
        CLAUDE_CODE_DISABLE_BACKGROUND_TASKS: "1",
        // The default is 11 retries, even for a refused key, but waiting is the task of the loop. Three retries take
        // over a minute; if another agent can take over, that time is lost.
        CLAUDE_CODE_MAX_RETRIES: context.settings.hasFallback === true ? "0" : "3",
        // These are set if research-ralph was started in a Claude Code session; they would change the new session.
        CLAUDECODE: undefined,
        CLAUDE_CODE_ENTRYPOINT: undefined,
        ...(brief.access.tools === undefined ? {} : toolWaitEnv),
        // Without this variable, Claude Code refuses --dangerously-skip-permissions as root.
        ...((brief.access.everything || context.settings.sandbox !== undefined) && process.getuid?.() === 0
          ? { IS_SANDBOX: "1" }
          : {}),
      },
    };
  },
  processAccess(context, { web }): AgentAccess {
    const { settings, options } = context;
    const env = { ...settings.env, ...options.env };
    const base = env["ANTHROPIC_BASE_URL"] || "https://api.anthropic.com";
    const optionAccess = configuredAccess(options);
    const hosts = [...optionAccess.hosts, ...(web ? anyPublicHost : [])];
    // In the sandbox, Claude Code has a new home, and its configuration is in the default folder there.
    const sandboxHomeEnv = { CLAUDE_CONFIG_DIR: undefined };
    const variable = keyVariables.find((name) => (env[name] ?? "") !== "");
    if (variable === undefined) {
      const loginFile = join(env["CLAUDE_CONFIG_DIR"] || join(homeIn(env), ".claude"), ".credentials.json");
      const logins = [
        { from: loginFile, target: `${sandboxHome}/.claude/.credentials.json`, renewedFields: renewedLoginFields },
      ];
      return {
        ...optionAccess,
        logins,
        hosts: [...hosts, hostOf(base), "platform.claude.com:443"],
        env: sandboxHomeEnv,
      };
    }
    const key = env[variable] ?? "";
    const headers: Record<string, string> =
      variable === "ANTHROPIC_API_KEY" ? { "x-api-key": key } : { authorization: `Bearer ${key}` };
    const hiddenKeys = Object.fromEntries(keyVariables.map((name) => [name, undefined]));
    return {
      ...optionAccess,
      hosts,
      keys: [{ name: "claude", baseAddress: base, headers }],
      env: { ...sandboxHomeEnv, ...hiddenKeys, [variable]: keyPlaceholder, ANTHROPIC_BASE_URL: keyAddress("claude") },
    };
  },
  reader: readClaude,
  check: (context) =>
    checkProgram(claude, context, {
      install: "Install it with `npm install -g @anthropic-ai/claude-code`, then run `claude` once to log in.",
      withoutLogin: "not logged in",
      fix: "Run `claude` once and log in, or set ANTHROPIC_API_KEY.",
      async findLogin(program) {
        const { stdout } = await runProbe(context, program, ["auth", "status"]);
        if (!/"loggedIn":\s*true/.test(stdout)) return undefined;
        return `logged in (${/"authMethod":\s*"([\w-]+)"/.exec(stdout)?.[1] ?? "unknown method"})`;
      },
    }),
};

/** Fields that Claude Code renews in its login when the token has expired. */
const renewedLoginFields = [
  ...["accessToken", "refreshToken", "expiresAt", "refreshTokenExpiresAt", "scopes"],
  ...["subscriptionType", "rateLimitTier"],
].map((name) => `claudeAiOauth.${name}`);

/** The tools that the original Ralph allows, for classic mode. */
const classicTools = "Bash,Read,Edit,Write,Grep,Glob,WebFetch,WebSearch";

/**
 * Variables that make Claude Code wait for the tool server and show all tools. By default, it waits only a few seconds
 * before its first request, and the model may have to search for tools.
 */
const toolWaitEnv = {
  MCP_CONNECTION_NONBLOCKING: "0",
  MCP_TIMEOUT: "60000",
  MCP_CONNECT_TIMEOUT_MS: "60000",
  ENABLE_TOOL_SEARCH: "0",
};

/**
 * Arguments that confine the agent. Without a sandbox: no shell, writes only in the workspace, no instructions or
 * settings of the user. `--tools` lists all available tools. `--allowedTools` allows the web and our tools without a
 * question. `--permission-mode acceptEdits` refuses paths outside the workspace, but version 2.1.330 still writes to
 * its memory folder, even if memory is turned off. `--disallowedTools` forbids that: a hidden instruction in a document
 * could otherwise reach later sessions. In a sandbox, the home is new and the sandbox confines the agent, so the
 * permissions are skipped.
 */
function confinedArguments({ access }: Brief, { options, settings }: AgentContext): string[] {
  const webTools = access.web ? ["WebSearch", "WebFetch"] : [];
  const isInSandbox = settings.sandbox !== undefined;
  const tools =
    access.shell === true
      ? [...(isInSandbox ? ["Bash"] : []), "Read", "Edit", "Write", ...webTools]
      : ["Write", ...(access.read ? ["Read"] : []), ...webTools];
  const allowedTools = [...webTools, ...(access.tools?.names ?? []).map((name) => `mcp__${serverName}__${name}`)];
  const env = { ...settings.env, ...options.env };
  const claudeFolder = env["CLAUDE_CONFIG_DIR"] || "~/.claude";
  return [
    ...["--tools", tools.join(",")],
    ...(allowedTools.length > 0 ? ["--allowedTools", allowedTools.join(",")] : []),
    ...(access.tools === undefined ? [] : ["--mcp-config", JSON.stringify(serversOf(access.tools, env))]),
    ...(isInSandbox
      ? ["--dangerously-skip-permissions"]
      : [
          // In a rule, an absolute path begins with two slashes. `Edit` applies to every tool that changes a file.
          ...["--disallowedTools", `Edit(${claudeFolder.startsWith("/") ? "/" : ""}${claudeFolder}/**)`],
          ...["--permission-mode", "acceptEdits"],
        ]),
    "--no-session-persistence",
    ...(options.user_settings === true
      ? []
      : [
          "--setting-sources",
          "",
          "--strict-mcp-config",
          "--disable-slash-commands",
          "--system-prompt",
          instructionsFor(access),
        ]),
  ];
}

const serversOf = (tools: ToolServer, env: NodeJS.ProcessEnv) => ({
  mcpServers: { [serverName]: { type: "stdio", ...commandWithoutSecrets(tools, env), alwaysLoad: true } },
});
