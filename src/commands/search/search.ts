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
import { say, wrap } from "../../engine/ui/terminal/format.js";
import { sharedAnswersFolder } from "../../research/project-files/layout.js";

export interface SearchArguments {
  readonly query: string;
  /** Names of sources with commas between them; undefined: all that can be asked. */
  readonly source?: string;
  /** Columns of lists that have headers of their own, each "title=Name". */
  readonly columns?: readonly string[];
  /** YYYY, YYYY-MM or YYYY-MM-DD. */
  readonly from?: string;
  readonly until?: string;
  /** Most works shown. */
  readonly limit: number;
  /** Whether text also says what the order and the merging of records rest on; JSON always does. */
  readonly explain: boolean;
  readonly flags?: ConfigFlags;
  readonly output: "text" | "json" | "bibtex";
}

const maxLimit = 200;

/** Asks scholarly services for papers and shows what they found, one entry a work, the best first. */
export async function searchCommand(
  { query, source, columns, from, until, limit, output, explain, flags }: SearchArguments,
  io: Io,
): Promise<number> {
  if (query.trim() === "")
    throw new ExpectedError('Say what to search for: research-ralph search "sim2real transfer".', 2);
  if (limit < 1 || limit > maxLimit) throw new ExpectedError(`--limit must be 1 to ${maxLimit}.`, 2);
  const days = { ...datesOf(from, until), columns: columns && parseColumns(columns) };
  const config = await configToRead({ ...io, sayOfPlugins: (sentence) => say(io, sentence) }, flags, ["sources"]);
  const sources =
    source === undefined ? usualServices().filter(({ search }) => search !== undefined) : askedSources(source, io);

  const signals = listenForSignals(io);
  try {
    const http = httpFor(config, AbortSignal.any([signals.finish, signals.abort]), {
      cacheDir: sharedAnswersFolder(config.stateDir),
    });
    const contextFor = contextsWith(config, io.env, http);
    const open: Open = (name) => {
      const found = sources.find((each) => each.name === name);
      if (found === undefined) throw new Error(`${name} was not asked for`);
      const context = contextFor(found);
      return "unavailable" in context ? context : { source: found, context };
    };
    const names = sources.map(({ name }) => name);
    const said = (listing: Listing) => say(io, progress(listing));
    const { listings, candidates, ranked } = await searchOnce(
      { terms: query, ...days, most: limit },
      names,
      open,
      io.clock.now(),
      said,
    );
    if (signals.finish.aborted)
      return exitCodeOf({ verdict: "interrupted", reason: "", signal: signals.finish.reason });

    const decisionsOn = mergeDecisions(candidates);
    const found = ranked.slice(0, limit).map((work) => ({ ...work, ...decisionsOn(work) }));
    io.stdout(shown(output, found, query, listings, explain, io));
    const answered = listings.some(({ status }) => status === "ok" || status === "empty");
    if (!answered) say(io, "No source could be asked.");
    else if (found.length === 0) say(io, "Nothing was found; try fewer or other words.");
    return answered ? 0 : 5;
  } finally {
    signals.stop();
  }
}

/** The services that these names mean, substitutes in place of those that programs may not ask. */
function askedSources(text: string, io: Io): Source[] {
  const { named, said } = namedSources(text.split(","), io.cwd);
  for (const sentence of said) say(io, sentence);
  const sources = named.flatMap((name) => {
    const found = sourcesFor(name, io.cwd);
    if (found.length === 0) throw new ExpectedError(`'${name}' is not a service that can be searched.`, 2);
    return found;
  });
  return sources.filter(({ name }, index) => sources.findIndex((each) => each.name === name) === index);
}

/** One sentence on how a source did. */
function progress({ source, asked, status, reason, records }: Listing): string {
  if (status === "ok")
    return oneLine(
      `${source}: ${records.length} ${records.length === 1 ? "work" : "works"}${reason === undefined ? "" : ` (${reason})`}`,
    );
  if (status === "empty") return `${source}: nothing`;
  return oneLine(
    `${source} ${asked === "" ? "was not asked" : "failed"}: ${withoutSourcePrefix(source, reason ?? status)}`,
  );
}

type Explained = RankedWork & MergeDecisions;

function shown(
  output: SearchArguments["output"],
  found: readonly Explained[],
  query: string,
  listings: readonly Listing[],
  explain: boolean,
  io: Io,
): string {
  if (output === "bibtex") return bibliographyOf(found.map(({ record }) => storedFields(record)));
  if (output === "text")
    return foundLines(found, explain, io)
      .map((line) => `${line}\n`)
      .join("");
  const results = found.map(({ record, provenance, priority, why, merged, apart }) => ({
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
const widest = 100;

/** What a search found, for people: title, who and when, which sources say so, where to read it. */
function foundLines(found: readonly Explained[], explain: boolean, io: Pick<Io, "color" | "columns">): string[] {
  const colors = createColors(io.color);
  const indent = " ".repeat(String(found.length).length + 2);
  const flow = (text: string) =>
    wrap(oneLine(text), Math.min(io.columns, widest) - indent.length).map((line) => indent + line);
  return found.flatMap((work, index) => {
    const { record, provenance } = work;
    const [first = "", ...rest] = flow(record.title).map((line, row) =>
      row === 0 ? `${index + 1}.`.padEnd(indent.length) + line.trimStart() : line,
    );
    const { authors, date, venue, citations, retracted } = record;
    const who =
      authors.length > maxAuthors ? `${authors.slice(0, maxAuthors).join(", ")} and others` : authors.join(", ");
    const cited =
      citations === undefined ? undefined : `cited ${citations.count} ${citations.count === 1 ? "time" : "times"}`;
    const about = [who, date, venue, cited, sourcesOf(provenance).join(" + ")];
    return [
      ...(index === 0 ? [] : [""]),
      colors.bold(first),
      ...rest.map(colors.bold),
      ...(retracted === true ? [colors.red(`${indent}RETRACTED`)] : []),
      ...flow(about.filter((part) => typeof part === "string" && part !== "").join(" · ")),
      ...flow(record.url).map(colors.dim),
      ...(explain ? explanations(work).flatMap(flow) : []),
    ];
  });
}

const explanations = (work: Explained): string[] => [`priority ${work.priority}: ${work.why}`, ...mergeSentences(work)];
