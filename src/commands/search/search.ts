import { authorsText } from "../../research/papers/authors.js";
import { httpFor } from "../../research/sources/network.js";
import { type ConfigFlags, configToRead } from "../../compose/config.js";
import { ExpectedError } from "../../engine/lib/errors.js";
import type { Listing, Open } from "../../research/search/result-list.js";
import { parseColumns } from "../../research/papers/records/csv.js";
import { storedFields, sourcesOf } from "../../research/papers/paper-record.js";
import { type MergeDecisions, mergeDecisions, mergeSentences } from "../../research/search/candidates.js";
import { searchOnce, type RankedWork } from "../../research/screening/screening-order.js";
import { sourcesFor, usualServices } from "../../research/sources/registry.js";
import type { Source } from "../../research/sources/shared/source.js";
import { contextsWith } from "../../research/sources/source-settings.js";
import type { Io } from "../../engine/ui/io.js";
import { oneLine, withoutSourcePrefix } from "../../engine/lib/sanitise.js";
import { listenForSignals } from "../../engine/ui/signals.js";
import { bibliographyOf } from "../../research/papers/export/bibtex.js";
import { datesOf, namedSources } from "../run/typed-sources.js";
import { exitCodeOf } from "../../engine/loop/exit-codes.js";
import { createColors } from "picocolors";
import { lineBreaker, say } from "../../engine/ui/terminal/format.js";
import { sharedAnswersFolder } from "../../research/project-files/layout.js";

export interface SearchArguments {
  readonly query: string;
  /** Names of sources, separated by commas; absent: the usual services that can be searched. */
  readonly source?: string;
  /** The columns of a CSV file with other headers, each as "title=Name". */
  readonly columns?: readonly string[];
  /** The first and last publication date: YYYY, YYYY-MM or YYYY-MM-DD. */
  readonly from?: string;
  readonly until?: string;
  /** Maximum number of works. */
  readonly limit: number;
  /** True if the text explains the order and the merging of records; JSON always does. */
  readonly explain: boolean;
  readonly flags?: ConfigFlags;
  readonly output: "text" | "json" | "bibtex";
}

const maxLimit = 200;

/** Searches scholarly services for papers and shows the results, one entry for each work, best first. */
export async function searchCommand(
  { query, source, columns, from, until, limit, output, explain, flags }: SearchArguments,
  io: Io,
): Promise<number> {
  if (query.trim() === "")
    throw new ExpectedError('Say what to search for: research-ralph search "sim2real transfer".', 2);
  if (limit < 1 || limit > maxLimit) throw new ExpectedError(`--limit must be 1 to ${maxLimit}.`, 2);
  const queryOptions = { ...datesOf(from, until), columns: columns && parseColumns(columns) };
  const config = await configToRead({ ...io, sayOfPlugins: (sentence) => say(io, sentence) }, flags, ["sources"]);
  const sources =
    source === undefined ? usualServices().filter(({ search }) => search !== undefined) : sourcesNamed(source, io);

  const signals = listenForSignals(io);
  try {
    const http = httpFor(config, AbortSignal.any([signals.finish, signals.abort]), {
      cacheDir: sharedAnswersFolder(config.stateDir),
    });
    const contextFor = contextsWith(config, io.env, http);
    const openSource: Open = (name) => {
      const source = sources.find((other) => other.name === name);
      if (source === undefined) throw new Error(`${name} was not asked for`);
      const context = contextFor(source);
      return "unavailable" in context ? context : { source, context };
    };
    const names = sources.map(({ name }) => name);
    const reportListing = (listing: Listing) => say(io, progressText(listing));
    const { listings, candidates, ranked } = await searchOnce(
      { terms: query, ...queryOptions, most: limit },
      names,
      openSource,
      io.clock.now(),
      reportListing,
    );
    if (signals.finish.aborted)
      return exitCodeOf({ verdict: "interrupted", reason: "", signal: signals.finish.reason });

    const decisionsFor = mergeDecisions(candidates);
    const works = ranked.slice(0, limit).map((work) => ({ ...work, ...decisionsFor(work) }));
    io.stdout(outputOf(output, works, query, listings, explain, io));
    const hasAnswer = listings.some(({ status }) => status === "ok" || status === "empty");
    if (!hasAnswer) say(io, "No source could be asked.");
    else if (works.length === 0) say(io, "Nothing was found; try fewer or other words.");
    return hasAnswer ? 0 : 5;
  } finally {
    signals.stop();
  }
}

/** The services with these names. A service that programs may not use is replaced by another one. */
function sourcesNamed(text: string, io: Io): Source[] {
  const { names: sourceNames, notices } = namedSources(text.split(","), io.cwd);
  for (const sentence of notices) say(io, sentence);
  const sources = sourceNames.flatMap((name) => {
    const services = sourcesFor(name, io.cwd);
    if (services.length === 0) throw new ExpectedError(`'${name}' is not a service that can be searched.`, 2);
    return services;
  });
  return sources.filter(({ name }, index) => sources.findIndex((other) => other.name === name) === index);
}

/** The result of a source in one line. */
function progressText({ source, asked, status, reason, records }: Listing): string {
  if (status === "ok")
    return oneLine(
      `${source}: ${records.length} ${records.length === 1 ? "work" : "works"}${reason === undefined ? "" : ` (${reason})`}`,
    );
  if (status === "empty") return `${source}: nothing`;
  return oneLine(
    `${source} ${asked === "" ? "was not asked" : "failed"}: ${withoutSourcePrefix(source, reason ?? status)}`,
  );
}

type ExplainedWork = RankedWork & MergeDecisions;

/** The results in the format of `output`. */
function outputOf(
  output: SearchArguments["output"],
  works: readonly ExplainedWork[],
  query: string,
  listings: readonly Listing[],
  explain: boolean,
  io: Io,
): string {
  if (output === "bibtex") return bibliographyOf(works.map(({ record }) => storedFields(record)));
  if (output === "text")
    return resultLines(works, explain, io)
      .map((line) => `${line}\n`)
      .join("");
  const results = works.map(({ record, provenance, priority, why, merged, apart }) => ({
    ...record,
    sources: sourcesOf(provenance),
    priority,
    why,
    merged,
    apart,
  }));
  const sources = listings.map(({ source, status, reason, records }) => ({
    source,
    status,
    reason,
    results: records.length,
  }));
  return `${JSON.stringify({ query, sources, results }, null, 2)}\n`;
}

const maxAuthors = 4;
const maxWidth = 100;

/** The results for people: title, authors, date, sources and address. */
function resultLines(works: readonly ExplainedWork[], explain: boolean, io: Pick<Io, "color" | "columns">): string[] {
  const colors = createColors(io.color);
  const indent = " ".repeat(String(works.length).length + 2);
  const toLines = lineBreaker(Math.min(io.columns, maxWidth));
  const indentedLines = (text: string) => toLines(text, indent);
  return works.flatMap((work, index) => {
    const { record, provenance } = work;
    const [first = "", ...rest] = indentedLines(record.title).map((line, row) =>
      row === 0 ? `${index + 1}.`.padEnd(indent.length) + line.trimStart() : line,
    );
    const { authors, date, venue, citations, retracted } = record;
    const authorText = authorsText(authors, maxAuthors);
    const citationText =
      citations === undefined ? undefined : `cited ${citations.count} ${citations.count === 1 ? "time" : "times"}`;
    const details = [authorText, date, venue, citationText, sourcesOf(provenance).join(" + ")];
    return [
      ...(index === 0 ? [] : [""]),
      colors.bold(first),
      ...rest.map(colors.bold),
      ...(retracted === true ? [colors.red(`${indent}RETRACTED`)] : []),
      ...indentedLines(details.filter((part) => typeof part === "string" && part !== "").join(" · ")),
      ...indentedLines(record.url).map(colors.dim),
      ...(explain ? explanationsOf(work).flatMap(indentedLines) : []),
    ];
  });
}

const explanationsOf = (work: ExplainedWork): string[] => [
  `priority ${work.priority}: ${work.why}`,
  ...mergeSentences(work.record, work),
];
