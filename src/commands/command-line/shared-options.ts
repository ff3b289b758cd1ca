import { type Command, InvalidArgumentError } from "commander";
import type { ProjectOptions } from "../run/new.js";
import type { CommonOptions } from "./command.js";

/** Adds the options that `task` and `code` have in common. */
export const withTaskOptions = (command: Command): Command =>
  command
    .option("--goal <file>", "read the task, in words, from this file")
    .option("--check <command>", "a command that must succeed; again for more", appendValue)
    .option("--tests", "the project's tests must pass")
    .option("--test-command <command>", "the command that runs them")
    .option("--target <file>", "the file that it is about: a team begins to look there")
    .option("--keep-tests", "keep the tests of a team's adversary in the project")
    .option("--dry-run", "only check the criteria: exit code 0 or 1")
    .option(
      "--undo <N>",
      "put the files back to how they were after iteration N; 0: before the first",
      parseWholeNumber,
    )
    .option("--branch [name]", "work on a new branch")
    .option("--worktree", "work in a new worktree on a new branch; your files stay as they are")
    .option("--force", "continue after the verdict stuck");

/** Options of a new project, by commander's names. */
export type TopicOptions = Omit<
  ProjectOptions,
  "sources" | "columns" | "keywords" | "criteria" | "fields" | "seeds" | "ideas"
> & {
  source?: string[];
  column?: string[];
  keyword?: string[];
  criterion?: string[];
  field?: string[];
  seed?: string[];
};

/** The options of a new project, by the names that its commands use. */
export function projectOptionsOf(options: TopicOptions): ProjectOptions {
  const { source: sources, column: columns, keyword: keywords, criterion: criteria, seed: seeds } = options;
  const { field: fields, from, until, name, recall, confidence, rubric, branch } = options;
  return { sources, columns, keywords, criteria, fields, seeds, from, until, name, recall, confidence, rubric, branch };
}

/** Adds the options of a new project. */
export const withTopicOptions = (command: Command): Command =>
  command
    .optionsGroup("What the project is about:")
    .option("-p, --papers <N>", "number of papers in the pool", parseNumber)
    .option(
      "--source <names>",
      "where to search: arxiv, openalex, semanticscholar, pubmed, europepmc, crossref, hackernews, web, folder:papers, Embase=embase.ris (default: arxiv, openalex, semanticscholar, web)",
      appendNames,
    )
    .option(...columnOption)
    .option("--name <words>", "name of the project and its folder (default: the agent's or the topic's words)")
    .option(
      "--keyword <words>",
      "search for these words instead of the question's; the agent may add others; again for more",
      appendNames,
    )
    .option("--criterion <rule>", "eligibility criterion, 'include: …' or 'exclude: …'; again for more", appendValue)
    .option(
      "--rubric <which>",
      "points for papers: original, none, or a rubric in YAML (default: none; of new: original, unless there are criteria or all papers are yours)",
    )
    .option(
      "--field <what>",
      "extract this from each paper, 'sample size: how many, per arm', or a form in YAML; again for more",
      appendValue,
    )
    .option(
      "--seed <paper>",
      "paper that surely belongs: DOI, arXiv id, PDF, or a list of works; again for more",
      appendValue,
    )
    .option("--from <date>", "earliest date of publication: 2024, 2024-06 or 2024-06-30")
    .option("--until <date>", "latest date of publication")
    .option("--recall <share>", "screen until this share of the relevant records is found: 0.95", parseShare)
    .option("--confidence <share>", "how sure --recall has to be, at least 0.5 (default: 0.95)", parseShare)
    .option(...branchOption);

/** Adds the options that limit the time, cost and tokens of one run. */
export const withLimitOptions = (command: Command): Command =>
  command
    .optionsGroup("Limits:")
    .option("--max-minutes <N>", "maximum wall time of this run, in minutes", parseNumber)
    .option("--max-usd <N>", "maximum cost of this run, in US dollars", parseNumber)
    .option("--max-tokens <N>", "maximum tokens of this run, in and out", parseNumber);

export const branchOption = [
  "--branch [name]",
  "commit to this branch, which is not checked out for it (default: research/<name of the project>)",
] as const;

/** The option of commands that read tables. The value is not split, because a header may contain commas. */
export const columnOption = [
  "--column <field=header>",
  "what a column of a CSV file holds: title=Name, year=When; again for more",
  appendValue,
] as const;

/** The option of commands that read papers and may go on without their texts. */
export const abstractsOption = [
  "--abstracts",
  "read by its abstract a paper whose full text can't be had now; one without an abstract counts as not retrieved",
] as const;

export const secondReaderOption = [
  "--second-reader <agent>",
  "an agent that fills in the form too, alone: codex",
] as const;

export const trustOption = ["--trust", "trust what settings of this folder start and open, as they stand"] as const;

/** The heading of the options of every command that starts an agent. */
export const everyRunHeading = "Options of every run:";

/** Adds the options of every command that starts an agent, after its own options. */
export const withRunOptions = (command: Command): Command =>
  command
    .optionsGroup(everyRunHeading)
    .option(
      "--agent <name>",
      "claude, codex, amp, ralph, baseline, acp:<name>, 'cmd:<command>' or a name from the configuration; 'claude,codex': codex is the fallback; fleet:claude: claude on other machines",
    )
    .option("--model <name>", "model of the agent")
    .option(
      "--sandbox <kind>",
      "where agents run: auto, host, bubblewrap or docker (default: agents without confinement of their own in a sandbox)",
    )
    .option("--env <name>", "environment variable that programs in a sandbox are given; again for more", joinValue)
    .option("--unconfined", "allow an agent that nothing confines (amp, command agents) on the host")
    .option("--redis <address>", "Redis server of agents on other machines (fleet:claude): rediss://queue.lab:6379")
    .option("--insecure-redis", "allow Redis on another machine without TLS")
    .option("--iteration-minutes <N>", "maximum wall time of one iteration (default: 60)", parseNumber)
    .option("--idle-minutes <N>", "kill an agent after N minutes without output; 0: never (default: 15)", parseNumber)
    .option("--patience <N>", "minutes to wait for a service that does not answer (default: 120)", parseNumber)
    .option(...trustOption)
    .option("--otel", "send traces by OTLP over HTTP, where OTEL_EXPORTER_OTLP_ENDPOINT says")
    .option("--no-git", "do not commit")
    .option("-q, --quiet", "print only warnings and results")
    .option("--verbose", "show each summary of the history too");

/** Only the common options. */
export const commonOf = ({ flags, quiet, verbose, json }: CommonOptions): CommonOptions => ({
  flags,
  quiet,
  verbose,
  json,
});

export function parseNumber(value: string): number {
  const parsed = Number(value);
  if (value.trim() === "" || !Number.isFinite(parsed)) throw new InvalidArgumentError("It must be a number.");
  return parsed;
}

/** Parses a share: a number above 0 and up to 1, or a percentage. */
function parseShare(value: string): number {
  const parsed = value.trim().endsWith("%") ? parseNumber(value.trim().slice(0, -1)) / 100 : parseNumber(value);
  if (parsed <= 0 || parsed > 1) throw new InvalidArgumentError("It must be a share, such as 0.95 or 95%.");
  return parsed;
}

/** For an option that may be given several times: collects the values, which may contain commas. */
export function appendValue(value: string, earlier: string[] = []): string[] {
  return [...earlier, value];
}

/** For an option that may be given several times: joins the values with commas. */
export const joinValue = (value: string, earlier?: string): string =>
  earlier === undefined ? value : `${earlier},${value}`;

/** For an option that may be given several times: collects the names, which are separated by commas. */
export const appendNames = (value: string, earlier: string[] = []): string[] => [...earlier, ...value.split(",")];

export function parseWholeNumber(value: string): number {
  if (!/^\d+$/.test(value)) throw new InvalidArgumentError("It must be a whole number.");
  return Number(value);
}
