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

/** The sources for a project that names no source that the program can search. */
const defaultSources = ["arXiv", "OpenAlex", "Semantic Scholar"];

/**
 * What tools can use of a project: its records, its saved texts and its sources. Each call reads the files again, so
 * the results of an active run are visible. While a run is active, requests to sources are logged in the project,
 * because the agent's search is part of the project's search; nothing else is written. With a `paper`, tools see only
 * that paper and use no sources. With several projects, tools search all their papers and use no sources. Aborting
 * `signal` ends requests.
 */
export async function toolContextFor(
  folders: readonly [string, ...string[]],
  paper: string | undefined,
  io: Io,
  signal: AbortSignal,
): Promise<ToolContext> {
  const [folder] = folders;
  const localReads: ToolContext = {
    papers: async () => (await readResearch(folder)).rrd.papers_pool,
    checkers: async () => (await readResearch(folder)).rrd.meaning?.checkers ?? {},
    text: (id) => lastCachedText(textsFolder(folder), id),
  };
  if (paper !== undefined) return { ...localReads, paper };
  let openedPool: Promise<ProjectSearch> | undefined;
  const openPoolOnce = () => {
    openedPool ??= openPool(folders);
    return openedPool;
  };
  const projectSearch: ProjectSearch = {
    passages: async (...query) => (await openPoolOnce()).passages(...query),
    check: async (...answer) => (await openPoolOnce()).check(...answer),
  };
  if (folders.length > 1) return { ...localReads, asked: projectSearch };
  return { ...localReads, asked: projectSearch, network: await networkOf(folder, io, signal) };
}

/** Opens the search in all papers of these projects. Loaded at the first use: many clients never use it. */
async function openPool(folders: readonly string[]): Promise<ProjectSearch> {
  const [{ projectSearchFor }, { lazyPool }] = await Promise.all([
    import("../research/overview/questions/asked-by-tools.js"),
    import("../research/overview/questions/stored-pool.js"),
  ]);
  return projectSearchFor(lazyPool(folders));
}

async function networkOf(folder: string, io: Io, signal: AbortSignal): Promise<Network> {
  const root = rootOf(folder, io.cwd);
  const config = await configToRead({ env: io.env, cwd: root }, {}, ["sources"]);
  const http = httpFor(config, signal, {
    cacheDir: sharedAnswersFolder(config.stateDir),
    record: recorderDuringRun(folder),
  });
  const contextFor = contextsWith(config, io.env, http);
  const { requirements } = (await readResearch(folder)).rrd;
  const projectSources = searchableSources(requirements.sources ?? [], root);
  return { sources: projectSources.length > 0 ? projectSources : searchableSources(defaultSources, root), contextFor };
}

/** Logs an agent's requests in the project while a run is active. If that fails, the agent still gets its answer. */
function recorderDuringRun(folder: string): (line: QueryLine) => Promise<void> {
  const record = queryRecorder(folder);
  return async (line) => {
    if (await isHeld(lockFile(folder))) await record({ ...line, by: "tool" }).catch(() => undefined);
  };
}

const searchableSources = (names: readonly string[], root: string): readonly Source[] => [
  ...new Set(names.flatMap((name) => sourcesFor(name, root)).filter(({ search }) => search !== undefined)),
];

/**
 * How an agent's CLI starts this program to serve tools for these projects. Tools for one paper or for several projects
 * use no sources.
 */
export const toolsOf =
  (
    folders: readonly [string, ...string[]],
    { sources, stateDir }: Pick<ResolvedConfig, "sources" | "stateDir">,
    env: NodeJS.ProcessEnv,
  ): ServeTools =>
  (names, paper) => {
    // The value is joined with "=", because an id may begin with a dash.
    const paperFlag = paper === undefined ? [] : [`--paper=${paper}`];
    const usesSources = paper === undefined && folders.length === 1;
    const projects = folders.flatMap((folder) => ["--research", folder]);
    const flags = [...projects, "--tools", names.join(","), ...paperFlag];
    return {
      command: process.execPath,
      args: [builtFile("cli"), "mcp", ...flags],
      names,
      env: usesSources ? variablesFor(sources, names).filter((name) => env[name] !== undefined) : [],
      inProcess: {
        flags,
        read: folders,
        write: usesSources ? [queriesFile(folders[0]), hostsFolder(stateDir), sharedAnswersFolder(stateDir)] : [],
      },
    };
  };

/**
 * The variables of proxies. They are passed on by name, because some CLIs start their servers with an empty
 * environment.
 */
const proxyVariables = ["HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY"].flatMap((name) => [name, name.toLowerCase()]);

/**
 * The environment variables that these tools need: keys of sources, the place of the state folder, and proxies.
 */
function variablesFor(sources: ResolvedConfig["sources"], names: readonly string[]): string[] {
  const sourcesOfTools = names.includes("code_links") ? [...allSources, gitHub, huggingFace] : allSources;
  const keys = sourcesOfTools.flatMap((source) => settingsOf(source, sources).key_variable ?? source.keyVariable ?? []);
  return [
    ...new Set([
      ...keys,
      "XDG_STATE_HOME",
      variableOf("state_dir"),
      variableOf("contact"),
      ...proxyVariables,
      "NODE_EXTRA_CA_CERTS",
    ]),
  ];
}
