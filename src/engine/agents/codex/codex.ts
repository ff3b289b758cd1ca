import { existsSync } from "node:fs";
import { join } from "node:path";
import { readTextSync } from "../../storage/regular-file.js";
import { fieldsIn } from "../../lib/json-fields.js";
import type { Billing, Brief, ToolServer } from "../../loop/types.js";
import { readCodex } from "./stream.js";
import { keyAddress, keyPlaceholder, sandboxHome } from "../../process/reach.js";
import type { AgentCheck, AgentContext, AgentDefinition, AgentReach, Invocation } from "../definition.js";
import {
  ask,
  askVersion,
  homeIn,
  instructionsFor,
  isOlder,
  ownReach,
  programOf,
  tooOldCheck,
  versionIn,
} from "../program.js";
import { serverName } from "../shared/tool-server.js";
import { codexHome, codexLastMessage, codexTemporary } from "../../lib/layout.js";
import { withoutUndefined } from "../../lib/without-undefined.js";

/** OpenAI Codex: https://developers.openai.com/codex/noninteractive */
export const codex: AgentDefinition = {
  name: "codex",
  program: "codex",
  setBy: /^(?:CODEX|OPENAI)_|^RUST_LOG$/,
  confinement: "workspace",
  takesTools: true,
  oldest: { version: "0.169.0", update: "npm install -g @openai/codex@latest" },
  keyVariables: ["CODEX_API_KEY", "OPENAI_API_KEY"],
  families: ["gpt", "o", "chatgpt"],
  invoke(brief, context): Invocation {
    const { options } = context;
    const command = programOf(context, "codex");
    const model = options.model === undefined ? [] : ["--model", options.model];
    const args = ["exec", "--json", "--skip-git-repo-check", ...bounded, ...model];
    if (brief.access.everything)
      return {
        command,
        args: [
          ...args,
          ...["--dangerously-bypass-approvals-and-sandbox", "--output-last-message", lastMessage(context)],
          ...(options.args ?? []),
          "-",
        ],
        files: [{ path: lastMessage(context), text: "" }],
      };

    const privateHome = options.user_settings === true ? undefined : ownHome(context);
    return {
      command,
      args: [
        ...args,
        ...confined(brief, privateHome !== undefined && ownModel(context), context.settings.sandbox !== undefined),
        ...(privateHome === undefined ? [] : lean(privateHome.instructions)),
        ...(brief.access.tools === undefined ? [] : served(brief.access.tools)),
        ...(context.settings.sandbox === undefined ? (options.args ?? []) : argsInside(context)),
        "-",
      ],
      env: {
        TMPDIR: temporary(context),
        ...(privateHome === undefined ? {} : { CODEX_HOME: privateHome.home, ...keyFrom(context) }),
      },
      files:
        privateHome === undefined
          ? [{ path: join(temporary(context), ".keep"), text: "" }]
          : [
              { path: join(temporary(context), ".keep"), text: "" },
              { path: privateHome.instructions, text: `${instructionsFor(brief.access)}\n` },
              { path: join(privateHome.home, "auth.json"), linkTo: privateHome.login },
            ],
    };
  },
  reach(context): AgentReach {
    const configuredReach = ownReach(context.options);
    const env = environment(context);
    const providers = providersIn(context);
    const more = { ...configuredReach, read: [...configuredReach.read, ownHome(context).instructions] };
    // Its own home is new inside, and empty but for the login.
    const fresh = { CODEX_HOME: undefined, OPENAI_API_KEY: undefined };
    if (providers.length > 0) {
      const keys = providers.map(({ id, base, keyVariable }) => ({ id, base, key: env[keyVariable ?? ""] ?? "" }));
      return {
        ...more,
        keys: keys.map(({ id, base, key }) => ({ name: id, to: base, headers: key === "" ? {} : bearer(key) })),
        env: { ...fresh, ...Object.fromEntries(providers.map(({ keyVariable }) => [keyVariable, keyPlaceholder])) },
      };
    }
    const { CODEX_API_KEY: key = "" } = { ...env, ...keyFrom(context) };
    if (key === "") {
      const login = {
        from: join(usersHome(context), "auth.json"),
        at: `${sandboxHome}/.codex/auth.json`,
        renewed: renewedInLogin,
      };
      return { ...more, logins: [login], hosts: [...configuredReach.hosts, ...loginHosts], env: fresh };
    }
    return {
      ...more,
      keys: [{ name: "openai", to: ownBase(context), headers: bearer(key) }],
      env: { ...fresh, CODEX_API_KEY: keyPlaceholder },
    };
  },
  reader: readCodex,
  /** The user's own settings, which classic mode works with too, may name any. */
  modelOf: (context) => {
    const { options, settings } = context;
    if (argsChooseModel(context)) return undefined;
    return options.model ?? (options.user_settings === true || settings.classic ? undefined : "gpt-5.5");
  },
  billing: billingOf,
  version: (context, signal) => askVersion(context, programOf(context, "codex"), signal),
  async check(context): Promise<AgentCheck> {
    const program = programOf(context, "codex");
    const version = await ask(context, program, ["--version"]);
    if (version.missing) {
      return {
        ok: false,
        detail: `There is no program ${program}.`,
        fix: "Install it with `npm install -g @openai/codex`, then run `codex login`.",
      };
    }
    const found = versionIn(version);
    if (isOlder(codex, found)) return tooOldCheck(codex, found);
    const { CODEX_API_KEY } = { ...environment(context), ...keyFrom(context) };
    const key = CODEX_API_KEY === undefined || CODEX_API_KEY === "" ? undefined : "an API key in the environment";
    const login = key ?? (await loginOf(context, program));
    const fix = "Run `codex login`, or set CODEX_API_KEY.";
    if (login === undefined)
      return { ok: false, version: found, detail: `${program} ${found ?? ""} is installed, but not logged in.`, fix };
    return { ok: true, version: found, detail: `${program} ${found ?? ""}, logged in (${login}).` };
  },
};

/** In classic mode, where the original kept it too. */
const lastMessage = ({ settings }: AgentContext): string => codexLastMessage(settings.stateDir);

/**
 * Its sandbox shuts the temporary folder. Where that holds its own home, because the state folder lies in it, the
 * bubblewrap of Debian starts nothing any more: Codex wrote no result and ended with exit code 0.
 */
const temporary = ({ settings }: AgentContext): string => codexTemporary(settings.stateDir);

const set = (key: string, value: string): string[] => ["-c", `${key}=${value}`];

/**
 * With a dead server it reconnects forever; waiting is the loop's business. The few retries of its own provider can't
 * be set.
 */
const bounded = [
  ...["--disable", "unbounded_connection_retries"],
  ...set("analytics.enabled", "false"),
  ...set("check_for_update_on_startup", "false"),
];

/**
 * Writes in the workspace alone (its sandbox counts /tmp and $TMPDIR in by default), no network for commands, no keys
 * in their environment. Its sandbox lets commands read everything, so there is no shell either where apply_patch is
 * certain to be there for writing: Codex gives that to the models it knows, and it knows its default.
 */
const confined = ({ access }: Brief, knownModel: boolean, isInSandbox: boolean): string[] => [
  // Its own sandbox writes nothing within another, and ends well all the same.
  ...(isInSandbox ? ["--dangerously-bypass-approvals-and-sandbox"] : ["-s", "workspace-write"]),
  ...["--ephemeral", "--disable", "view_image"],
  ...(knownModel && !access.read && access.shell !== true ? ["--disable", "shell_tool"] : []),
  ...set("sandbox_workspace_write.exclude_slash_tmp", "true"),
  ...set("sandbox_workspace_write.exclude_tmpdir_env_var", "true"),
  ...set("shell_environment_policy.ignore_default_excludes", "false"),
  // A brief with files to read keeps the shell, which can read whatever the user can: then nothing may leave.
  ...set("web_search", access.web && !access.read ? '"live"' : '"disabled"'),
];

/**
 * Codex gives a server PATH, HOME and a few like them, and of the rest what is named. Without the tools a run is worth
 * nothing.
 */
const served = ({ command, args, env }: ToolServer): string[] => [
  ...set(`mcp_servers.${serverName}.command`, JSON.stringify(command)),
  ...set(`mcp_servers.${serverName}.args`, JSON.stringify(args)),
  ...set(`mcp_servers.${serverName}.env_vars`, JSON.stringify(env)),
  ...set(`mcp_servers.${serverName}.default_tools_approval_mode`, '"approve"'),
  ...set(`mcp_servers.${serverName}.startup_timeout_sec`, "60"),
  ...set(`mcp_servers.${serverName}.required`, "true"),
  // Its newer models would have to search for the tools, and get what they answer cut at 10,000 tokens in all.
  ...set("features.code_mode.direct_only_tool_namespaces", JSON.stringify([`mcp__${serverName}`])),
];

const choosesModel =
  /^(?:-m.*|-p.*|--oss|--local-provider.*|--model(?:=.*)?|--profile(?:=.*)?|(?:model|model_catalog_json|profile)\s*=.*)$/;

const argsChooseModel = ({ options }: AgentContext): boolean =>
  (options.args ?? []).some((arg) => choosesModel.test(arg));

/** Whether the model is Codex's own choice. */
const ownModel = (context: AgentContext): boolean => context.options.model === undefined && !argsChooseModel(context);

/** Nothing of the user's instructions, and of its own only what the work needs: 7,600 tokens a request become 1,200. */
const lean = (instructionsFile: string): string[] => [
  ...set("model_instructions_file", JSON.stringify(instructionsFile)),
  ...set("project_doc_max_bytes", "0"),
  ...set("skills.include_instructions", "false"),
  ...set("include_permissions_instructions", "false"),
  ...set("include_apps_instructions", "false"),
  ...set("include_environment_context", "false"),
  ...set("include_collaboration_mode_instructions", "false"),
  ...set("agents.enabled", "false"),
  ...["goals", "multi_agent", "apps", "plugins", "sleep_tool"].flatMap((feature) => ["--disable", feature]),
];

/** What it writes anew into its login when the token is about to expire; the account stays. */
const renewedInLogin = ["tokens.id_token", "tokens.access_token", "tokens.refresh_token", "last_refresh"];

/** Where a login is good for, and where it is renewed. */
const loginHosts = ["chatgpt.com:443", "api.openai.com:443", "auth.openai.com:443"];

const bearer = (key: string): { authorization: string } => ({ authorization: `Bearer ${key}` });

/** The key and the value of a configured setting; the value without its quotes. */
function settingIn(arg: string): { key: string; value: string } {
  const [key = "", ...value] = arg.split("=");
  return { key: key.trim(), value: value.join("=").trim().replace(/^"|"$/g, "") };
}

const providerBase = /^model_providers\.([\w-]+)\.base_url$/;

/** The model services that the configured arguments define. */
function providersIn({ options }: AgentContext): { id: string; base: string; keyVariable?: string }[] {
  const settings = (options.args ?? []).map(settingIn);
  return settings.flatMap(({ key, value: base }) => {
    const id = providerBase.exec(key)?.[1];
    if (id === undefined) return [];
    const keyVariable = settings.find((each) => each.key === `model_providers.${id}.env_key`)?.value;
    return [{ id, base, ...withoutUndefined({ keyVariable }) }];
  });
}

/** The address of Codex's own model service. */
const ownBase = ({ options }: AgentContext): string =>
  (options.args ?? []).map(settingIn).findLast(({ key }) => key === "openai_base_url")?.value ??
  "https://api.openai.com/v1";

/** The configured arguments, with the address of each model service where the proxy adds its key. */
function argsInside(context: AgentContext): string[] {
  const args = (context.options.args ?? []).map((arg) => {
    const { key } = settingIn(arg);
    const id = providerBase.exec(key)?.[1];
    return id === undefined ? arg : `${key}="${keyAddress(id)}"`;
  });
  const { keys } = codex.reach(context, { web: false, read: false, everything: false });
  return keys.some(({ name }) => name === "openai")
    ? [...args, ...set("openai_base_url", `"${keyAddress("openai")}"`)]
    : args;
}

const environment = ({ settings, options }: AgentContext): NodeJS.ProcessEnv => ({ ...settings.env, ...options.env });

/**
 * A home of our own: AGENTS.md and config.toml in the user's one reach every session, whatever the flags. The login is
 * linked.
 */
function ownHome(context: AgentContext): { home: string; instructions: string; login: string } {
  const home = codexHome(context.settings.stateDir);
  return { home, instructions: join(home, "instructions.md"), login: join(usersHome(context), "auth.json") };
}

function usersHome(context: AgentContext): string {
  const env = environment(context);
  return env["CODEX_HOME"] ?? join(homeIn(env), ".codex");
}

/**
 * `codex exec` takes a key from CODEX_API_KEY alone; most people have set OPENAI_API_KEY. A login, often a
 * subscription, goes first.
 */
function keyFrom(context: AgentContext): { CODEX_API_KEY?: string } {
  const { CODEX_API_KEY, OPENAI_API_KEY } = environment(context);
  if ((CODEX_API_KEY ?? "") !== "" || (OPENAI_API_KEY ?? "") === "") return {};
  return existsSync(join(usersHome(context), "auth.json")) ? {} : withoutUndefined({ CODEX_API_KEY: OPENAI_API_KEY });
}

/** A key is paid by use; the login that is linked says itself whether it is a subscription's. */
function billingOf(context: AgentContext): Billing | undefined {
  const { CODEX_API_KEY } = { ...environment(context), ...keyFrom(context) };
  if ((CODEX_API_KEY ?? "") !== "") return "api";
  const login = fieldsIn(readTextSync(join(usersHome(context), "auth.json"), 1_000_000) ?? "");
  return login?.["tokens"] != null ? "subscription" : login?.["OPENAI_API_KEY"] != null ? "api" : undefined;
}

async function loginOf(context: AgentContext, program: string): Promise<string | undefined> {
  const { exitCode, stdout, stderr } = await ask(context, program, ["login", "status"]);
  if (exitCode !== 0) return undefined;
  return /using (ChatGPT|an API key|[\w ]{1,30})/i.exec(`${stdout}\n${stderr}`)?.[1] ?? "codex login";
}
