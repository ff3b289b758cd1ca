import { homedir } from "node:os";
import type { Plugin as Written } from "../generated/config.js";
import type { Redact } from "../lib/redact.js";
import { oneLine } from "../lib/sanitise.js";
import type { NewEvent } from "../loop/types.js";
import type { MadeFile, Participant, Point } from "../points/points.js";
import type { Exec } from "../process/run-process.js";
import { isWithin } from "../process/search-path.js";
import { type Call, callPlugin, type Child } from "./call.js";
import { digestOf, type FoundModule, findModule } from "./find-module.js";
import type { Described, PluginAnswer } from "../generated/plugin.js";
import { pluginHooks } from "./hooks.js";

/** The environment in which plugins run. */
export interface PluginHouse {
  readonly exec: Exec;
  /** Path of Node there. */
  readonly node: string;
  /** Set if nothing confines them: a plugin can do whatever the user can. */
  readonly unconfined?: true;
}

export interface PluginOptions {
  /** As the configuration has them. */
  readonly plugins: readonly Written[];
  /** Where they run; or why they can't be run here, as the end of a sentence. */
  readonly house: PluginHouse | { readonly problem: string };
  /** The folder that paths of plugins start from. */
  readonly root: string;
  /** The folders of the project, which plugins may read; the first is told to them. */
  readonly folders: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  /** Takes the user's secrets out of what plugins get and of what they say. */
  readonly redact: Redact;
  /** What a wing has to say of an event at which something was accepted, by the hook that gets it. */
  readonly more?: (facts: object) => Promise<Readonly<Record<string, object>>>;
  /** Milliseconds that a call may take; absent: ten seconds. */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
}

/** One plugin that was loaded. */
export interface LoadedPlugin extends Described {
  /** As the configuration names it. */
  readonly as: string;
  /** Calls one of its functions; undefined once it is left out, and then `told` says why. */
  call(call: Call): Promise<{ readonly answer?: PluginAnswer; readonly told: readonly NewEvent[] }>;
  readonly hosts: readonly string[];
}

/** The plugins of a run. */
export interface Plugins {
  readonly loaded: readonly LoadedPlugin[];
  readonly participant: Participant;
  /** What a person should know of the loading, such as who is left out. */
  readonly told: readonly NewEvent[];
}

const tenSeconds = 10_000;
const maxReason = 400;

/** Loads the plugins that are enabled. One that can't be loaded is named in `told` and left out. Never rejects. */
export async function loadPlugins(options: PluginOptions): Promise<Plugins> {
  const entry = options.plugins.filter(({ enabled }) => enabled !== false);
  const results = await Promise.all(entry.map((each) => load(each, options)));
  const loaded = results.flatMap(({ plugin }) => plugin ?? []);
  return { loaded, participant: participantOf(loaded, options), told: results.flatMap(({ told }) => told) };
}

async function load(
  entry: Written,
  options: PluginOptions,
): Promise<{ readonly plugin?: LoadedPlugin; readonly told: readonly NewEvent[] }> {
  const { house, root, redact } = options;
  const omit = (problem: string) => ({ told: [omissionNotice(entry.name, problem, redact)] });
  if ("problem" in house) return omit(`is not loaded, because ${house.problem}`);
  const module = findModule(entry.name, root);
  if ("problem" in module) return omit(`can't be loaded: ${module.problem}`);
  const digest = digestOf(module.own);
  if (digest === undefined) return omit("can't be loaded: it has more than 1,000 files or 20 MB of its own");
  const child = childOf(entry, module, house, options);
  const described = await callPlugin(child, { isOffline: true });
  if ("problem" in described) return omit(described.problem);
  const { answer } = described;
  if (answer.described === undefined) return omit("does not export a plugin");
  const unknownHook = answer.described.hooks.find((hook) => !Object.hasOwn(pluginHooks, hook));
  if (unknownHook !== undefined)
    return omit(`has the hook '${unknownHook}', and the hooks are ${Object.keys(pluginHooks).join(", ")}`);
  const told: NewEvent[] =
    house.unconfined === true
      ? [
          warning(
            `Nothing confines the plugin ${answer.described.name}: it can read, change and send whatever you can.`,
          ),
        ]
      : [];
  return { plugin: plugin(answer.described, child, entry, options, () => isSame(module, digest)), told };
}

/** The process of a plugin. It can read its own module and the project, but no folder that contains the user's home. */
function childOf(
  { allow = {} }: Written,
  { file, read }: FoundModule,
  { exec, node }: PluginHouse,
  { folders, env, timeoutMs = tenSeconds, signal }: PluginOptions,
): Child {
  const home = env["HOME"] ?? homedir();
  const visiblePaths = [...new Set([...read, ...folders])].filter((path) => !isWithin(home, path));
  const cwd = folders.find((folder) => visiblePaths.includes(folder)) ?? "/tmp";
  const hosts = (allow.hosts ?? []).map((host) => host.toLowerCase());
  return { exec, node, module: file, read: visiblePaths, cwd, hosts, env, timeoutMs, signal };
}

function plugin(
  described: Described,
  child: Child,
  { name: as, config = {} }: Written,
  { folders, redact }: PluginOptions,
  isUnchanged: () => boolean,
): LoadedPlugin {
  let isOmitted = false;
  const reportedNotices = new Set<string>();
  const context = { config, folder: folders[0] };
  return {
    ...described,
    as,
    hosts: child.hosts,
    async call(call) {
      if (isOmitted) return { told: [] };
      const result = isUnchanged()
        ? await callPlugin(child, { ...call, context })
        : { problem: "was changed since the run began", notices: [] };
      const newNotices = result.notices.filter((notice) => !reportedNotices.has(notice));
      for (const notice of newNotices) reportedNotices.add(notice);
      const told = newNotices.map((notice) => warning(redact(`Plugin ${described.name}: ${oneLine(notice)}`)));
      if ("answer" in result) return { answer: result.answer, told };
      if (("isInterrupted" in result && result.isInterrupted === true) || isOmitted) return { told };
      isOmitted = true;
      return {
        told: [...told, omissionNotice(as, `${result.problem} (in ${call.call?.at(-1) ?? "its description"})`, redact)],
      };
    },
  };
}

/** Whether the files of a plugin are unchanged since it was loaded. */
function isSame({ own }: FoundModule, digest: string): boolean {
  try {
    return digestOf(own) === digest;
  } catch {
    return false;
  }
}

const warning = (message: string): NewEvent => ({ type: "notice", level: "warning", message });

const omissionNotice = (plugin: string, problem: string, redact: Redact): NewEvent => ({
  type: "notice",
  level: "warning",
  message: redact(`The plugin ${plugin} ${problem.replace(/\.$/, "")}; it is left out for the rest of the run.`),
  plugin,
});

function participantOf(plugins: readonly LoadedPlugin[], { redact, more }: PluginOptions): Participant {
  /** Calls a hook of everyone who has it, at the same time. */
  const callAll = (hook: string, input: object) => {
    const kind = pluginHooks[hook]?.answers ?? "nothing";
    return Promise.all(
      plugins
        .filter(({ hooks }) => hooks.includes(hook))
        .map(async (each) => ({ each, ...(await each.call({ call: ["hooks", hook], kind, input: safe(input) })) })),
    );
  };
  const safe = (input: object): unknown => JSON.parse(redact(JSON.stringify(input)));
  const waits = (hook: string) => plugins.some(({ hooks }) => hooks.includes(hook));
  /** The hooks that are only told of a point. */
  const told = (point: Point) =>
    Object.entries(pluginHooks).filter((entry) => entry[1].point === point && entry[1].answers === undefined);
  return {
    async at(point, facts) {
      const waiting = told(point).filter(([hook]) => waits(hook));
      const ofWork = waiting.some(([, { isOfWork }]) => isOfWork === true) ? await more?.(facts) : undefined;
      const calls = waiting.map(([hook, { isOfWork }]) => {
        const input = isOfWork === true ? ofWork?.[hook] : facts;
        return input === undefined ? [] : callAll(hook, input);
      });
      return (await Promise.all(calls)).flat().flatMap((each) => each.told);
    },
    async ask(point, proposal) {
      if (point !== "complete") return { vetoes: [], told: [] };
      const answers = await callAll("onBeforeSuccess", proposal);
      return {
        vetoes: answers.flatMap(vetoOf).map((each) => redact(each)),
        told: answers.flatMap((each) => each.told),
      };
    },
    async addTo(made) {
      const answers = await callAll("onBeforeGen", made);
      const texts = answers.flatMap(({ each, answer }) => {
        const text = answer?.added?.trim() ?? "";
        return text === "" ? [] : [`## From the plugin ${each.name}\n\n${redact(text)}`];
      });
      return { text: texts.join("\n\n"), told: answers.flatMap((each) => each.told) };
    },
    ...(waits("onAfterGen")
      ? {
          async remake(made) {
            let files = made.files ?? [];
            const fields: Record<string, Readonly<Record<string, unknown>>> = {};
            const all: NewEvent[] = [];
            for (const each of plugins.filter(({ hooks }) => hooks.includes("onAfterGen"))) {
              // What stands in the files goes back there, so nothing is taken out of it.
              const input = { ...(safe({ ...made, files: undefined }) as object), files: made.files && files };
              const { answer, told } = await each.call({ call: ["hooks", "onAfterGen"], kind: "changed", input });
              all.push(...told);
              files = files.map((file) => answer?.changed?.files?.find(({ path }) => path === file.path) ?? file);
              if (answer?.changed?.fields !== undefined) fields[each.name] = answer.changed.fields;
            }
            const isNew = ({ text }: MadeFile, index: number) => text !== made.files?.[index]?.text;
            return { files: files.filter(isNew), fields: safe(fields) as typeof fields, told: all };
          },
        }
      : {}),
  } satisfies Participant;
}

const vetoOf = ({ each, answer }: { readonly each: LoadedPlugin; readonly answer?: PluginAnswer }): string[] => {
  const { vetoed = true } = answer ?? {};
  if (vetoed === true) return [];
  const reason = vetoed === false ? "" : oneLine(vetoed).slice(0, maxReason);
  return [`${each.name}: ${reason === "" ? "it gives no reason" : reason}`];
};
