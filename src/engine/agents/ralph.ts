import { existsSync } from "node:fs";
import { basename, dirname, join, sep } from "node:path";
import { realPathOf } from "../process/search-path.js";
import { projectFiles, userFiles } from "../config/config-file.js";
import { isLoopback, variableOf } from "../config/keys.js";
import { trustFile } from "../config/trust.js";
import { withoutUndefined } from "../lib/without-undefined.js";
import { hostsFolder, trustFolder } from "../lib/layout.js";
import { builtFile, packageFile, packageVersion } from "../lib/package-root.js";
import type { AgentEvent, Brief, Failure, Usage } from "../loop/types.js";
import {
  anyPublicHost,
  hostOf,
  keyAddress,
  keyPlaceholder,
  type KeyRoute,
  keyRoutesVariable,
  type Mount,
  sandboxHome,
} from "../process/access.js";
import type {
  AgentCheck,
  AgentContext,
  AgentDefinition,
  AgentAccess,
  Answer,
  Invocation,
  Reader,
} from "./definition.js";
import { runProbe, homeIn, configuredAccess } from "./program.js";
import { addressesIn, gatewayToken, modelProviders, gatewayAddress } from "./shared/model-address.js";
import { number, object, objectIn, text, tokens } from "./shared/json-line.js";

/** The state folder in a sandbox, with the rate limits of hosts and the user's trust. */
const sandboxState = `${sandboxHome}/.state`;

const keyVariables: readonly string[] = [...modelProviders.flatMap(({ variables }) => variables), gatewayToken];

/**
 * The assistant of this package as an agent. It needs no other CLI, only a key or a local model server. A brief is sent
 * as one request, with one sentence as the system prompt. Node's permission model confines it: it reads the package,
 * its settings and the workspace, and writes only in the workspace; it starts no program and loads no native code. If
 * it works on the files of a folder, it may also change them and run commands: then only a sandbox confines it.
 */
export const ralph: AgentDefinition = {
  name: "ralph",
  confinement: "workspace",
  unconfinedAtWork: true,
  briefsOnly: true,
  takesTools: true,
  takesTemperature: true,
  settingVariables: /^(?:RESEARCH_RALPH|OLLAMA|OPENAI|ANTHROPIC|GOOGLE|GEMINI)_/,
  keyVariables,
  invoke(brief, context): Invocation {
    const { options, settings } = context;
    return {
      command: process.execPath,
      args: [
        // An agent that works on files starts programs, which Node's permissions would forbid. Then a sandbox confines
        // it, or the user has allowed it to work without confinement.
        ...(brief.access.shell === true ? [] : permissionFlags(brief, context)),
        builtFile("ralph"),
        "--headless",
        ...["--folder", settings.cwd],
        ...(brief.access.read ? ["--read"] : []),
        ...(brief.access.shell === true ? ["--work"] : []),
        ...(brief.access.web ? ["--web"] : []),
        ...(brief.access.tools?.inProcess?.flags.map((flag) => `--toolbox=${flag}`) ?? []),
        ...(brief.access.tools?.socket === undefined ? [] : ["--tool-socket", brief.access.tools.socket]),
        ...(options.model === undefined ? [] : ["--model", options.model]),
        ...(options.args ?? []),
      ],
      // NODE_OPTIONS could contain flags that weaken the permissions.
      env: {
        NODE_OPTIONS: undefined,
        ...(brief.temperature === undefined ? {} : { [variableOf("temperature")]: String(brief.temperature) }),
      },
    };
  },
  processAccess(context, access): AgentAccess {
    const { options, settings } = context;
    const env = { ...settings.env, ...options.env };
    const addresses = possibleAddresses(context);
    const optionAccess = configuredAccess(options);
    const routes = keyRoutes(env, addresses);
    const hiddenVariables = keyVariables.filter((name) => (env[name] ?? "") !== "");
    return {
      ...optionAccess,
      read: [...optionAccess.read, ...readablePaths(context), ...settingsMounts(context)],
      hosts: [
        ...optionAccess.hosts,
        ...modelProviders.map(({ origin }) => hostOf(origin)),
        ...addresses.map(hostOf),
        ...(access.web ? anyPublicHost : []),
      ],
      keys: routes,
      env: {
        [variableOf("state_dir")]: sandboxState,
        ...Object.fromEntries(hiddenVariables.map((name) => [name, keyPlaceholder])),
        ...(routes.length === 0
          ? {}
          : {
              [keyRoutesVariable]: JSON.stringify(
                Object.fromEntries(routes.map(({ name, baseAddress }) => [baseAddress, keyAddress(name)])),
              ),
            }),
      },
    };
  },
  reader: readRalph,
  version: async () => packageVersion(),
  async check(context): Promise<AgentCheck> {
    const model = context.options.model === undefined ? [] : ["--model", context.options.model];
    const probe = await runProbe(context, process.execPath, [
      builtFile("ralph"),
      "--settings",
      "--json",
      ...model,
      ...(context.options.args ?? []),
    ]);
    const problem = probe.stderr.trim().replace(/^ralph: /, "");
    if (probe.exitCode !== 0) return { ok: false, detail: problem === "" ? "It does not start." : problem };
    const settings = objectIn(probe.stdout.trim());
    const free = settings?.["free"] === true ? { free: true as const } : {};
    const modelField = withoutUndefined({ model: text(settings?.["place"]) });
    return { ok: true, version: process.version, detail: text(settings?.["text"]) ?? "", ...free, ...modelField };
  },
};

/**
 * Addresses to which the assistant may send requests: from the flags of the agent, the environment and the user's
 * files.
 */
function possibleAddresses({ options: { args = [], env }, settings }: AgentContext): string[] {
  const flagAddresses = args.flatMap((arg, index) =>
    arg === "--api-url"
      ? [args[index + 1] ?? ""]
      : arg.startsWith("--api-url=")
        ? [arg.slice("--api-url=".length)]
        : [],
  );
  const allAddresses = [
    ...flagAddresses,
    ...addressesIn({ ...settings.env, ...env }),
    ...(settings.modelAddresses ?? []),
  ];
  return [...new Set(allAddresses.filter((address) => URL.canParse(address)))];
}

/**
 * The routes for the keys in the environment: each key goes to its provider, or to the gateway that replaces it. The
 * key of OpenAI also goes to model servers on this machine.
 */
function keyRoutes(env: NodeJS.ProcessEnv, addresses: readonly string[]): KeyRoute[] {
  const firstValue = (names: readonly string[]) =>
    names.map((name) => (env[name] ?? "").trim()).find((key) => key !== "");
  const routes = modelProviders.flatMap(({ name, origin, variables, headers }): KeyRoute[] => {
    const gateway = gatewayAddress(name, env);
    const key = firstValue(gateway !== undefined && name === "anthropic" ? [...variables, gatewayToken] : variables);
    if (key === undefined) return [];
    if (gateway === undefined || !URL.canParse(gateway)) return [{ name, baseAddress: origin, headers: headers(key) }];
    const allHeaders = { ...headers(key), authorization: `Bearer ${key}` };
    return [{ name, baseAddress: new URL(gateway).origin, headers: allHeaders }];
  });
  const key = firstValue(["OPENAI_API_KEY"]);
  if (key === undefined) return routes;
  const localOrigins = [
    ...new Set(
      addresses
        .map((address) => new URL(address))
        .filter(isLoopback)
        .map(({ origin }) => origin),
    ),
  ];
  const unroutedOrigins = localOrigins.filter((origin) => !routes.some(({ baseAddress }) => baseAddress === origin));
  return [
    ...routes,
    // The name of a route has only letters.
    ...unroutedOrigins.map((baseAddress, index) => ({
      name: `local${"abcdefgh"[index] ?? "z"}`,
      baseAddress,
      headers: { authorization: `Bearer ${key}` },
    })),
  ];
}

/** The paths without duplicates and without paths inside another one: Node 20 fails if a path is given twice. */
const outermostPaths = (paths: readonly string[]): string[] =>
  [...new Set(paths)].filter(
    (path, _, allPaths) => !allPaths.some((otherPath) => path.startsWith(`${otherPath}${sep}`)),
  );

/**
 * Paths that the assistant reads: this package, the packages that it imports, and files of the user's folder that
 * belong to the project.
 */
function readablePaths({ settings }: AgentContext): string[] {
  const root = packageFile();
  const packages = dirname(root).endsWith("node_modules") ? dirname(root) : join(root, "node_modules");
  return outermostPaths([
    root,
    // Node uses the real path of an imported file.
    realPathOf(root),
    packages,
    realPathOf(packages),
    realPathOf(packageFile("schemas")),
    ...projectFiles(settings.cwd),
  ]);
}

/** The user's settings and the list of what the user trusts in the folder. */
function settingsFiles({ settings, options }: AgentContext): string[] {
  const env = { ...settings.env, ...options.env };
  return [...userFiles(homeIn(env)), trustFile(settings.cwd, env)];
}

/** The paths of `settingsFiles` in a sandbox. */
function sandboxSettingsFiles(context: AgentContext): string[] {
  const trustFilePath = settingsFiles(context).at(-1) ?? "";
  return [...userFiles(sandboxHome), join(trustFolder(sandboxState), basename(trustFilePath))];
}

function settingsMounts(context: AgentContext): Mount[] {
  const sandboxPaths = sandboxSettingsFiles(context);
  return settingsFiles(context).flatMap((from, index) =>
    existsSync(from) ? [{ from, target: sandboxPaths[index] ?? from }] : [],
  );
}

/** Flags of Node's permission model. https://nodejs.org/docs/latest-v20.x/api/permissions.html */
function permissionFlags({ workspace, access }: Brief, context: AgentContext): string[] {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  const isStable = major > 22 || (major === 22 && minor >= 13);
  const { read = [], write = [] } = access.tools?.inProcess ?? {};
  // An agent that may use the web stores the rate limits of hosts in the state folder, which all processes of the user
  // share. A sandbox has its own state folder.
  const stateDir = context.settings.sandbox === undefined ? context.settings.stateDir : sandboxState;
  const hostsFolders = access.web ? [hostsFolder(stateDir)] : [];
  const settingsPaths = context.settings.sandbox === undefined ? settingsFiles(context) : sandboxSettingsFiles(context);
  const writablePaths = outermostPaths([workspace, ...write, ...hostsFolders]);
  return [
    isStable ? "--permission" : "--experimental-permission",
    ...(major >= 25 ? ["--allow-net"] : []),
    ...outermostPaths([...readablePaths(context), ...settingsPaths, ...read, ...writablePaths]).flatMap((path) =>
      allowFlags("read", path),
    ),
    ...writablePaths.flatMap((path) => allowFlags("write", path)),
    "--no-warnings",
  ];
}

/**
 * The flags that allow access to a path. Node treats a missing path as a file, so a folder that may be created later
 * also needs a pattern for its content.
 */
const allowFlags = (kind: "read" | "write", path: string): string[] =>
  [path, ...(existsSync(path) ? [] : [join(path, "*")])].map((pattern) => `--allow-fs-${kind}=${pattern}`);

/** The kinds of failure that the assistant may report. */
const failureKinds: ReadonlySet<string> = new Set<Failure["kind"]>([
  "rate-limit",
  "auth",
  "network",
  "unusable",
  "no-answer",
  "aborted",
  "context",
]);

/** Reads the output of `ralph --headless`. */
function readRalph(): Reader {
  let model: string | undefined;
  let window: number | undefined;
  let costUsd: number | undefined;
  let answer: Answer | undefined;
  const usageEvent = (usage: Usage): AgentEvent => ({
    type: "usage",
    usage,
    ...withoutUndefined({ model, window, cost_usd: costUsd }),
  });
  return {
    line(line): readonly AgentEvent[] {
      const event = objectIn(line);
      switch (event?.["type"]) {
        case "start":
          model = text(event["model"]);
          window = number(event["window"]);
          costUsd = number(event["cost_usd"]);
          // A free model has its cost also if the agent is ended before its first answer.
          return costUsd === undefined ? [] : [usageEvent({ input: 0, cached: 0, output: 0, requests: 0 })];
        case "notice":
          return [{ type: "notice", message: text(event["message"]) ?? "" }];
        case "tool": {
          const input = object(event["input"]) ?? {};
          return [{ type: "tool", name: text(event["name"]) ?? "a tool", detail: detailOfInput(input) }];
        }
        case "usage": {
          const usage = object(event["usage"]) ?? {};
          const [input, cached, output] = [tokens(usage["input"]), tokens(usage["cached"]), tokens(usage["output"])];
          const totals = {
            input,
            cached,
            output,
            requests: tokens(usage["requests"]),
            largest: tokens(usage["largest"]),
          };
          return [usageEvent(totals)];
        }
        case "end": {
          const failure = object(event["failure"]);
          answer = failure === undefined ? { message: text(event["message"]) ?? "" } : { failure: failureIn(failure) };
          return [];
        }
        default:
          return [];
      }
    },
    isFinished: () => answer !== undefined,
    answer: () => answer ?? {},
  };
}

const detailOfInput = (input: Readonly<Record<string, unknown>>): string =>
  text(input["file_path"]) ?? text(input["directory_path"]) ?? "";

function failureIn(fields: Readonly<Record<string, unknown>>): Failure {
  const kind = text(fields["kind"]) ?? "";
  return {
    kind: failureKinds.has(kind) ? (kind as Failure["kind"]) : "crashed",
    message: text(fields["message"]) ?? "ralph gave no reason.",
    ...withoutUndefined({ reset_at: text(fields["reset_at"]) }),
  };
}
