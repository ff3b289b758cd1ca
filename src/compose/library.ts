import { claudeName, lessonsName, missionName } from "../engine/lib/layout.js";
import { stat } from "node:fs/promises";
import { relative, resolve, sep } from "node:path";
import type { ResolvedConfig } from "./config.js";
import { systemClock } from "../engine/lib/clock.js";
import { httpFor } from "../research/sources/network.js";
import { ExpectedError } from "../engine/lib/errors.js";
import { contentsOf, noPapersSentence, type OwnFiles, unreadSentence } from "../research/full-text/folder-contents.js";
import { listFolder, listSamples, type ListingCache } from "../research/full-text/local-folder.js";
import { paperLookups } from "../research/paper-lookups/paper-lookups.js";
import { replaysOf } from "../research/search/replay-sources.js";
import { contextsWith } from "../research/sources/source-settings.js";
import { searchQueries, queryRecorder, readQueries } from "../research/project-files/logs/query-log.js";
import type { Sources } from "../research/screening/paper-sources.js";
import { scholarlySearch } from "../research/units/screening/search-session.js";
import type { QueryLine } from "../engine/generated/query.js";
import type { SearchRecord } from "../research/search/search-record.js";
import type { Tell } from "../engine/loop/types.js";
import {
  answersFolder,
  committedFiles,
  documentsFolder,
  promptName,
  rrdName,
} from "../research/project-files/layout.js";
import type { Library } from "../research/units/unit-kind.js";
import type { Rrd } from "../research/generated/rrd.js";
import { isOwnFolder, ownListIn } from "../research/papers/records/own-list.js";
import { readRecords } from "../research/papers/records/read-records.js";
import { bytesPerToken } from "../engine/lib/tokens.js";
import { medianPaperTokens } from "../research/units/reading/kind.js";
import { webAddressFrom } from "../engine/lib/json-fields.js";

/**
 * Receives what a search would write: the requests for the log and the results. With it, services are always asked,
 * even if an answer of today is in the cache.
 */
export interface SearchReceiver {
  readonly record: (line: QueryLine) => Promise<void>;
  readonly search: (found: SearchRecord) => void;
}

/**
 * The sources of papers: the user's folders, the packaged samples, and scholarly services, which also look up papers
 * that an agent found.
 */
export function libraryFor(
  folder: string,
  root: string,
  config: Pick<ResolvedConfig, "sources" | "stateDir" | "contact" | "patienceMs" | "lookups">,
  env: NodeJS.ProcessEnv,
  signal: AbortSignal,
  tell: Tell = async () => undefined,
  receiver?: SearchReceiver,
): Library {
  const cacheDir = answersFolder(folder);
  // Documents have their own cache: many PDFs would displace the answers from which a search is replayed.
  const freshness = receiver === undefined ? {} : { freshMs: 0 };
  const http = httpFor(config, signal, { cacheDir: documentsFolder(folder), ...freshness });
  // Only the requests of a search are logged, because it is replayed from the log.
  const loggedHttp = httpFor(config, signal, {
    cacheDir,
    record: receiver?.record ?? queryRecorder(folder),
    ...freshness,
  });
  return {
    ...localSources(folder, root, signal, {
      tell: (message) => void tell({ type: "notice", level: "info", message }),
      watch: (progress) => void tell({ type: "searching", round: 1, ...progress }),
    }),
    ...scholarlySearch({
      folder,
      root,
      contextFor: contextsWith(config, env, loggedHttp),
      replay: async () =>
        replaysOf(searchQueries((await readQueries(folder)).lines), { cacheDir, config: config.sources, root }),
      now: systemClock.now,
      sleeps: systemClock.sleeps,
      patienceMs: config.patienceMs,
      signal,
      onRecord: receiver?.search,
      onReport: (message) => void tell({ type: "notice", level: "info", message }),
      onProgress: (progress) => void tell({ type: "searching", ...progress }),
    }),
    ...paperLookups({
      folder,
      http,
      contextFor: contextsWith(config, env, http),
      clock: systemClock,
      signal,
      lookups: config.lookups,
      anew: receiver !== undefined,
    }),
  };
}

const ownFiles: OwnFiles = {
  state: rrdName,
  inProject: committedFiles.names,
  besideProjects: [lessonsName, claudeName, promptName, missionName],
};

/** Receives messages while folders are read. */
interface FolderProgress {
  /** Called once for a folder with a sentence about files that are not read. */
  tell(message: string): void;
  /**
   * Called a few times per second: how many documents of a folder were opened (`done`) and how many are readable
   * (`found`).
   */
  watch(progress: {
    readonly source: string;
    readonly done: number;
    readonly all: number;
    readonly found: number;
  }): void;
}

/** Minimum time between two reports about one folder, in milliseconds. */
const progressIntervalMs = 200;

/** The path of a source `folder:<path>`, as it is written. */
const nameOf = (source: string): string => source.slice("folder:".length).trim();

const folderOf = (source: string, root: string): string => resolve(root, nameOf(source));

/** The sources that need no network: the packaged samples and the user's folders. Each document is read once. */
export function localSources(
  project: string,
  root: string,
  signal: AbortSignal,
  { tell, watch }: FolderProgress = { tell: () => undefined, watch: () => undefined },
): Pick<Sources, "serves" | "candidates" | "lists"> {
  const reportedFolders = new Set<string>();
  const listings: ListingCache["documents"] = new Map();
  const cacheWithProgress = (source: string): ListingCache => {
    let lastReport = systemClock.now();
    const report = (done: number, all: number, found: number) => {
      if (systemClock.now() - lastReport < progressIntervalMs) return;
      lastReport = systemClock.now();
      watch({ source, done, all, found });
    };
    return { documents: listings, watch: report };
  };
  return {
    serves: (source) => source === "samples" || isOwnFolder(source),
    candidates: async (source) => {
      if (source === "samples") return listSamples(signal);
      const documents = await listFolder(
        folderOf(source, root),
        signal,
        { ...ownFiles, project },
        cacheWithProgress(source),
      );
      return documents.map((document) => ({ ...document, source }));
    },
    lists: async (source) => {
      if (source === "samples") return [];
      const folder = folderOf(source, root);
      const contents = await contentsOf(folder, ownFiles);
      if (contents.documents.length + contents.lists.length === 0)
        throw new ExpectedError(noPapersSentence(folder, contents));
      const notice = unreadSentence(nameOf(source), folder, contents);
      if (notice !== undefined && !reportedFolders.has(folder)) tell(notice);
      reportedFolders.add(folder);
      return contents.lists.map((path) => listSourceName(root, path));
    },
  };
}

/** The number of records in the user's folders and lists, and the size of their texts. */
interface UserRecords {
  readonly records: number;
  /** Mean tokens of their texts. A record of a list, whose text is not available, counts as a typical paper. */
  readonly textTokens: number;
  /** A sentence for each folder with files that are not read. */
  readonly unread: readonly string[];
}

/**
 * The records in the folders and lists of a project; undefined if a service is searched too, or if one of them can't be
 * read.
 */
export async function userRecordsOf({ requirements }: Rrd, root: string): Promise<UserRecords | undefined> {
  const { sources = [], columns } = requirements;
  if (sources.length === 0) return undefined;
  const paths: string[] = [];
  const unread: string[] = [];
  let listedCount = 0;
  const addList = async (path: string) => void (listedCount += (await readRecords(path, columns)).entries.length);
  try {
    for (const source of sources)
      if (isOwnFolder(source)) {
        const folder = folderOf(source, root);
        const contents = await contentsOf(folder, ownFiles);
        paths.push(...contents.documents);
        const sentence = unreadSentence(nameOf(source), folder, contents);
        if (sentence !== undefined) unread.push(sentence);
        for (const list of contents.lists) await addList(list);
      } else {
        const list = ownListIn(source);
        if (list === undefined || webAddressFrom(list.place) !== undefined) return undefined;
        await addList(resolve(root, list.place));
      }
    const sizes = await Promise.all(paths.map(textTokensOf));
    const records = paths.length + listedCount;
    const tokens = sizes.reduce((sum, size) => sum + size, listedCount * medianPaperTokens);
    return { records, textTokens: records === 0 ? 0 : tokens / records, unread };
  } catch {
    return undefined;
  }
}

/**
 * Estimates the tokens of a document from the size of its file. A file with pictures or markup counts at most as a
 * typical paper.
 */
async function textTokensOf(path: string): Promise<number> {
  const tokens = (await stat(path)).size / bytesPerToken;
  return /\.(md|txt)$/i.test(path) ? tokens : Math.min(tokens, medianPaperTokens);
}

/** The name of a list file as a source. It contains a separator, so an equals sign in it does not name a database. */
function listSourceName(root: string, path: string): string {
  const name = relative(root, path);
  return name.includes(sep) ? name : `.${sep}${name}`;
}
