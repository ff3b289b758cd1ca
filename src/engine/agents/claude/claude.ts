import type { Brief, ToolServer } from "../../loop/types.js";
import { readClaude } from "./stream.js";
import { join } from "node:path";
import { anyPublicHost, hostOf, keyAddress, keyPlaceholder, sandboxHome } from "../../process/reach.js";
import type { AgentCheck, AgentContext, AgentDefinition, AgentReach, Invocation } from "../definition.js";
import { ask, homeIn, instructionsFor, isOlder, ownReach, programOf, tooOldCheck, versionIn } from "../program.js";
import { serverName, withoutSecrets } from "../shared/tool-server.js";

const keyVariables = ["ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_API_KEY", "CLAUDE_CODE_OAUTH_TOKEN"];

/** Claude Code: https://code.claude.com/docs/en/headless */
export const claude: AgentDefinition = {
  name: "claude",
  program: "claude",
  confinement: "workspace",
  takesTools: true,
  oldest: { version: "2.1.197", update: "npm install -g @anthropic-ai/claude-code@latest" },
  setBy: /^(?:ANTHROPIC|CLAUDE|DISABLE|MAX|BASH)_|^API_TIMEOUT_MS$/,
  keyVariables,
  families: ["claude"],
  // By the account.
  usualModels: ["sonnet", "opus"],
  invoke(brief, context, maxUsd): Invocation {
    const { options } = context;
    const model = options.model === undefined ? [] : ["--model", options.model];
    // It takes no 0, which there is no need to ask it for either.
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
        // What it left in the background would be killed with it.
        CLAUDE_CODE_DISABLE_BACKGROUND_TASKS: "1",
        // By itself it retries 11 times, a refused key included; waiting is the loop's business. Its three retries take
        // over a minute, in which another agent could work.
        CLAUDE_CODE_MAX_RETRIES: context.settings.hasFallback === true ? "0" : "3",
        // Set where research-ralph was started from within a Claude Code session; it changes how a new one behaves.
        CLAUDECODE: undefined,
        CLAUDE_CODE_ENTRYPOINT: undefined,
        ...(brief.access.tools === undefined ? {} : waitForTools),
        // As root it refuses --dangerously-skip-permissions otherwise.
        ...((brief.access.everything || context.settings.sandbox !== undefined) && process.getuid?.() === 0
          ? { IS_SANDBOX: "1" }
          : {}),
      },
    };
  },
  reach(context, { web }): AgentReach {
    const { settings, options } = context;
    const env = { ...settings.env, ...options.env };
    const base = env["ANTHROPIC_BASE_URL"] || "https://api.anthropic.com";
    const configuredReach = ownReach(options);
    const hosts = [...configuredReach.hosts, ...(web ? anyPublicHost : [])];
    // Its own files are those of a home that is empty inside.
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
    const version = await ask(context, program, ["--version"]);
    if (version.missing) {
      return {
        ok: false,
        detail: `There is no program ${program}.`,
        fix: "Install it with `npm install -g @anthropic-ai/claude-code`, then run `claude` once to log in.",
      };
    }
    const installedVersion = versionIn(version);
    const login = await ask(context, program, ["auth", "status"]);
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

/** What it writes anew into its login when the token has expired. */
const renewedInLogin = [
  ...["accessToken", "refreshToken", "expiresAt", "refreshTokenExpiresAt", "scopes"],
  ...["subscriptionType", "rateLimitTier"],
].map((name) => `claudeAiOauth.${name}`);

/** What the original gave it. */
const classicTools = "Bash,Read,Edit,Write,Grep,Glob,WebFetch,WebSearch";

/**
 * By itself it asks the model after a few seconds without tools, however busy the machine, or hides them behind a
 * search.
 */
const waitForTools = {
  MCP_CONNECTION_NONBLOCKING: "0",
  MCP_TIMEOUT: "60000",
  MCP_CONNECT_TIMEOUT_MS: "60000",
  ENABLE_TOOL_SEARCH: "0",
};

/**
 * No shell, writes in the workspace alone, no file of the user's instructions or settings. `--tools` is what it has at
 * all,
 * `--permission-mode acceptEdits` refuses paths outside the workspace, `--allowedTools` lets the web's and our tools
 * run unasked. The memory folder among its own files is excepted from the refusal (2.1.330), also with memory turned
 * off: it has to be denied by name, or a document's hidden instruction could reach later sessions. In a sandbox its
 * home is a new one, and the sandbox refuses: its own permissions would only be in the way of a shell.
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
          // An absolute path begins with two slashes in its rules. Edit stands for every tool that changes a file.
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
