import { claudeName, lessonsName, missionName } from "../engine/lib/layout.js";
import { relative, resolve, sep } from "node:path";
import type { ResolvedConfig } from "./config.js";
import { systemClock } from "../engine/lib/clock.js";
import { httpFor } from "../research/sources/network.js";
import { ExpectedError } from "../engine/lib/errors.js";
import { contentsOf, neitherSentence, noPapersSentence, type OwnFiles } from "../research/full-text/folder-contents.js";
import { listFolder, listSamples, type ListingCache } from "../research/full-text/local-folder.js";
import { paperLookups } from "../research/paper-lookups/paper-lookups.js";
import { replaysOf } from "../research/search/replay-sources.js";
import { contextsWith } from "../research/sources/source-settings.js";
import { ofSearch, queryRecorder, readQueries } from "../research/project-files/logs/query-log.js";
import type { Sources } from "../research/screening/paper-sources.js";
import { scholarly } from "../research/units/screening/search-session.js";
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
import { webAddress } from "../engine/lib/json-fields.js";

/**
 * Takes what a search would write: questions for the log, and what it has found. Services are then asked for what they
 * say now, whatever is kept of their answers of today.
 */
export interface Held {
  readonly record: (line: QueryLine) => Promise<void>;
  readonly search: (kept: SearchRecord) => void;
}

/**
 * Where papers come from: folders of the user's, the packaged samples, and the services that know of everything an
 * agent found.
 */
export function libraryFor(
  folder: string,
  root: string,
  config: Pick<ResolvedConfig, "sources" | "stateDir" | "contact" | "patienceMs">,
  env: NodeJS.ProcessEnv,
  signal: AbortSignal,
  tell: Tell = async () => undefined,
  held?: Held,
): Library {
  const cacheDir = answersFolder(folder);
  // Documents by themselves: some hundred PDFs would push out the answers that a search is replayed from.
  const anew = held === undefined ? {} : { freshMs: 0 };
  const http = httpFor(config, signal, { cacheDir: documentsFolder(folder), ...anew });
  // Only what a search asks goes into the log that it is replayed from.
  const logged = httpFor(config, signal, { cacheDir, record: held?.record ?? queryRecorder(folder), ...anew });
  return {
    ...localSources(folder, root, signal, {
      tell: (message) => void tell({ type: "notice", level: "info", message }),
      watch: (progress) => void tell({ type: "searching", round: 1, ...progress }),
    }),
    ...scholarly({
      folder,
      root,
      contextFor: contextsWith(config, env, logged),
      replay: async () =>
        replaysOf(ofSearch((await readQueries(folder)).lines), { cacheDir, config: config.sources, root }),
      now: systemClock.now,
      sleeps: systemClock.sleeps,
      patienceMs: config.patienceMs,
      signal,
      hold: held?.search,
      tell: (message) => void tell({ type: "notice", level: "info", message }),
      watch: (progress) => void tell({ type: "searching", ...progress }),
    }),
    ...paperLookups({
      folder,
      http,
      contextFor: contextsWith(config, env, http),
      clock: systemClock,
      signal,
      anew: held !== undefined,
    }),
  };
}

const ownFiles: OwnFiles = {
  state: rrdName,
  inProject: committedFiles.names,
  besideProjects: [lessonsName, claudeName, promptName, missionName],
};

/** What a person hears of while folders are looked through. */
interface Heard {
  /** Told once of each folder what in it is neither a paper nor a list of works. */
  tell(message: string): void;
  /** How many documents of a folder are looked at, and how many can be read; a few times a second at most. */
  watch(progress: {
    readonly source: string;
    readonly done: number;
    readonly all: number;
    readonly found: number;
  }): void;
}

/** Between two figures of one folder, in milliseconds. */
const betweenFigures = 200;

/** The sources that need no network: the packaged samples and folders of the user's. A document is read once. */
export function localSources(
  project: string,
  root: string,
  signal: AbortSignal,
  { tell, watch }: Heard = { tell: () => undefined, watch: () => undefined },
): Pick<Sources, "serves" | "candidates" | "lists"> {
  const told = new Set<string>();
  const kept: ListingCache["kept"] = new Map();
  const watching = (source: string): ListingCache => {
    let last = systemClock.now();
    const watched = (done: number, all: number, found: number) => {
      if (systemClock.now() - last < betweenFigures) return;
      last = systemClock.now();
      watch({ source, done, all, found });
    };
    return { kept, watch: watched };
  };
  const folderOf = (source: string) => resolve(root, source.slice("folder:".length).trim());
  return {
    serves: (source) => source === "samples" || isOwnFolder(source),
    candidates: async (source) => {
      if (source === "samples") return listSamples(signal);
      const documents = await listFolder(folderOf(source), signal, { ...ownFiles, project }, watching(source));
      return documents.map((document) => ({ ...document, source }));
    },
    lists: async (source) => {
      if (source === "samples") return [];
      const folder = folderOf(source);
      const contents = await contentsOf(folder, ownFiles);
      if (contents.documents.length + contents.lists.length === 0)
        throw new ExpectedError(noPapersSentence(folder, contents));
      const neither = neitherSentence(folder, contents);
      if (neither !== undefined && !told.has(folder)) tell(neither);
      told.add(folder);
      return contents.lists.map((path) => nameOfList(root, path));
    },
  };
}

/**
 * How many records the folders and lists of a project hold; undefined if a service is searched too, or one of them
 * can't be read.
 */
export async function countBrought({ requirements }: Rrd, root: string): Promise<number | undefined> {
  const { sources = [], columns } = requirements;
  if (sources.length === 0) return undefined;
  let records = 0;
  for (const source of sources)
    try {
      if (isOwnFolder(source)) {
        const folder = resolve(root, source.slice("folder:".length).trim());
        const { documents, lists } = await contentsOf(folder, ownFiles);
        records += documents.length;
        for (const list of lists) records += (await readRecords(list, columns)).entries.length;
      } else {
        const list = ownListIn(source);
        if (list === undefined || webAddress(list.place) !== undefined) return undefined;
        records += (await readRecords(resolve(root, list.place), columns)).entries.length;
      }
    } catch {
      return undefined;
    }
  return records;
}

/** A list in a folder as a source: behind a slash, an equals sign names no database. */
function nameOfList(root: string, path: string): string {
  const name = relative(root, path);
  return name.includes(sep) ? name : `.${sep}${name}`;
}
