import type { Brief, ToolServer } from "../../loop/types.js";
import { readClaude } from "./stream.js";
import { join } from "node:path";
import { anyPublicHost, hostOf, keyAddress, keyPlaceholder, sandboxHome } from "../../process/access.js";
import type { AgentCheck, AgentContext, AgentDefinition, AgentAccess, Invocation } from "../definition.js";
import {
  runProbe,
  homeIn,
  instructionsFor,
  isOlder,
  configuredAccess,
  programOf,
  tooOldCheck,
  versionIn,
} from "../program.js";
import { serverName, withoutSecrets } from "../shared/tool-server.js";

const keyVariables = ["ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_API_KEY", "CLAUDE_CODE_OAUTH_TOKEN"];

/** Claude Code: https://code.claude.com/docs/en/headless */
export const claude: AgentDefinition = {
  name: "claude",
  program: "claude",
  confinement: "workspace",
  takesTools: true,
  oldest: { version: "2.1.197", update: "npm install -g @anthropic-ai/claude-code@latest" },
  settingVariables: /^(?:ANTHROPIC|CLAUDE|DISABLE|MAX|BASH)_|^API_TIMEOUT_MS$/,
  keyVariables,
  families: ["claude"],
  // Which of them is used depends on the account.
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
        // Set if research-ralph was started in a Claude Code session; these variables change a new session.
        CLAUDECODE: undefined,
        CLAUDE_CODE_ENTRYPOINT: undefined,
        ...(brief.access.tools === undefined ? {} : waitForTools),
        // Without this variable, it refuses --dangerously-skip-permissions as root.
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
    const configuredReach = configuredAccess(options);
    const hosts = [...configuredReach.hosts, ...(web ? anyPublicHost : [])];
    // In the sandbox, its configuration is in a home that is empty at the start.
    const ownHomeEnv = { CLAUDE_CONFIG_DIR: undefined };
    const variable = keyVariables.find((name) => (env[name] ?? "") !== "");
    if (variable === undefined) {
      const login = join(env["CLAUDE_CONFIG_DIR"] || join(homeIn(env), ".claude"), ".credentials.json");
      const logins = [{ from: login, at: `${sandboxHome}/.claude/.credentials.json`, renewed: renewedInLogin }];
      return {
        ...configuredReach,
        logins,
        hosts: [...hosts, hostOf(base), "platform.claude.com:443"],
        env: ownHomeEnv,
      };
    }
    const key = env[variable] ?? "";
    const headers: Record<string, string> =
      variable === "ANTHROPIC_API_KEY" ? { "x-api-key": key } : { authorization: `Bearer ${key}` };
    const hiddenKeys = Object.fromEntries(keyVariables.map((name) => [name, undefined]));
    return {
      ...configuredReach,
      hosts,
      keys: [{ name: "claude", to: base, headers }],
      env: { ...ownHomeEnv, ...hiddenKeys, [variable]: keyPlaceholder, ANTHROPIC_BASE_URL: keyAddress("claude") },
    };
  },
  reader: readClaude,
  async check(context): Promise<AgentCheck> {
    const program = programOf(context, "claude");
    const version = await runProbe(context, program, ["--version"]);
    if (version.missing) {
      return {
        ok: false,
        detail: `There is no program ${program}.`,
        fix: "Install it with `npm install -g @anthropic-ai/claude-code`, then run `claude` once to log in.",
      };
    }
    const installedVersion = versionIn(version);
    const login = await runProbe(context, program, ["auth", "status"]);
    const ok = /"loggedIn":\s*true/.test(login.stdout);
    const authMethod = /"authMethod":\s*"([\w-]+)"/.exec(login.stdout)?.[1];
    const fix = "Run `claude` once and log in, or set ANTHROPIC_API_KEY.";
    if (isOlder(claude, installedVersion)) return tooOldCheck(claude, installedVersion);
    if (!ok)
      return {
        ok,
        version: installedVersion,
        detail: `${program} ${installedVersion ?? ""} is installed, but not logged in.`,
        fix,
      };
    return {
      ok,
      version: installedVersion,
      detail: `${program} ${installedVersion ?? ""}, logged in (${authMethod ?? "unknown method"}).`,
    };
  },
};

/** Fields that Claude Code renews in its login when the token has expired. */
const renewedInLogin = [
  ...["accessToken", "refreshToken", "expiresAt", "refreshTokenExpiresAt", "scopes"],
  ...["subscriptionType", "rateLimitTier"],
].map((name) => `claudeAiOauth.${name}`);

/** The tools of the original program. */
const classicTools = "Bash,Read,Edit,Write,Grep,Glob,WebFetch,WebSearch";

/**
 * By default, Claude Code waits only a few seconds for tool servers before its first request, and may hide tools behind
 * a search.
 */
const waitForTools = {
  MCP_CONNECTION_NONBLOCKING: "0",
  MCP_TIMEOUT: "60000",
  MCP_CONNECT_TIMEOUT_MS: "60000",
  ENABLE_TOOL_SEARCH: "0",
};

/**
 * Arguments without a sandbox: no shell, writes only in the workspace, no instructions or settings of the user.
 * `--tools` lists all available tools. `--permission-mode acceptEdits` refuses paths outside the workspace.
 * `--allowedTools` allows the web and our tools without a question.
 * Except for the memory folder (2.1.330), even if memory is turned off: it is denied by name, because a hidden
 * instruction in a document could otherwise reach later sessions.
 * In a sandbox, the home is new and the sandbox confines the agent, so the permissions are skipped.
 */
function confinedArguments({ access }: Brief, { options, settings }: AgentContext): string[] {
  const web = access.web ? ["WebSearch", "WebFetch"] : [];
  const isInSandbox = settings.sandbox !== undefined;
  const tools =
    access.shell === true
      ? [...(isInSandbox ? ["Bash"] : []), "Read", "Edit", "Write", ...web]
      : ["Write", ...(access.read ? ["Read"] : []), ...web];
  const allowed = [...web, ...(access.tools?.names ?? []).map((name) => `mcp__${serverName}__${name}`)];
  const env = { ...settings.env, ...options.env };
  const ownFiles = env["CLAUDE_CONFIG_DIR"] || "~/.claude";
  return [
    ...["--tools", tools.join(",")],
    ...(allowed.length > 0 ? ["--allowedTools", allowed.join(",")] : []),
    ...(access.tools === undefined ? [] : ["--mcp-config", JSON.stringify(serversOf(access.tools, env))]),
    ...(isInSandbox
      ? ["--dangerously-skip-permissions"]
      : [
          // In its rules, an absolute path begins with two slashes. `Edit` covers every tool that changes a file.
          ...["--disallowedTools", `Edit(${ownFiles.startsWith("/") ? "/" : ""}${ownFiles}/**)`],
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
  mcpServers: { [serverName]: { type: "stdio", ...withoutSecrets(tools, env), alwaysLoad: true } },
});
