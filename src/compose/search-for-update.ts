import type { ResolvedConfig } from "./config.js";
import { libraryFor } from "./library.js";
import { httpFor } from "../research/sources/network.js";
import type { QueryLine } from "../engine/generated/query.js";
import type { Tell } from "../engine/loop/types.js";
import { systemClock } from "../engine/lib/clock.js";
import { oneLine } from "../engine/lib/sanitise.js";
import { quantity } from "../engine/lib/words.js";
import { rootOf } from "../research/workflow/brief/prompt-file.js";
import type { Io } from "../engine/ui/io.js";
import { candidatesFile, documentsFolder, textsFolder } from "../research/project-files/layout.js";
import { addressStamp } from "../research/full-text/find-text.js";
import { lastCachedText, saveText } from "../research/full-text/text-cache.js";
import { paperLookups } from "../research/paper-lookups/paper-lookups.js";
import { type SearchRecord, writeSearchRecord } from "../research/search/search-record.js";
import { contextsWith } from "../research/sources/source-settings.js";
import type { Rrd } from "../research/generated/rrd.js";
import type { UpdateFindings, UpdateSources } from "../research/update/new-and-changed.js";

/** A search in a project's sources that changes no file in git. */
export interface UpdateSearch {
  readonly sources: UpdateSources;
  /** The requests to the sources, for the log. */
  readonly requests: readonly QueryLine[];
  /**
   * Saves the results for the update that is about to be opened with the state `opened`. If the process is killed
   * before that, the next update searches again.
   */
  keep(opened: Rrd, findings: UpdateFindings): Promise<void>;
}

/** Minimum time for the checks of all papers, and the time for one paper, in milliseconds. */
const minCheckMs = 3 * 60_000;
const checkMs = 5_000;

/**
 * Opens a search in a project's sources for an update. Aborting `signal` ends every request. `reportProgress`: called
 * with the progress and a label of the current request.
 */
export function openUpdateSearch(
  folder: string,
  config: ResolvedConfig,
  io: Io,
  signal: AbortSignal,
  reportProgress: (done: number, all: number, label: string) => void = () => undefined,
): UpdateSearch {
  const lines: QueryLine[] = [];
  let search: SearchRecord | undefined;
  const tell: Tell = async (event) => {
    if (event.type === "searching") reportProgress(event.done, event.all, `Asking ${oneLine(event.source)}:`);
  };
  const library = libraryFor(folder, rootOf(folder, io.cwd), config, io.env, signal, tell, {
    record: async (line) => void lines.push(line),
    search: (found) => (search = found),
  });
  const http = httpFor(config, signal, { cacheDir: documentsFolder(folder), freshMs: 0 });
  const currentLookups = paperLookups({
    folder,
    http,
    contextFor: contextsWith(config, io.env, http),
    clock: systemClock,
    signal,
  });
  return {
    sources: {
      sources: library,
      searchRecord: () => search,
      updates: (papers) => {
        reportProgress(0, 0, `Looking for corrections of ${quantity(papers.length, "paper")}:`);
        return library.updates(papers, Math.max(minCheckMs, papers.length * checkMs));
      },
      // Uses its own lookups: today's texts must not replace the saved ones that were read.
      currentText: (paper) => {
        reportProgress(0, 0, "Comparing texts:");
        return currentLookups.textNow(paper);
      },
      readText: (paper) => lastCachedText(textsFolder(folder), paper.id),
    },
    requests: lines,
    async keep(opened, findings) {
      if (search !== undefined) await writeSearchRecord(candidatesFile(folder), search);
      for (const { id, text } of findings.changed) {
        const paper = opened.papers_pool.find((candidate) => candidate.id === id);
        if (paper !== undefined && text !== undefined)
          await saveText(textsFolder(folder), id, text, addressStamp(paper));
      }
    },
  };
}
