import { existsSync } from "node:fs";
import { join } from "node:path";
import { readTextSync } from "../../storage/regular-file.js";
import { fieldsIn } from "../../lib/json-fields.js";
import type { Billing, Brief, ToolServer } from "../../loop/types.js";
import { readCodex } from "./stream.js";
import { keyAddress, keyPlaceholder, sandboxHome } from "../../process/access.js";
import type { AgentContext, AgentDefinition, AgentAccess, Invocation } from "../definition.js";
import {
  checkProgram,
  runProbe,
  askVersion,
  homeIn,
  instructionsFor,
  configuredAccess,
  programOf,
} from "../program.js";
import { serverName } from "../shared/tool-server.js";
import { codexHome, codexLastMessage, codexTemporary } from "../../lib/layout.js";
import { withoutUndefined } from "../../lib/without-undefined.js";

/** OpenAI Codex: https://developers.openai.com/codex/noninteractive */
export const codex: AgentDefinition = {
  name: "codex",
  program: "codex",
  settingVariables: /^(?:CODEX|OPENAI)_|^RUST_LOG$/,
  confinement: "workspace",
  takesTools: true,
  oldestTested: { version: "0.169.0", updateCommand: "npm install -g @openai/codex@latest" },
  keyVariables: ["CODEX_API_KEY", "OPENAI_API_KEY"],
  families: ["gpt", "o", "chatgpt"],
  invoke(brief, context): Invocation {
    const { options } = context;
    const command = programOf(context, "codex");
    const model = options.model === undefined ? [] : ["--model", options.model];
    const args = ["exec", "--json", "--skip-git-repo-check", ...retryLimits, ...model];
    if (brief.access.everything)
      return {
        command,
        args: [
          ...args,
          ...["--dangerously-bypass-approvals-and-sandbox", "--output-last-message", lastMessageFile(context)],
          ...(options.args ?? []),
          "-",
        ],
        files: [{ path: lastMessageFile(context), text: "" }],
      };

    const privateHome = options.user_settings === true ? undefined : privateHomeOf(context);
    return {
      command,
      args: [
        ...args,
        ...confinedArguments(
          brief,
          privateHome !== undefined && isDefaultModel(context),
          context.settings.sandbox !== undefined,
        ),
        ...(privateHome === undefined ? [] : reducedInstructions(privateHome.instructions)),
        ...(brief.access.tools === undefined ? [] : toolServerArguments(brief.access.tools)),
        ...(context.settings.sandbox === undefined ? (options.args ?? []) : sandboxArguments(context)),
        "-",
      ],
      env: {
        TMPDIR: temporaryFolder(context),
        ...(privateHome === undefined ? {} : { CODEX_HOME: privateHome.home, ...keyEnv(context) }),
      },
      files:
        privateHome === undefined
          ? [{ path: join(temporaryFolder(context), ".keep"), text: "" }]
          : [
              { path: join(temporaryFolder(context), ".keep"), text: "" },
              { path: privateHome.instructions, text: `${instructionsFor(brief.access)}\n` },
              { path: join(privateHome.home, "auth.json"), linkTo: privateHome.login },
            ],
    };
  },
  processAccess(context): AgentAccess {
    const optionAccess = configuredAccess(context.options);
    const env = agentEnv(context);
    const providers = providersIn(context);
    const agentAccess = { ...optionAccess, read: [...optionAccess.read, privateHomeOf(context).instructions] };
    // In the sandbox, the home of Codex is new and contains only the login.
    const sandboxHomeEnv = { CODEX_HOME: undefined, OPENAI_API_KEY: undefined };
    if (providers.length > 0) {
      const keys = providers.map(({ id, base, keyVariable }) => ({ id, base, key: env[keyVariable ?? ""] ?? "" }));
      return {
        ...agentAccess,
        keys: keys.map(({ id, base, key }) => ({
          name: id,
          baseAddress: base,
          headers: key === "" ? {} : bearerHeader(key),
        })),
        env: {
          ...sandboxHomeEnv,
          ...Object.fromEntries(providers.map(({ keyVariable }) => [keyVariable, keyPlaceholder])),
        },
      };
    }
    const { CODEX_API_KEY: key = "" } = { ...env, ...keyEnv(context) };
    if (key === "") {
      const login = {
        from: join(userCodexHome(context), "auth.json"),
        target: `${sandboxHome}/.codex/auth.json`,
        renewedFields: renewedLoginFields,
      };
      return { ...agentAccess, logins: [login], hosts: [...optionAccess.hosts, ...loginHosts], env: sandboxHomeEnv };
    }
    return {
      ...agentAccess,
      keys: [{ name: "openai", baseAddress: openaiAddress(context), headers: bearerHeader(key) }],
      env: { ...sandboxHomeEnv, CODEX_API_KEY: keyPlaceholder },
    };
  },
  reader: readCodex,
  /** The settings of the user, which also apply in classic mode, may choose any model. */
  modelOf: (context) => {
    const { options, settings } = context;
    if (argsChooseModel(context)) return undefined;
    return options.model ?? (options.user_settings === true || settings.classic ? undefined : "gpt-5.5");
  },
  billing: billingOf,
  version: (context, signal) => askVersion(context, programOf(context, "codex"), signal),
  check: (context) =>
    checkProgram(codex, context, {
      install: "Install it with `npm install -g @openai/codex`, then run `codex login`.",
      withoutLogin: "not logged in",
      fix: "Run `codex login`, or set CODEX_API_KEY.",
      async findLogin(program) {
        const { CODEX_API_KEY = "" } = { ...agentEnv(context), ...keyEnv(context) };
        if (CODEX_API_KEY !== "") return "logged in (an API key in the environment)";
        const { exitCode, stdout, stderr } = await runProbe(context, program, ["login", "status"]);
        if (exitCode !== 0) return undefined;
        const method = /using (ChatGPT|an API key|[\w ]{1,30})/i.exec(`${stdout}\n${stderr}`)?.[1];
        return `logged in (${method ?? "codex login"})`;
      },
    }),
};

/** In classic mode, Codex writes its last message to this file, as in the original Ralph. */
const lastMessageFile = ({ settings }: AgentContext): string => codexLastMessage(settings.stateDir);

/**
 * TMPDIR of Codex, a separate folder. Codex's sandbox hides TMPDIR. If it contained the private home of Codex (the
 * state folder may be in /tmp), Debian's bubblewrap would start no program: Codex would end with exit code 0 and
 * without a result.
 */
const temporaryFolder = ({ settings }: AgentContext): string => codexTemporary(settings.stateDir);

const configArguments = (key: string, value: string): string[] => ["-c", `${key}=${value}`];

/**
 * If the server is down, Codex reconnects without limit, but waiting is the task of the loop. The few retries of the
 * built-in provider can't be changed.
 */
const retryLimits = [
  ...["--disable", "unbounded_connection_retries"],
  ...configArguments("analytics.enabled", "false"),
  ...configArguments("check_for_update_on_startup", "false"),
];

/**
 * Codex may write only in the workspace (by default its sandbox includes /tmp and $TMPDIR); its commands get no network
 * and no keys in their environment. Commands may read every file in this sandbox, so the shell is disabled if Codex can
 * write its result with apply_patch instead. Codex offers apply_patch for models that it knows, and it knows its
 * default model.
 */
const confinedArguments = ({ access }: Brief, isKnownModel: boolean, isInSandbox: boolean): string[] => [
  // Inside another sandbox, Codex's own sandbox writes nothing, but still reports success.
  ...(isInSandbox ? ["--dangerously-bypass-approvals-and-sandbox"] : ["-s", "workspace-write"]),
  ...["--ephemeral", "--disable", "view_image"],
  ...(isKnownModel && !access.read && access.shell !== true ? ["--disable", "shell_tool"] : []),
  ...configArguments("sandbox_workspace_write.exclude_slash_tmp", "true"),
  ...configArguments("sandbox_workspace_write.exclude_tmpdir_env_var", "true"),
  ...configArguments("shell_environment_policy.ignore_default_excludes", "false"),
  // With files to read, the agent has a shell, which can read every file of the user. So the web is disabled.
  ...configArguments("web_search", access.web && !access.read ? '"live"' : '"disabled"'),
];

/**
 * Codex passes a few variables such as PATH and HOME to a server; other variables must be named. `required`: without
 * the tools, the run has no value.
 */
const toolServerArguments = ({ command, args, env }: ToolServer): string[] => [
  ...configArguments(`mcp_servers.${serverName}.command`, JSON.stringify(command)),
  ...configArguments(`mcp_servers.${serverName}.args`, JSON.stringify(args)),
  ...configArguments(`mcp_servers.${serverName}.env_vars`, JSON.stringify(env)),
  ...configArguments(`mcp_servers.${serverName}.default_tools_approval_mode`, '"approve"'),
  ...configArguments(`mcp_servers.${serverName}.startup_timeout_sec`, "60"),
  ...configArguments(`mcp_servers.${serverName}.required`, "true"),
  // Without this setting, newer models have to search for the tools, and all results together are cut at 10,000 tokens.
  ...configArguments("features.code_mode.direct_only_tool_namespaces", JSON.stringify([`mcp__${serverName}`])),
];

const modelArgumentPattern =
  /^(?:-m.*|-p.*|--oss|--local-provider.*|--model(?:=.*)?|--profile(?:=.*)?|(?:model|model_catalog_json|profile)\s*=.*)$/;

const argsChooseModel = ({ options }: AgentContext): boolean =>
  (options.args ?? []).some((arg) => modelArgumentPattern.test(arg));

/** Whether Codex chooses the model itself. */
const isDefaultModel = (context: AgentContext): boolean =>
  context.options.model === undefined && !argsChooseModel(context);

/**
 * Arguments that remove the user's instructions and most of Codex's own instructions: a request then has 1,200 tokens
 * instead of 7,600.
 */
const reducedInstructions = (instructionsFile: string): string[] => [
  ...configArguments("model_instructions_file", JSON.stringify(instructionsFile)),
  ...configArguments("project_doc_max_bytes", "0"),
  ...configArguments("skills.include_instructions", "false"),
  ...configArguments("include_permissions_instructions", "false"),
  ...configArguments("include_apps_instructions", "false"),
  ...configArguments("include_environment_context", "false"),
  ...configArguments("include_collaboration_mode_instructions", "false"),
  ...configArguments("agents.enabled", "false"),
  ...["goals", "multi_agent", "apps", "plugins", "sleep_tool"].flatMap((feature) => ["--disable", feature]),
];

/** Fields that Codex renews in its login before the token expires. The account stays the same. */
const renewedLoginFields = ["tokens.id_token", "tokens.access_token", "tokens.refresh_token", "last_refresh"];

/** Hosts for which a login is valid, or which renew it. */
const loginHosts = ["chatgpt.com:443", "api.openai.com:443", "auth.openai.com:443"];

const bearerHeader = (key: string): { authorization: string } => ({ authorization: `Bearer ${key}` });

/** The key and the value of a setting in an argument `key=value`; the value without quotes. */
function settingIn(arg: string): { key: string; value: string } {
  const [key = "", ...value] = arg.split("=");
  return { key: key.trim(), value: value.join("=").trim().replace(/^"|"$/g, "") };
}

const providerBasePattern = /^model_providers\.([\w-]+)\.base_url$/;

/** The model services that the configured arguments define. */
function providersIn({ options }: AgentContext): { id: string; base: string; keyVariable?: string }[] {
  const settings = (options.args ?? []).map(settingIn);
  return settings.flatMap(({ key, value: base }) => {
    const id = providerBasePattern.exec(key)?.[1];
    if (id === undefined) return [];
    const keyVariable = settings.find((setting) => setting.key === `model_providers.${id}.env_key`)?.value;
    return [{ id, base, ...withoutUndefined({ keyVariable }) }];
  });
}

/** The address of Codex's own model service. */
const openaiAddress = ({ options }: AgentContext): string =>
  (options.args ?? []).map(settingIn).findLast(({ key }) => key === "openai_base_url")?.value ??
  "https://api.openai.com/v1";

/** The configured arguments for a sandbox: model services get the address of the proxy, which adds the key. */
function sandboxArguments(context: AgentContext): string[] {
  const args = (context.options.args ?? []).map((arg) => {
    const { key } = settingIn(arg);
    const id = providerBasePattern.exec(key)?.[1];
    return id === undefined ? arg : `${key}="${keyAddress(id)}"`;
  });
  const { keys } = codex.processAccess(context, { web: false, read: false, everything: false });
  return keys.some(({ name }) => name === "openai")
    ? [...args, ...configArguments("openai_base_url", `"${keyAddress("openai")}"`)]
    : args;
}

const agentEnv = ({ settings, options }: AgentContext): NodeJS.ProcessEnv => ({ ...settings.env, ...options.env });

/**
 * The paths of a private home for Codex: AGENTS.md and config.toml in the user's home would affect every session,
 * whatever the flags are. The private home contains a link to the login.
 */
function privateHomeOf(context: AgentContext): { home: string; instructions: string; login: string } {
  const home = codexHome(context.settings.stateDir);
  return { home, instructions: join(home, "instructions.md"), login: join(userCodexHome(context), "auth.json") };
}

function userCodexHome(context: AgentContext): string {
  const env = agentEnv(context);
  return env["CODEX_HOME"] ?? join(homeIn(env), ".codex");
}

/**
 * CODEX_API_KEY with the value of OPENAI_API_KEY, if only that is set: `codex exec` does not read a key from
 * OPENAI_API_KEY. Empty if there is a login, often a subscription: it has priority.
 */
function keyEnv(context: AgentContext): { CODEX_API_KEY?: string } {
  const { CODEX_API_KEY, OPENAI_API_KEY } = agentEnv(context);
  if ((CODEX_API_KEY ?? "") !== "" || (OPENAI_API_KEY ?? "") === "") return {};
  return existsSync(join(userCodexHome(context), "auth.json"))
    ? {}
    : withoutUndefined({ CODEX_API_KEY: OPENAI_API_KEY });
}

/** A key is billed by use. The login file shows whether the login belongs to a subscription. */
function billingOf(context: AgentContext): Billing | undefined {
  const { CODEX_API_KEY } = { ...agentEnv(context), ...keyEnv(context) };
  if ((CODEX_API_KEY ?? "") !== "") return "api";
  const login = fieldsIn(readTextSync(join(userCodexHome(context), "auth.json"), 1_000_000) ?? "");
  return login?.["tokens"] != null ? "subscription" : login?.["OPENAI_API_KEY"] != null ? "api" : undefined;
}
