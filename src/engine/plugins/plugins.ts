import { homedir } from "node:os";
import type { Plugin as PluginConfig } from "../generated/config.js";
import type { Redact } from "../lib/redact.js";
import { oneLine } from "../lib/sanitise.js";
import type { NewEvent } from "../loop/types.js";
import type { MadeFile, Participant, Point } from "../points/points.js";
import type { Exec } from "../process/run-process.js";
import { isWithin } from "../process/search-path.js";
import { type Call, callPlugin, type PluginProcess } from "./call.js";
import { hashOfPlugin, type FoundModule, findModule } from "./find-module.js";
import type { Described, PluginAnswer } from "../generated/plugin.js";

/** A hook of a plugin: the point at which it is called, and the kind of its answer. */
interface PluginHook {
  readonly point: Point;
  /** The field of the answer that is used; absent: none. */
  readonly answerField?: "added" | "changed" | "vetoed";
  /** True: the hook is called only if the kind of work (such as research) has additional input for it. */
  readonly needsWorkInput?: true;
}

/** All hooks that a plugin may have. Shell hooks use the same points. */
const pluginHooks: Readonly<Record<string, PluginHook>> = {
  onBeforeGen: { point: "before-iteration", answerField: "added" },
  onAfterGen: { point: "after-iteration", answerField: "changed" },
  onTestFail: { point: "tests-failed" },
  onBeforeSuccess: { point: "complete", answerField: "vetoed" },
  onSuccess: { point: "complete" },
  onReading: { point: "accepted", needsWorkInput: true },
  onReport: { point: "accepted", needsWorkInput: true },
} satisfies Record<string, PluginHook & { readonly answerField?: keyof PluginAnswer }>;

/** How plugins are run. */
export interface PluginEnvironment {
  readonly exec: Exec;
  /** Path of Node in that environment. */
  readonly node: string;
  /** True: nothing confines the plugins; they can do whatever the user can. */
  readonly unconfined?: true;
}

export interface PluginOptions {
  /** The plugins in the configuration. */
  readonly plugins: readonly PluginConfig[];
  /** How plugins are run, or why they can't be run, as the end of a sentence. */
  readonly environment: PluginEnvironment | { readonly problem: string };
  /** The folder against which paths of plugins are resolved. */
  readonly root: string;
  /** The folders of the project, which plugins may read; the context of a plugin contains the first one. */
  readonly folders: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  /** Removes the user's secrets from the input and the output of plugins. */
  readonly redact: Redact;
  /** Returns the input of hooks with `needsWorkInput` for an event with an accepted result, by name of the hook. */
  readonly workInput?: (facts: object) => Promise<Readonly<Record<string, object>>>;
  /** Maximum duration of a call in milliseconds; absent: ten seconds. */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
}

/** A loaded plugin. */
export interface LoadedPlugin extends Described {
  /** The name of the plugin in the configuration. */
  readonly configuredName: string;
  /**
   * Calls a function of the plugin. After an error the plugin is not called again: `answer` is then absent, and
   * `notices` says why.
   */
  call(call: Call): Promise<{ readonly answer?: PluginAnswer; readonly notices: readonly NewEvent[] }>;
  readonly hosts: readonly string[];
}

/** The plugins of a run. */
export interface Plugins {
  readonly loaded: readonly LoadedPlugin[];
  readonly participant: Participant;
  /** Messages for the user about the loading, such as omitted plugins. */
  readonly notices: readonly NewEvent[];
}

const defaultTimeoutMs = 10_000;
const maxReasonChars = 400;

/** Loads the enabled plugins. If a plugin can't be loaded, it is omitted and `notices` says why. Never rejects. */
export async function loadPlugins(options: PluginOptions): Promise<Plugins> {
  const enabledPlugins = options.plugins.filter(({ enabled }) => enabled !== false);
  const results = await Promise.all(enabledPlugins.map((entry) => loadPlugin(entry, options)));
  const loaded = results.flatMap(({ plugin }) => plugin ?? []);
  return { loaded, participant: participantOf(loaded, options), notices: results.flatMap(({ notices }) => notices) };
}

async function loadPlugin(
  entry: PluginConfig,
  options: PluginOptions,
): Promise<{ readonly plugin?: LoadedPlugin; readonly notices: readonly NewEvent[] }> {
  const { environment, root, redact } = options;
  const omit = (problem: string) => ({ notices: [omissionNotice(entry.name, problem, redact)] });
  if ("problem" in environment) return omit(`is not loaded, because ${environment.problem}`);
  const module = findModule(entry.name, root);
  if ("problem" in module) return omit(`can't be loaded: ${module.problem}`);
  const digest = hashOfPlugin(module.modulePath);
  if (digest === undefined) return omit("can't be loaded: it has more than 1,000 files or 20 MB of its own");
  const child = processOf(entry, module, environment, options);
  const described = await callPlugin(child, { isOffline: true });
  if ("problem" in described) return omit(described.problem);
  const { answer } = described;
  if (answer.described === undefined) return omit("does not export a plugin");
  const unknownHook = answer.described.hooks.find((hook) => !Object.hasOwn(pluginHooks, hook));
  if (unknownHook !== undefined)
    return omit(`has the hook '${unknownHook}', and the hooks are ${Object.keys(pluginHooks).join(", ")}`);
  const told: NewEvent[] =
    environment.unconfined === true
      ? [
          warning(
            `Nothing confines the plugin ${answer.described.name}: it can read, change and send whatever you can.`,
          ),
        ]
      : [];
  return {
    plugin: createPlugin(answer.described, child, entry, options, () => isUnchangedSince(module, digest)),
    notices: told,
  };
}

/** The process of a plugin. It can read its own module and the project, but no folder that contains the user's home. */
function processOf(
  { allow = {} }: PluginConfig,
  { file, read }: FoundModule,
  { exec, node }: PluginEnvironment,
  { folders, env, timeoutMs = defaultTimeoutMs, signal }: PluginOptions,
): PluginProcess {
  const home = env["HOME"] ?? homedir();
  const visiblePaths = [...new Set([...read, ...folders])].filter((path) => !isWithin(home, path));
  const cwd = folders.find((folder) => visiblePaths.includes(folder)) ?? "/tmp";
  const hosts = (allow.hosts ?? []).map((host) => host.toLowerCase());
  return { exec, node, module: file, read: visiblePaths, cwd, hosts, env, timeoutMs, signal };
}

function createPlugin(
  described: Described,
  child: PluginProcess,
  { name: configuredName, config = {} }: PluginConfig,
  { folders, redact }: PluginOptions,
  isUnchanged: () => boolean,
): LoadedPlugin {
  let isOmitted = false;
  const reportedNotices = new Set<string>();
  const context = { config, folder: folders[0] };
  return {
    ...described,
    configuredName,
    hosts: child.hosts,
    async call(call) {
      if (isOmitted) return { notices: [] };
      const result = isUnchanged()
        ? await callPlugin(child, { ...call, context })
        : { problem: "was changed since the run began", notices: [] };
      const newNotices = result.notices.filter((notice) => !reportedNotices.has(notice));
      for (const notice of newNotices) reportedNotices.add(notice);
      const told = newNotices.map((notice) => warning(redact(`Plugin ${described.name}: ${oneLine(notice)}`)));
      if ("answer" in result) return { answer: result.answer, notices: told };
      if (("isInterrupted" in result && result.isInterrupted === true) || isOmitted) return { notices: told };
      isOmitted = true;
      return {
        notices: [
          ...told,
          omissionNotice(configuredName, `${result.problem} (in ${call.call?.at(-1) ?? "its description"})`, redact),
        ],
      };
    },
  };
}

/** Whether the files of a plugin still have the hash `digest`. */
function isUnchangedSince({ modulePath }: FoundModule, digest: string): boolean {
  try {
    return hashOfPlugin(modulePath) === digest;
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

function participantOf(plugins: readonly LoadedPlugin[], { redact, workInput }: PluginOptions): Participant {
  /** Calls a hook of all plugins that have it, in parallel. */
  const callAll = (hook: string, input: object) => {
    const kind = pluginHooks[hook]?.answerField ?? "nothing";
    return Promise.all(
      plugins
        .filter(({ hooks }) => hooks.includes(hook))
        .map(async (plugin) => ({
          plugin,
          ...(await plugin.call({ call: ["hooks", hook], kind, input: redactInput(input) })),
        })),
    );
  };
  const redactInput = (input: object): unknown => JSON.parse(redact(JSON.stringify(input)));
  const isUsed = (hook: string) => plugins.some(({ hooks }) => hooks.includes(hook));
  /** The hooks at a point whose answers are not used. */
  const hooksWithoutAnswerAt = (point: Point) =>
    Object.entries(pluginHooks).filter((entry) => entry[1].point === point && entry[1].answerField === undefined);
  return {
    async at(point, facts) {
      const usedHooks = hooksWithoutAnswerAt(point).filter(([hook]) => isUsed(hook));
      const additionalInput = usedHooks.some(([, { needsWorkInput }]) => needsWorkInput === true)
        ? await workInput?.(facts)
        : undefined;
      const calls = usedHooks.map(([hook, { needsWorkInput }]) => {
        const input = needsWorkInput === true ? additionalInput?.[hook] : facts;
        return input === undefined ? [] : callAll(hook, input);
      });
      return (await Promise.all(calls)).flat().flatMap(({ notices }) => notices);
    },
    async ask(point, proposal) {
      if (point !== "complete") return { vetoes: [], notices: [] };
      const answers = await callAll("onBeforeSuccess", proposal);
      return {
        vetoes: answers.flatMap(vetoOf).map((veto) => redact(veto)),
        notices: answers.flatMap(({ notices }) => notices),
      };
    },
    async addToBrief(made) {
      const answers = await callAll("onBeforeGen", made);
      const texts = answers.flatMap(({ plugin, answer }) => {
        const text = answer?.added?.trim() ?? "";
        return text === "" ? [] : [`## From the plugin ${plugin.name}\n\n${redact(text)}`];
      });
      return { text: texts.join("\n\n"), notices: answers.flatMap(({ notices }) => notices) };
    },
    ...(isUsed("onAfterGen")
      ? {
          async changeOutput(made) {
            let files = made.files ?? [];
            const fields: Record<string, Readonly<Record<string, unknown>>> = {};
            const allWarnings: NewEvent[] = [];
            for (const plugin of plugins.filter(({ hooks }) => hooks.includes("onAfterGen"))) {
              // Files are written back, so their text must not be redacted.
              const input = { ...(redactInput({ ...made, files: undefined }) as object), files: made.files && files };
              const { answer, notices } = await plugin.call({ call: ["hooks", "onAfterGen"], kind: "changed", input });
              allWarnings.push(...notices);
              files = files.map((file) => answer?.changed?.files?.find(({ path }) => path === file.path) ?? file);
              if (answer?.changed?.fields !== undefined) fields[plugin.name] = answer.changed.fields;
            }
            const isNew = ({ text }: MadeFile, index: number) => text !== made.files?.[index]?.text;
            return { files: files.filter(isNew), fields: redactInput(fields) as typeof fields, notices: allWarnings };
          },
        }
      : {}),
  } satisfies Participant;
}

const vetoOf = ({ plugin, answer }: { readonly plugin: LoadedPlugin; readonly answer?: PluginAnswer }): string[] => {
  const { vetoed = true } = answer ?? {};
  if (vetoed === true) return [];
  const reason = vetoed === false ? "" : oneLine(vetoed).slice(0, maxReasonChars);
  return [`${plugin.name}: ${reason === "" ? "it gives no reason" : reason}`];
};
