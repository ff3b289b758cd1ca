import { existsSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { requireAgents, settingsFor, withLastAgent } from "../../compose/agents.js";
import { type ConfigFlags, type ResolvedConfig, resolveConfig } from "../../compose/config.js";
import { experienceOf } from "../../compose/forecast-basis.js";
import { installedAgents } from "../../engine/agents/adapters.js";
import type { AgentCheck } from "../../engine/agents/definition.js";
import { checkAgent, createAgent, isRemote } from "../../engine/agents/registry.js";
import { ExpectedError } from "../../engine/lib/errors.js";
import { withoutUndefined } from "../../engine/lib/without-undefined.js";
import { oneLine, shellWord } from "../../engine/lib/sanitise.js";
import { many } from "../../engine/lib/words.js";
import { exitCodeOf } from "../../engine/loop/exit-codes.js";
import type { Io } from "../../engine/ui/io.js";
import { wrapForTerminal, say } from "../../engine/ui/terminal/format.js";
import { forecastText } from "../../engine/ui/terminal/tally.js";
import { targetOf } from "../../research/derived/status.js";
import type { Rrd } from "../../research/generated/rrd.js";
import { lookupServices } from "../../research/paper-lookups/paper-lookups.js";
import { settingsOf } from "../../research/sources/source-settings.js";
import { listResearches, nameFor } from "../../research/overview/find-research.js";
import { isUserSource, isOwnFolder } from "../../research/papers/records/own-list.js";
import { researchesName } from "../../research/project-files/layout.js";
import { readResearch } from "../../research/project-files/research.js";
import { requirementsOfTopic } from "../../research/search/topic-words.js";
import { forecastOf } from "../../research/workflow/forecast.js";
import { newRrd } from "../../research/workflow/new-research.js";
import { statusOf } from "../../research/workflow/next-unit.js";
import { agreed, askForTopic } from "./ask-person.js";
import { create, defaultSources, typedWishes, type Wishes } from "./new.js";
import { namedSources } from "./typed-sources.js";
import { runCommand, withTarget, work } from "./run.js";

interface BeginArguments extends Wishes {
  /** Paths of folders of papers and of exports, and the words of the question behind them. */
  readonly words: readonly string[];
  readonly flags: ConfigFlags;
  /** A first report soon: eight papers, three at a time, without product ideas. */
  readonly quick: boolean;
  readonly yes: boolean;
  /** Go on after the verdict stuck. */
  readonly force?: boolean;
  /** Read by their abstracts the papers whose text can't be had now. */
  readonly abstracts?: boolean;
  readonly quiet: boolean;
  readonly verbose: boolean;
  readonly json: boolean;
}

const quickly = { papers: 8, jobs: 3 } as const;

/**
 * What `research-ralph "a question"` does: says what it will do, what that costs and where it goes, asks once, makes
 * the project and runs it. The same command goes on with the project that it made; with more papers it deepens it.
 */
export async function beginCommand(args: BeginArguments, io: Io): Promise<number> {
  const { brought, question } = readWords(args.words, io.cwd);
  // What was typed wrongly must be known before a person reads the plan.
  const { rubric = "none" } = await typedWishes(args, io.cwd);
  if (args.sources !== undefined) namedSources(args.sources, io.cwd);
  const flags = args.quick ? { ...quickly, ...args.flags } : args.flags;
  const sources = [...brought, ...(args.sources ?? [])];
  const earlier = await begunBefore(io.cwd, question, sources);
  if (earlier !== undefined) return goOn(earlier, { ...args, flags }, io);
  if (question === undefined && !io.canAsk)
    throw new ExpectedError(
      `The question is missing; say what you want to know of ${args.words.join(" ")}: research-ralph ${args.words.join(" ")} "what limits the transfer?"`,
      2,
    );
  const topic = question ?? (await askForTopic(io));
  const { config, check } = await withAgent(flags, io);
  const planned = await plan(topic, sources, config, { ...args, rubric, check }, io);
  const target = { ...config, papers: planned.papers };
  if (!args.json) for (const line of planned.lines) io.stderr(`${wrapForTerminal(line, io)}\n`);
  await agreed(io, { yes: args.yes, toBegin: "Yes, begin", otherwise: "Nothing was created and no agent was started" });
  const wishes = {
    ...args,
    rubric: args.rubric ?? "none",
    ...(sources.length > 0 ? { sources } : args.quick ? { sources: defaultSources } : {}),
    ...(args.quick ? { ideas: false as const } : {}),
  };
  const { verdict, folder } = await create(topic, wishes, target, io, args);
  if (folder === undefined) return exitCodeOf(verdict);
  const exitCode = await work(folder, (await readResearch(folder)).rrd, target, io, { ...args, forecast: false });
  if (exitCode === 0 && args.quick && !args.json && !args.quiet) {
    const { rrd } = await readResearch(folder);
    const records = await recordsBrought(rrd, io);
    if (mostPapers(rrd, targetOfRun(await resolveConfig(io, args.flags), records), records) !== undefined)
      say(io, "The same command without --quick reads more papers in the same project.");
  }
  return exitCode;
}

/**
 * What the person brings, and the question: a sentence in quotes, beside which each word is a path, or else the words
 * behind the paths. @throws ExpectedError (exit code 2) for a path beside the sentence at which nothing is.
 */
function readWords(words: readonly string[], cwd: string): { brought: string[]; question?: string } {
  const isPath = (word: string): boolean => existsSync(resolve(cwd, word));
  const sentence = words.find((word) => /\s/.test(word.trim()) && !isPath(word));
  const end = words.findIndex((word) => !isPath(word));
  const leading = end < 0 ? words : words.slice(0, end);
  const paths = sentence === undefined ? leading : words.filter((word) => word !== sentence);
  const missing = paths.find((path) => !isPath(path));
  if (missing !== undefined)
    throw new ExpectedError(
      `Nothing is at ${oneLine(missing)}; beside a question in quotes name folders of papers and exports, and put all of the question into the quotes.`,
      2,
    );
  const brought = paths.map((path) =>
    statSync(resolve(cwd, path)).isDirectory()
      ? `folder:${path.length > 1 && path.endsWith("/") ? path.slice(0, -1) : path}`
      : path,
  );
  const question = (sentence ?? words.slice(paths.length).join(" ")).trim();
  return { brought, ...(question === "" ? {} : { question }) };
}

/** The project here that was made of the same words, an unfinished one first. */
async function begunBefore(
  cwd: string,
  question: string | undefined,
  sources: readonly string[],
): Promise<string | undefined> {
  let finished: string | undefined;
  for (const folder of await listResearches(cwd)) {
    const read = await readResearch(folder).catch(() => undefined);
    if (read === undefined || (question !== undefined && plain(read.rrd.question ?? "") !== plain(question))) continue;
    if (sources.length > 0 && !isSame(sources, read.rrd.requirements.sources ?? [])) continue;
    if (statusOf(read.rrd, read.ledger).phase !== "COMPLETE") return folder;
    finished = folder;
  }
  return finished;
}

const plain = (words: string): string => words.replace(/\s+/g, " ").trim().toLowerCase();

const isSame = (some: readonly string[], others: readonly string[]): boolean =>
  some.length === others.length && some.every((source) => others.includes(source));

/** Runs a project that is there; it reads more papers where a larger target is asked for and its sources have them. */
async function goOn(folder: string, args: BeginArguments, io: Io): Promise<number> {
  const { rrd, ledger } = await readResearch(folder);
  const { papers, ...flags } = args.flags;
  const resolved = await resolveConfig(io, args.flags);
  const name = nameFor(io.cwd, folder);
  await (await import("./named-again.js")).requireSameWishes(folder, rrd, args, io);
  const records = await recordsBrought(rrd, io);
  const wanted = targetOfRun(resolved, records);
  if (papers !== undefined && wanted < targetOf(rrd))
    throw new ExpectedError(
      `${name} asks this question already, of ${targetOf(rrd)} papers, and ${args.quick ? "--quick" : "-p"} would not make them ${wanted}; leave it out to go on, or type research-ralph run ${shellWord(name)} -p ${wanted} --force.`,
      2,
    );
  const most = mostPapers(rrd, wanted, records);
  const tells = !args.json && !args.quiet;
  if (most === undefined) {
    if (tells) say(io, `It goes on with ${name}.`);
    if (tells && statusOf(rrd, ledger).phase === "COMPLETE")
      say(io, 'That project is finished; research-ralph new "…" starts another of the same question.');
    return runCommand({ ...args, folder, flags, force: args.force === true, classic: false, ask: false }, io);
  }
  const config = await withLastAgent(resolved, folder, io);
  const check = await checkChosen(config, io);
  // Only another target begins another search.
  const searching = withTarget(rrd, Math.max(most, targetOf(rrd) + 1));
  const forecast = forecastOf(searching, ledger, await experienceOf(folder, config, io));
  // What it takes is told before a yes, even in quiet.
  if (!args.json) {
    say(io, `It goes on with ${name}, from ${rrd.papers_pool.length} papers to ${most}, with ${config.agent}.`);
    say(io, costText(config, check, forecast, io));
  }
  await agreed(io, { yes: args.yes, toBegin: "Yes, read more papers", otherwise: "No agent was started" });
  const more = { ...flags, papers: wanted };
  return runCommand({ ...args, folder, flags: more, force: true, classic: false, ask: false, forecast: false }, io);
}

const recordsBrought = async (rrd: Rrd, { cwd }: Io): Promise<number | undefined> =>
  (await import("../../compose/library.js")).countUserRecords(rrd, cwd);

/**
 * How many papers a project can come to have with a larger target; undefined if this one is not larger, or every one
 * of the `records` that a person brings was looked at.
 */
function mostPapers(rrd: Rrd, wanted: number, records: number | undefined): number | undefined {
  if (wanted <= targetOf(rrd)) return undefined;
  if (records === undefined) return wanted;
  const { identified = {}, not_screened: left = 0 } = rrd.statistics?.discovery_metrics?.flow ?? {};
  const seen = Object.values(identified).reduce((sum, count) => sum + count, 0);
  const unseen = left + Math.max(0, records - seen);
  return unseen === 0 ? undefined : Math.min(wanted, rrd.papers_pool.length + unseen);
}

/**
 * The settings, with an agent that is here: the one that the person chose, else the first that is installed, else the
 * built-in one where it has a key or a local model; and what its check found. @throws ExpectedError where nothing can
 * work, before a person is asked for a yes.
 */
async function withAgent(flags: ConfigFlags, io: Io): Promise<{ config: ResolvedConfig; check?: AgentCheck }> {
  const config = await resolveConfig(io, flags);
  if (config.origins.agent !== "default")
    return { config, ...withoutUndefined({ check: await checkChosen(config, io) }) };
  let check: AgentCheck | undefined;
  for (const agent of new Set([config.agent, ...installedAgents(io.env), "ralph"])) {
    const chosen = agent === config.agent ? config : await resolveConfig(io, { ...flags, agent });
    check = await checkAgent(chosen.agent, settingsFor(chosen, io));
    if (check.ok && (await isAllowed(chosen, io))) return { config: chosen, check };
  }
  throw new ExpectedError(
    `No agent is installed here. Install Claude Code, Codex, Amp, Gemini CLI or OpenCode, or name a command of yours with --agent 'cmd:…'; the built-in --agent ralph needs only a key or a local model. ${check?.detail ?? ""} research-ralph demo shows a whole project without any.`,
  );
}

/**
 * What the check of the agent found; undefined where it works on another machine or in a
 * container. @throws ExpectedError where it can't begin.
 */
async function checkChosen(config: ResolvedConfig, io: Io): Promise<AgentCheck | undefined> {
  await requireAgents(config, io);
  if (isRemote(config.agent) || config.sandbox === "docker") return undefined;
  const check = await checkAgent(config.agent, settingsFor(config, io));
  // A program that starts may be let in whatever it says of its login: its provider may need none.
  if (!check.ok && check.version === undefined)
    throw new ExpectedError(`${config.agent} can't begin: ${check.detail} ${check.fix ?? ""}`.trim());
  return check;
}

async function isAllowed(config: ResolvedConfig, io: Io): Promise<boolean> {
  return requireAgents(config, io).then(
    () => true,
    (error: unknown) => {
      if (!(error instanceof ExpectedError)) throw error;
      return false;
    },
  );
}

/**
 * How many papers the pool is to hold. `records`: how many a person brings; undefined where services are searched. All
 * of them are wanted unless a number was chosen.
 */
function targetOfRun({ papers, origins }: Pick<ResolvedConfig, "papers" | "origins">, records?: number): number {
  if (records === undefined) return papers;
  return Math.max(1, origins.papers === "default" ? records : Math.min(papers, records));
}

/** What of all that is found goes on to be read. */
function screenedText(sources: readonly string[], criteria: readonly string[]): string {
  if (criteria.length > 0) return "Your criteria decide what is read, first by title and abstract.";
  if (sources.every(isOwnFolder)) return "Every document of yours is read, and counts; --criterion chooses among them.";
  const records = "The agent chooses by title and abstract what is read; --criterion says by what.";
  return sources.some(isOwnFolder) ? `${records} Every document of your folder is read.` : records;
}

/** What is known of the agent and of the rubric that was typed. */
interface Known {
  readonly check: AgentCheck | undefined;
  readonly rubric: NonNullable<Rrd["rubric"]>;
}

/** What leaves this machine of papers that a person brings. */
function goesOut({ agent, sources, lookups }: ResolvedConfig, isFree: boolean): string {
  const asked = lookupServices.filter((service) => lookups && settingsOf(service, sources).off !== true);
  const parts = [
    ...(isFree ? [] : [`their text to ${agent}`]),
    ...(asked.length === 0
      ? []
      : [
          `the DOI or arXiv id that one prints, with its title, to ${asked.map(({ name }) => name).join(", ")} (research-ralph config lookups=false keeps it here)`,
        ]),
  ];
  return `Of your papers these leave the program: ${parts.length === 0 ? "nothing" : parts.join("; ")}.`;
}

/** What will be done, what it takes and where it goes, a paragraph each; and how many papers may be included. */
async function plan(
  topic: string,
  sources: readonly string[],
  config: ResolvedConfig,
  {
    check,
    rubric,
    criteria = [],
    keywords = [],
    quick,
  }: Pick<BeginArguments, "criteria" | "keywords" | "quick"> & Known,
  io: Io,
): Promise<{ readonly lines: readonly string[]; readonly papers: number }> {
  const searched = sources.length === 0 ? defaultSources : sources;
  const wished = { topic, sources: searched, rubric, ...(quick ? { ideas: false as const } : {}) };
  const rrdFor = (papers: number): Rrd => newRrd({ ...wished, papers }, requirementsOfTopic(topic));
  const records = await recordsBrought(rrdFor(config.papers), io);
  if (records === 0)
    throw new ExpectedError(
      `There is nothing to read in ${searched.map(oneLine).join(", ")}; put PDF, HTML, JATS, TeX, Markdown or text files there, or exports such as .ris, .bib, .nbib or .csv.`,
      2,
    );
  const papers = targetOfRun(config, records);
  const folder = join(io.cwd, researchesName, "new");
  const experience = { ...(await experienceOf(folder, config, io)), ...withoutUndefined({ records }) };
  const forecast = forecastOf(rrdFor(papers), [], experience);
  const { free = false } = createAgent(config.agent, { ...settingsFor(config, io), unconfined: true });
  // Otherwise the agent says what is searched for.
  const isOfWords = !searched.every(isUserSource) && (quick || sources.length > 0);
  return {
    papers,
    lines: [
      `It searches ${searched.map((source) => (source === "web" ? "the web (by the agent itself)" : oneLine(source))).join(", ")}${isOfWords ? wordsText(topic, keywords) : ""}, reads up to ${many(papers, "paper")} with ${config.agent}, and writes a report whose claims are checked against the papers. ${screenedText(searched, criteria)}`,
      ...criteriaText(criteria),
      costText(config, check, forecast, io),
      `The project is a folder under ${researchesName}/ here. ${sources.some(isUserSource) ? `${goesOut(config, free)} ` : ""}Ctrl+C stops it, and the same command goes on.`,
    ],
  };
}

/** The words that are searched for, if they are those of the question, and how to choose others. */
function wordsText(topic: string, typed: readonly string[]): string {
  const words = typed.length > 0 ? typed : requirementsOfTopic(topic).keywords;
  const how = typed.length > 0 ? "" : " (--keyword chooses other words)";
  return ` for ${words.map((word) => `"${oneLine(word)}"`).join(" and ")}${how}`;
}

/** The criteria as they were typed. */
const criteriaText = (criteria: readonly string[]): string[] =>
  criteria.length === 0 ? [] : [`Criteria: ${criteria.map(oneLine).join("; ")}.`];

/** What the agent is, what it will take, and what limits that. */
function costText(
  config: ResolvedConfig,
  check: AgentCheck | undefined,
  forecast: ReturnType<typeof forecastOf>,
  io: Io,
): string {
  const { reportsNoUsage = false } = createAgent(config.agent, { ...settingsFor(config, io), unconfined: true });
  const limits = reportsNoUsage
    ? "-i and --max-minutes limit it; --max-usd cannot, because the agent does not tell what it uses"
    : "--max-usd and --max-minutes limit it";
  const found = check === undefined ? "" : `${config.agent}: ${oneLine(check.detail)} `;
  if (forecast === undefined) return `${found}What it costs is not known; ${limits}.`;
  const { cost_usd_most: _, ...rest } = forecast;
  const priced = check?.free === true ? { ...rest, cost_usd: 0 } : forecast;
  return `${found}${forecastText(priced, "of work")}; estimated from ${forecast.from}. ${limits}.`;
}
