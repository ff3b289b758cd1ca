import type { ResolvedConfig } from "./config.js";
import { libraryFor } from "./library.js";
import { httpFor } from "../research/sources/network.js";
import type { QueryLine } from "../engine/generated/query.js";
import type { Tell } from "../engine/loop/types.js";
import { systemClock } from "../engine/lib/clock.js";
import { oneLine } from "../engine/lib/sanitise.js";
import { many } from "../engine/lib/words.js";
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

/** A project's sources, asked without a trace that git sees. */
export interface Asking {
  readonly outside: UpdateSources;
  /** What was asked of them, for the log. */
  readonly questions: readonly QueryLine[];
  /**
   * Keeps what they said, for the work on an update that is about to be opened as `opened`. A kill before it is opened
   * costs nothing: the next update asks anew.
   */
  keep(opened: Rrd, came: UpdateFindings): Promise<void>;
}

/** Nobody waits for an update that cron began, so every paper has the time of some requests. */
const minCheckMs = 3 * 60_000;
const checkMs = 5_000;

/**
 * Opens the way to a project's sources for an update. `signal`: ends every request. `step`: told what is asked, and how
 * far that is.
 */
export function openAsking(
  folder: string,
  config: ResolvedConfig,
  io: Io,
  signal: AbortSignal,
  step: (done: number, all: number, label: string) => void = () => undefined,
): Asking {
  const lines: QueryLine[] = [];
  let search: SearchRecord | undefined;
  const tell: Tell = async (event) => {
    if (event.type === "searching") step(event.done, event.all, `Asking ${oneLine(event.source)}:`);
  };
  const library = libraryFor(folder, rootOf(folder, io.cwd), config, io.env, signal, tell, {
    record: async (line) => void lines.push(line),
    search: (kept) => (search = kept),
  });
  const http = httpFor(config, signal, { cacheDir: documentsFolder(folder), freshMs: 0 });
  const today = paperLookups({
    folder,
    http,
    contextFor: contextsWith(config, io.env, http),
    clock: systemClock,
    signal,
  });
  return {
    outside: {
      sources: library,
      kept: () => search,
      updates: (papers) => {
        step(0, 0, `Looking for corrections of ${many(papers.length, "paper")}:`);
        return library.updates(papers, Math.max(minCheckMs, papers.length * checkMs));
      },
      // Texts as they are today must not take the place of those that were read.
      textNow: (paper) => {
        step(0, 0, "Comparing texts:");
        return today.textNow(paper);
      },
      textThen: (paper) => lastCachedText(textsFolder(folder), paper.id),
    },
    questions: lines,
    async keep(opened, came) {
      if (search !== undefined) await writeSearchRecord(candidatesFile(folder), search);
      for (const { id, text } of came.changed) {
        const paper = opened.papers_pool.find((each) => each.id === id);
        if (paper !== undefined && text !== undefined)
          await saveText(textsFolder(folder), id, text, addressStamp(paper));
      }
    },
  };
}
