import { mkdtemp, realpath, rm } from "node:fs/promises";
import { join } from "node:path";
import { drive } from "../../compose/drive.js";
import { openProject } from "../../compose/open-project.js";
import { httpFor } from "../../compose/library.js";
import { type ConfigFlags, resolveConfig } from "../../engine/config/resolve.js";
import { ExpectedError } from "../../engine/lib/errors.js";
import { keptFacts } from "../../research/papers/paper-record.js";
import { describeReference } from "../../research/full-text/describe-reference.js";
import { contextOf } from "../../research/sources/source-settings.js";
import type { ContextFor } from "../../research/sources/client/source.js";
import { parseReference } from "../../research/papers/reference.js";
import { writeFileAtomic } from "../../engine/storage/atomic-file.js";
import { recordElsewhere } from "../../research/folder/logs/spending-log.js";
import { readLedger } from "../../engine/storage/records/ledger.js";
import { readResearch } from "../../research/folder/research.js";
import { formatRrd } from "../../research/folder/rrd-file.js";
import { explaining } from "../../engine/storage/explain-system-error.js";
import type { Io } from "../../engine/ui/io.js";
import { readingWorkflow, rrdForOne } from "../../research/workflow/single-paper.js";
import { readingLines, readingOf } from "./reading-report.js";
import { makeFolder } from "../../engine/storage/regular-file.js";
import { exitCodeOf } from "../../engine/ui/sink.js";
import { documentsFolder, rrdFile, textsFolder } from "../../research/folder/layout.js";

interface ReadArguments {
  readonly reference: string;
  readonly flags: ConfigFlags;
  readonly quiet: boolean;
  readonly json: boolean;
}

/** Reads one paper with the agent and shows what it says, each claim with its quote and whether code found it. Keeps nothing. */
export async function readCommand({ reference: input, flags, quiet, json }: ReadArguments, io: Io): Promise<number> {
  const named = parseReference(input, io.cwd);
  if (named.kind === "unknown") throw new ExpectedError(named.reason, 2);
  // A link is followed where a person has typed it, and nowhere else.
  const reference =
    named.kind === "file" ? { ...named, path: await realpath(named.path).catch(() => named.path) } : named;
  const config = await resolveConfig({ flags: { ...flags, git: false }, env: io.env, cwd: io.cwd });
  const folder = await explaining(config.stateDir, async () => {
    makeFolder(config.stateDir);
    return mkdtemp(join(config.stateDir, "read-"));
  });
  try {
    const verdict = await drive(config, io, { json, quiet, iterations: 3, folder }, async (run) => {
      const { ending: signal } = run;
      // Anyone who types an address may mean a server of their own; what it redirects to is none of their typing.
      const http = httpFor(config, signal, {
        cacheDir: documentsFolder(folder),
        typed: reference.kind === "url" ? [reference.url] : [],
      });
      const { sources, contact } = config;
      const asking = { config: sources, env: io.env, http, contact };
      const contextFor: ContextFor = (source) => contextOf(source, asking);
      const described = await describeReference(reference, {
        cacheDir: textsFolder(folder),
        signal,
        http,
        contextFor,
        copies: [],
      });
      if (described.status !== "ok")
        throw new ExpectedError(
          described.reason,
          described.status === "blocked" || described.status === "rate_limited" ? 5 : 1,
        );
      // Of a paper on this machine nothing is looked up outside.
      const isLocal = reference.kind === "file" || reference.kind === "sample";
      const rrd = rrdForOne(keptFacts(described.paper), [isLocal ? "samples" : "web"]);
      await writeFileAtomic(rrdFile(folder), formatRrd(rrd));
      return readingWorkflow(await openProject(folder, config, io, run));
    });
    if (verdict.verdict === "complete") {
      const { rrd, ledger } = await readResearch(folder);
      const reading = readingOf(rrd, ledger);
      io.stdout(
        json ? `${JSON.stringify({ type: "reading", ...reading })}\n` : `${readingLines(reading, io).join("\n")}\n`,
      );
    }
    return exitCodeOf(verdict);
  } finally {
    const { lines } = await readLedger(folder).catch(() => ({ lines: [] }));
    await recordElsewhere(config.stateDir, "read", lines);
    await rm(folder, { recursive: true, force: true });
  }
}
