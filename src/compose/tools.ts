import type { QueryLine } from "../engine/generated/query.js";
import { httpFor } from "../research/sources/network.js";
import { configToRead, type ResolvedConfig } from "./config.js";
import { sourcesFor, allSources } from "../research/sources/registry.js";
import { contextsWith, settingsOf } from "../research/sources/source-settings.js";
import type { Source } from "../research/sources/shared/source.js";
import { lastCachedText } from "../research/full-text/text-cache.js";
import { isHeld } from "../engine/storage/lock.js";
import { queryRecorder } from "../research/project-files/logs/query-log.js";
import { readResearch } from "../research/project-files/research.js";
import type { Io } from "../engine/ui/io.js";
import { rootOf } from "../research/workflow/brief/prompt-file.js";
import type { ProjectSearch, Network, ToolContext } from "../research/tools/context.js";
import { hostsFolder, lockFile } from "../engine/lib/layout.js";
import { queriesFile, sharedAnswersFolder, textsFolder } from "../research/project-files/layout.js";
import { variableOf } from "../engine/config/keys.js";
import { builtFile } from "../engine/lib/package-root.js";
import { gitHub, huggingFace } from "../research/sources/clients/code-links.js";
import type { ServeTools } from "../research/units/unit-kind.js";

/** Searched where a project names no source that code can ask. */
const usualSources = ["arXiv", "OpenAlex", "Semantic Scholar"];

/**
 * What the tools reach of a project: its records, the texts kept in it, and its sources. Reads at each call, so a run
 * under way is seen. Writes nothing into it but, while a run is at work on it, what sources are asked, as its agent's
 * search is part of the project's. With a `paper` it is about that one, and nothing is asked outside; nor is with
 * several projects, of which all papers are asked at once. Aborting `signal` ends what is being asked.
 */
export async function toolContextFor(
  folders: readonly [string, ...string[]],
  paper: string | undefined,
  io: Io,
  signal: AbortSignal,
): Promise<ToolContext> {
  const [folder] = folders;
  const reading: ToolContext = {
    papers: async () => (await readResearch(folder)).rrd.papers_pool,
    checkers: async () => (await readResearch(folder)).rrd.meaning?.checkers ?? {},
    text: (id) => lastCachedText(textsFolder(folder), id),
  };
  if (paper !== undefined) return { ...reading, paper };
  let opened: Promise<ProjectSearch> | undefined;
  const open = () => {
    opened ??= poolOf(folders);
    return opened;
  };
  const asked: ProjectSearch = {
    passages: async (...query) => (await open()).passages(...query),
    check: async (...answer) => (await open()).check(...answer),
  };
  if (folders.length > 1) return { ...reading, asked };
  return { ...reading, asked, network: await networkOf(folder, io, signal) };
}

/** What is asked of all papers at once. Loaded with the first such question: a client may never put one. */
async function poolOf(folders: readonly string[]): Promise<ProjectSearch> {
  const [{ askedByTools }, { openedOnce }] = await Promise.all([
    import("../research/overview/questions/asked-by-tools.js"),
    import("../research/overview/questions/stored-pool.js"),
  ]);
  return askedByTools(openedOnce(folders));
}

async function networkOf(folder: string, io: Io, signal: AbortSignal): Promise<Network> {
  const root = rootOf(folder, io.cwd);
  const config = await configToRead({ env: io.env, cwd: root }, {}, ["sources"]);
  const http = httpFor(config, signal, { cacheDir: sharedAnswersFolder(config.stateDir), record: recordIn(folder) });
  const contextFor = contextsWith(config, io.env, http);
  const { requirements } = (await readResearch(folder)).rrd;
  const named = searchable(requirements.sources ?? [], root);
  return { sources: named.length > 0 ? named : searchable(usualSources, root), contextFor };
}

/** Notes in the project's log what an agent asks. That it can't be noted must not cost the agent its answer. */
function recordIn(folder: string): (line: QueryLine) => Promise<void> {
  const record = queryRecorder(folder);
  return async (line) => {
    if (await isHeld(lockFile(folder))) await record({ ...line, by: "tool" }).catch(() => undefined);
  };
}

const searchable = (names: readonly string[], root: string): readonly Source[] => [
  ...new Set(names.flatMap((name) => sourcesFor(name, root)).filter(({ search }) => search !== undefined)),
];

/**
 * How the CLI of an agent starts our own program to serve tools for these projects. What is about one paper or several
 * projects asks nothing outside.
 */
export const toolsOf =
  (
    folders: readonly [string, ...string[]],
    { sources, stateDir }: Pick<ResolvedConfig, "sources" | "stateDir">,
    env: NodeJS.ProcessEnv,
  ): ServeTools =>
  (names, paper) => {
    // An id comes from outside and may begin with a dash.
    const about = paper === undefined ? [] : [`--paper=${paper}`];
    const asksOutside = paper === undefined && folders.length === 1;
    const projects = folders.flatMap((folder) => ["--research", folder]);
    const flags = [...projects, "--tools", names.join(","), ...about];
    return {
      command: process.execPath,
      args: [builtFile("cli"), "mcp", ...flags],
      names,
      env: asksOutside ? variablesFor(sources, names).filter((name) => env[name] !== undefined) : [],
      inProcess: {
        flags,
        read: folders,
        write: asksOutside ? [queriesFile(folders[0]), hostsFolder(stateDir), sharedAnswersFolder(stateDir)] : [],
      },
    };
  };

/** By which way the network is reached. A CLI may start its servers with none of its own environment. */
const proxies = ["HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY"].flatMap((name) => [name, name.toLowerCase()]);

/**
 * What searching needs of the environment: keys of what these tools ask, where this machine's state is, and the way to
 * the network.
 */
function variablesFor(sources: ResolvedConfig["sources"], names: readonly string[]): string[] {
  const asked = names.includes("code_links") ? [...allSources, gitHub, huggingFace] : allSources;
  const keys = asked.flatMap((source) => settingsOf(source, sources).key_variable ?? source.keyVariable ?? []);
  return [
    ...new Set([
      ...keys,
      "XDG_STATE_HOME",
      variableOf("state_dir"),
      variableOf("contact"),
      ...proxies,
      "NODE_EXTRA_CA_CERTS",
    ]),
  ];
}
