import { realpathSync } from "node:fs";
import { dirname, join, sep } from "node:path";
import { projectFiles, userFiles } from "../config/file.js";
import { given } from "../lib/given.js";
import { entry, packageFile } from "../lib/package-root.js";
import type { AgentEvent, Failure } from "../loop/types.js";
import { hostOf } from "../process/reach.js";
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
import { number, object, objectIn, text, tokens } from "./shared/json-line.js";

const keyVariables = ["OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GOOGLE_API_KEY"];
const makerHosts = ["api.openai.com:443", "api.anthropic.com:443", "generativelanguage.googleapis.com:443"];

/**
 * The assistant of this package as an agent: no other CLI is needed, a key or a local server is. A brief is one request
 * with one line before it. Node's own permission model confines it: it reads the package, its settings and the
 * workspace, and writes the workspace; it starts no program and loads no native code.
 */
export const ralph: AgentDefinition = {
  name: "ralph",
  confinement: "workspace",
  briefsOnly: true,
  keyVariables,
  invoke(brief, context): Invocation {
    const { options, settings } = context;
    return {
      command: process.execPath,
      args: [
        ...permissions(brief.workspace, context),
        entry("ralph"),
        "--headless",
        ...["--folder", settings.cwd],
        ...(brief.access.read ? ["--read"] : []),
        ...(options.model === undefined ? [] : ["--model", options.model]),
        ...(options.args ?? []),
      ],
      // It could hand over flags that open what the permissions close.
      env: { NODE_OPTIONS: undefined },
    };
  },
  reach(context): AgentReach {
    const { options, settings } = context;
    const env = { ...settings.env, ...options.env };
    const address = options.args?.[options.args.indexOf("--api-url") + 1] ?? "";
    const own = ownReach(options);
    return {
      ...own,
      read: [...own.read, ...readable(context)],
      hosts: [...own.hosts, ...makerHosts, ...(URL.canParse(address) ? [hostOf(address)] : [])],
      // It is a program of ours that reads no variable to a model, and its servers' addresses stand in files.
      env: Object.fromEntries(keyVariables.map((name) => [name, env[name]])),
    };
  },
  reader: readRalph,
  async check(context): Promise<AgentCheck> {
    const model = context.options.model === undefined ? [] : ["--model", context.options.model];
    const found = await ask(context, process.execPath, [
      entry("ralph"),
      "--settings",
      ...model,
      ...(context.options.args ?? []),
    ]);
    const said = (found.exitCode === 0 ? found.stdout : found.stderr).trim().replace(/^ralph: /, "");
    return found.exitCode === 0
      ? { ok: true, version: process.version, detail: said }
      : {
          ok: false,
          detail: said === "" ? "It does not start." : said,
          fix: "Set a key, or the address of a local server.",
        };
  },
};

/** Each path once, and none that lies in another: Node 20 breaks down over a path that it was given already. */
const outermost = (paths: readonly string[]): string[] =>
  [...new Set(paths)].filter((path, _, all) => !all.some((other) => path.startsWith(`${other}${sep}`)));

function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

/** What it reads: the package, those beside it where it is installed for a project, and its settings. */
function readable({ settings, options }: AgentContext): string[] {
  const root = packageFile();
  const packages = dirname(root).endsWith("node_modules") ? dirname(root) : join(root, "node_modules");
  const home = homeIn({ ...settings.env, ...options.env });
  return outermost([
    root,
    // Node names a file that it imports by its real path.
    realPath(root),
    packages,
    realPath(packages),
    realPath(packageFile("schemas")),
    ...projectFiles(settings.cwd),
    ...userFiles(home),
    join(home, ".local", "ralph", "trusted"),
  ]);
}

/** Flags of Node's permission model. https://nodejs.org/docs/latest-v20.x/api/permissions.html */
function permissions(workspace: string, context: AgentContext): string[] {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  const isStable = major > 22 || (major === 22 && minor >= 13);
  return [
    isStable ? "--permission" : "--experimental-permission",
    ...(major >= 25 ? ["--allow-net"] : []),
    ...outermost([...readable(context), workspace]).map((path) => `--allow-fs-read=${path}`),
    `--allow-fs-write=${workspace}`,
    "--no-warnings",
  ];
}

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
  let answer: Answer | undefined;
  return {
    line(line): readonly AgentEvent[] {
      const said = objectIn(line);
      switch (said?.["type"]) {
        case "start":
          model = text(said["model"]);
          window = number(said["window"]);
          return [];
        case "notice":
          return [{ type: "notice", message: text(said["message"]) ?? "" }];
        case "tool": {
          const input = object(said["input"]) ?? {};
          return [{ type: "tool", name: text(said["name"]) ?? "a tool", detail: detail(input) }];
        }
        case "usage": {
          const usage = object(said["usage"]) ?? {};
          const [input, cached, output] = [tokens(usage["input"]), tokens(usage["cached"]), tokens(usage["output"])];
          const all = { input, cached, output, requests: tokens(usage["requests"]), largest: tokens(usage["largest"]) };
          return [{ type: "usage", usage: all, ...given({ model, window }) }];
        }
        case "end": {
          const failure = object(said["failure"]);
          answer = failure === undefined ? { message: text(said["message"]) ?? "" } : { failure: failureIn(failure) };
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

function failureIn(said: Readonly<Record<string, unknown>>): Failure {
  const kind = text(said["kind"]) ?? "";
  return {
    kind: kinds.has(kind) ? (kind as Failure["kind"]) : "crashed",
    message: text(said["message"]) ?? "ralph gave no reason.",
    ...given({ reset_at: text(said["reset_at"]) }),
  };
}
