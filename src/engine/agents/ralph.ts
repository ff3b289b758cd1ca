import { existsSync } from "node:fs";
import { basename, dirname, join, sep } from "node:path";
import { realPathOf } from "../process/search-path.js";
import { projectFiles, userFiles } from "../config/config-file.js";
import { isLoopback, variableOf } from "../config/keys.js";
import { trustFile } from "../config/trust.js";
import { withoutUndefined } from "../lib/without-undefined.js";
import { hostsFolder, trustFolder } from "../lib/layout.js";
import { builtFile, packageFile, packageVersion } from "../lib/package-root.js";
import type { AgentEvent, Brief, Failure } from "../loop/types.js";
import {
  anyPublicHost,
  hostOf,
  keyAddress,
  keyPlaceholder,
  type KeyRoute,
  keyRoutesVariable,
  type Mount,
  sandboxHome,
} from "../process/reach.js";
import type {
  AgentCheck,
  AgentContext,
  AgentDefinition,
  AgentReach,
  Answer,
  Invocation,
  Reader,
} from "./definition.js";
import { ask, homeIn, ownReach } from "./program.js";
import { addressesIn, gatewayToken, makers, standIn } from "./shared/model-address.js";
import { number, object, objectIn, text, tokens } from "./shared/json-line.js";

/** Where it keeps the pace of hosts inside a sandbox, and finds what the user trusts. */
const sandboxState = `${sandboxHome}/.state`;

const keyVariables: readonly string[] = [...makers.flatMap(({ variables }) => variables), gatewayToken];

/**
 * The assistant of this package as an agent: no other CLI is needed, a key or a local server is. A brief is one request
 * with one line before it. Node's own permission model confines it: it reads the package, its settings and the
 * workspace, and writes the workspace; it starts no program and loads no native code. Where it works on the files of a
 * folder it also writes them and runs commands, and only a sandbox confines it.
 */
export const ralph: AgentDefinition = {
  name: "ralph",
  confinement: "workspace",
  looseAtWork: true,
  briefsOnly: true,
  takesTools: true,
  takesTemperature: true,
  setBy: /^(?:RESEARCH_RALPH|OLLAMA|OPENAI|ANTHROPIC|GOOGLE|GEMINI)_/,
  keyVariables,
  invoke(brief, context): Invocation {
    const { options, settings } = context;
    return {
      command: process.execPath,
      args: [
        // What works on files starts programs: a sandbox holds it, or its user has allowed it to be held by nothing.
        ...(brief.access.shell === true ? [] : permissions(brief, context)),
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
      // It could hand over flags that open what the permissions close.
      env: {
        NODE_OPTIONS: undefined,
        ...(brief.temperature === undefined ? {} : { [variableOf("temperature")]: String(brief.temperature) }),
      },
    };
  },
  reach(context, access): AgentReach {
    const { options, settings } = context;
    const env = { ...settings.env, ...options.env };
    const addresses = addressesFor(context);
    const configuredReach = ownReach(options);
    const routes = keyRoutes(env, addresses);
    const hiddenVariables = keyVariables.filter((name) => (env[name] ?? "") !== "");
    return {
      ...configuredReach,
      read: [...configuredReach.read, ...readablePaths(context), ...settingsMounts(context)],
      hosts: [
        ...configuredReach.hosts,
        ...makers.map(({ origin }) => hostOf(origin)),
        ...addresses.map(hostOf),
        ...(access.web ? anyPublicHost : []),
      ],
      keys: routes.map(({ name, to, headers }) => ({ name, to, headers })),
      env: {
        [variableOf("state_dir")]: sandboxState,
        ...Object.fromEntries(hiddenVariables.map((name) => [name, keyPlaceholder])),
        ...(routes.length === 0
          ? {}
          : {
              [keyRoutesVariable]: JSON.stringify(
                Object.fromEntries(routes.map(({ name, to }) => [to, keyAddress(name)])),
              ),
            }),
      },
    };
  },
  reader: readRalph,
  version: async () => packageVersion(),
  async check(context): Promise<AgentCheck> {
    const model = context.options.model === undefined ? [] : ["--model", context.options.model];
    const probe = await ask(context, process.execPath, [
      builtFile("ralph"),
      "--settings",
      ...model,
      ...(context.options.args ?? []),
    ]);
    const event = (probe.exitCode === 0 ? probe.stdout : probe.stderr).trim().replace(/^ralph: /, "");
    return probe.exitCode === 0
      ? { ok: true, version: process.version, detail: event }
      : {
          ok: false,
          detail: event === "" ? "It does not start." : event,
          fix: "Set a key, or the address of a local server.",
        };
  },
};

/** Where it may be told to ask: the flags of the agent, the environment and the user's files each name addresses. */
function addressesFor({ options: { args = [], env }, settings }: AgentContext): string[] {
  const flag = args.flatMap((arg, at) =>
    arg === "--api-url" ? [args[at + 1] ?? ""] : arg.startsWith("--api-url=") ? [arg.slice("--api-url=".length)] : [],
  );
  const allAddresses = [...flag, ...addressesIn({ ...settings.env, ...env }), ...(settings.modelAddresses ?? [])];
  return [...new Set(allAddresses.filter((address) => URL.canParse(address)))];
}

/**
 * The keys of the environment, each for its maker or for the gateway in its place, and that of OpenAI for servers of
 * this machine.
 */
function keyRoutes(env: NodeJS.ProcessEnv, addresses: readonly string[]): KeyRoute[] {
  const firstValue = (names: readonly string[]) =>
    names.map((name) => (env[name] ?? "").trim()).find((key) => key !== "");
  const routes = makers.flatMap(({ name, origin, variables, headers }): KeyRoute[] => {
    const gateway = standIn(name, env);
    const key = firstValue(gateway !== undefined && name === "anthropic" ? [...variables, gatewayToken] : variables);
    if (key === undefined) return [];
    if (gateway === undefined || !URL.canParse(gateway)) return [{ name, to: origin, headers: headers(key) }];
    const allHeaders = { ...headers(key), authorization: `Bearer ${key}` };
    return [{ name, to: new URL(gateway).origin, headers: allHeaders }];
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
  const unroutedOrigins = localOrigins.filter((origin) => !routes.some(({ to }) => to === origin));
  return [
    ...routes,
    ...unroutedOrigins.map((to, at) => ({
      name: `local${"abcdefgh"[at] ?? "z"}`,
      to,
      headers: { authorization: `Bearer ${key}` },
    })),
  ];
}

/** Each path once, and none that lies in another: Node 20 breaks down over a path that it was given already. */
const outermost = (paths: readonly string[]): string[] =>
  [...new Set(paths)].filter(
    (path, _, allAddresses) => !allAddresses.some((other) => path.startsWith(`${other}${sep}`)),
  );

/** What it reads of the package, those next to it where it is installed for a project, and of the user's folder. */
function readablePaths({ settings }: AgentContext): string[] {
  const root = packageFile();
  const packages = dirname(root).endsWith("node_modules") ? dirname(root) : join(root, "node_modules");
  return outermost([
    root,
    // Node names a file that it imports by its real path.
    realPathOf(root),
    packages,
    realPathOf(packages),
    realPathOf(packageFile("schemas")),
    ...projectFiles(settings.cwd),
  ]);
}

/** Its user's settings, and what they trust in the folder. */
function settingsOf({ settings, options }: AgentContext): string[] {
  const env = { ...settings.env, ...options.env };
  return [...userFiles(homeIn(env)), trustFile(settings.cwd, env)];
}

/** The same, each at its place in a sandbox. */
function sandboxSettings(context: AgentContext): string[] {
  const trusted = settingsOf(context).at(-1) ?? "";
  return [...userFiles(sandboxHome), join(trustFolder(sandboxState), basename(trusted))];
}

function settingsMounts(context: AgentContext): Mount[] {
  const insidePaths = sandboxSettings(context);
  return settingsOf(context).flatMap((from, place) =>
    existsSync(from) ? [{ from, at: insidePaths[place] ?? from }] : [],
  );
}

/** Flags of Node's permission model. https://nodejs.org/docs/latest-v20.x/api/permissions.html */
function permissions({ workspace, access }: Brief, context: AgentContext): string[] {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  const isStable = major > 22 || (major === 22 && minor >= 13);
  const { read = [], write = [] } = access.tools?.inProcess ?? {};
  // Who asks hosts keeps their pace, which all processes of the user share; a sandbox has a state of its own.
  const stateDir = context.settings.sandbox === undefined ? context.settings.stateDir : sandboxState;
  const hostsFolders = access.web ? [hostsFolder(stateDir)] : [];
  const settingsPaths = context.settings.sandbox === undefined ? settingsOf(context) : sandboxSettings(context);
  const writablePaths = outermost([workspace, ...write, ...hostsFolders]);
  return [
    isStable ? "--permission" : "--experimental-permission",
    ...(major >= 25 ? ["--allow-net"] : []),
    ...outermost([...readablePaths(context), ...settingsPaths, ...read, ...writablePaths]).flatMap((path) =>
      allowFlags("read", path),
    ),
    ...writablePaths.flatMap((path) => allowFlags("write", path)),
    "--no-warnings",
  ];
}

/** Node takes a path that is not there for that of a file: a folder that may come to be is named with what is in it. */
const allowFlags = (kind: "read" | "write", path: string): string[] =>
  [path, ...(existsSync(path) ? [] : [join(path, "*")])].map((each) => `--allow-fs-${kind}=${each}`);

const kinds: ReadonlySet<string> = new Set<Failure["kind"]>([
  "rate-limit",
  "auth",
  "network",
  "unusable",
  "no-answer",
  "aborted",
  "context",
]);

/** Reads the lines of `ralph --headless`. */
function readRalph(): Reader {
  let model: string | undefined;
  let window: number | undefined;
  let costUsd: number | undefined;
  let answer: Answer | undefined;
  return {
    line(line): readonly AgentEvent[] {
      const event = objectIn(line);
      switch (event?.["type"]) {
        case "start":
          model = text(event["model"]);
          window = number(event["window"]);
          costUsd = number(event["cost_usd"]);
          return [];
        case "notice":
          return [{ type: "notice", message: text(event["message"]) ?? "" }];
        case "tool": {
          const input = object(event["input"]) ?? {};
          return [{ type: "tool", name: text(event["name"]) ?? "a tool", detail: detail(input) }];
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
          return [{ type: "usage", usage: totals, ...withoutUndefined({ model, window, cost_usd: costUsd }) }];
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
    finished: () => answer !== undefined,
    answer: () => answer ?? {},
  };
}

const detail = (input: Readonly<Record<string, unknown>>): string =>
  text(input["file_path"]) ?? text(input["directory_path"]) ?? "";

function failureIn(event: Readonly<Record<string, unknown>>): Failure {
  const kind = text(event["kind"]) ?? "";
  return {
    kind: kinds.has(kind) ? (kind as Failure["kind"]) : "crashed",
    message: text(event["message"]) ?? "ralph gave no reason.",
    ...withoutUndefined({ reset_at: text(event["reset_at"]) }),
  };
}
