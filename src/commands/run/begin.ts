import { existsSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { requireAgents, settingsFor, withLastAgent } from "../../compose/agents.js";
import { type ConfigFlags, type ResolvedConfig, resolveConfig } from "../../compose/config.js";
import { experienceOf } from "../../compose/forecast-basis.js";
import { installedAgents } from "../../engine/agents/adapters.js";
import type { AgentCheck } from "../../engine/agents/definition.js";
import { checkAgent, createAgent, isRemote } from "../../engine/agents/registry.js";
import { ExpectedError, messageOf } from "../../engine/lib/errors.js";
import { oneLine, shellWord } from "../../engine/lib/sanitise.js";
import { listText, quantity } from "../../engine/lib/words.js";
import { exitCodeOf } from "../../engine/loop/exit-codes.js";
import type { Io } from "../../engine/ui/io.js";
import { say } from "../../engine/ui/terminal/format.js";
import { usageText } from "../../engine/ui/terminal/tally.js";
import { targetOf } from "../../research/derived/status.js";
import type { Rrd } from "../../research/generated/rrd.js";
import { lookupServices } from "../../research/paper-lookups/paper-lookups.js";
import { settingsOf } from "../../research/sources/source-settings.js";
import { listResearches, nameFor } from "../../research/overview/find-research.js";
import { isUserSource, isOwnFolder, ownListIn } from "../../research/papers/records/own-list.js";
import { researchesName } from "../../research/project-files/layout.js";
import { readResearch } from "../../research/project-files/research.js";
import { requirementsOfTopic } from "../../research/search/topic-words.js";
import { forecastOf } from "../../research/workflow/forecast.js";
import { newRrd } from "../../research/workflow/new-research.js";
import { statusOf } from "../../research/workflow/next-unit.js";
import { requireConsent, askForTopic } from "./ask-person.js";
import { create, defaultSources, typedOptions, type ProjectOptions } from "./new.js";
import { namedSources } from "./typed-sources.js";
import { runCommand, withTarget, work } from "./run.js";

interface BeginArguments extends ProjectOptions {
  /** Paths of folders of papers and of exports, and the words of the question after them. */
  readonly words: readonly string[];
  readonly flags: ConfigFlags;
  /** True for a first report soon: eight papers, three at a time, without product ideas. */
  readonly quick: boolean;
  readonly yes: boolean;
  /** True to continue after the verdict "stuck". */
  readonly force?: boolean;
  /** True to read papers by their abstracts if their text is not available now. */
  readonly abstracts?: boolean;
  readonly quiet: boolean;
  readonly verbose: boolean;
  readonly json: boolean;
}

const quickSettings = { papers: 8, jobs: 3 } as const;

/**
 * The command `research-ralph "a question"`: shows a plan with its cost and the services that get data, asks once,
 * creates the project and runs it. The same command continues the project; with more papers it extends it.
 */
export async function beginCommand(args: BeginArguments, io: Io): Promise<number> {
  const { brought: userSources, question } = readWords(args.words, io.cwd);
  // Invalid options must be reported before the user reads the plan.
  const { rubric = "none", name } = await typedOptions(args, io.cwd);
  if (args.sources !== undefined) namedSources(args.sources, io.cwd);
  const flags = args.quick ? { ...quickSettings, ...args.flags } : args.flags;
  const sources = [...userSources, ...(args.sources ?? [])];
  const earlier = await existingProject(io, question, sources, name);
  if (earlier !== undefined) return continueProject(earlier, { ...args, flags }, io);
  if (question === undefined && !io.canAsk)
    throw new ExpectedError(
      `The question is missing; say what you want to know of ${args.words.join(" ")}: research-ralph ${args.words.join(" ")} "what limits the transfer?"`,
      2,
    );
  const topic = question ?? (await askForTopic(io));
  const { config, check } = await withAgent(flags, io);
  const planned = await plan(topic, sources, config, { ...args, rubric, check }, io);
  const target = { ...config, papers: planned.papers };
  if (showsPlan(args, io)) for (const [label, text] of planned.lines) say(io, text, label);
  await requireConsent(io, {
    yes: args.yes,
    toBegin: "Yes, begin",
    otherwise: "Nothing was created and no agent was started",
    cost: showsPlan(args, io) ? undefined : planned.cost,
  });
  const wishes = {
    ...args,
    rubric: args.rubric ?? "none",
    ...(sources.length > 0 ? { sources } : {}),
    ...(args.quick ? { ideas: false as const } : {}),
  };
  const { verdict, folder } = await create(topic, wishes, target, io, {
    ...args,
    // The run that follows tells it.
    isBudgetTold: true,
  });
  if (folder === undefined) return exitCodeOf(verdict);
  const exitCode = await work(folder, (await readResearch(folder)).rrd, target, io, { ...args, forecast: false });
  if (exitCode === 0 && args.quick && !args.json && !args.quiet) {
    const { rrd } = await readResearch(folder);
    const records = await userRecordCount(rrd, io);
    if (maxPapersWith(rrd, targetOfRun(await resolveConfig(io, args.flags), records), records) !== undefined)
      say(io, "The same command without --quick reads more papers in the same project.");
  }
  return exitCode;
}

/**
 * The user's sources and the question. The question is a sentence in quotes, and all other words are paths; or it is
 * the words after the paths.
 * @throws ExpectedError (exit code 2) for a path beside the sentence that does not exist, and for a single document.
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
  const document = paths.find((path) => statSync(resolve(cwd, path)).isFile() && ownListIn(path) === undefined);
  if (document !== undefined)
    throw new ExpectedError(
      `${oneLine(document)} is a single document; give the folder of the documents to read, such as research-ralph ${shellWord(`${oneLine(dirname(document))}/`)} "${oneLine(sentence ?? "what limits the transfer?")}", or research-ralph read ${shellWord(oneLine(document))} to read it alone.`,
      2,
    );
  const userSources = paths.map((path) =>
    statSync(resolve(cwd, path)).isDirectory()
      ? `folder:${path.length > 1 && path.endsWith("/") ? path.slice(0, -1) : path}`
      : path,
  );
  const question = (sentence ?? words.slice(paths.length).join(" ")).trim();
  return { brought: userSources, ...(question === "" ? {} : { question }) };
}

/**
 * The project here with the typed question, sources and name, preferably an unfinished one. A damaged project is
 * compared by its last good version; one without it is named.
 * @throws ExpectedError if the project that fits is damaged: another one must not be begun beside it.
 */
async function existingProject(
  io: Io,
  question: string | undefined,
  sources: readonly string[],
  name: string | undefined,
): Promise<string | undefined> {
  let finished: string | undefined;
  for (const folder of await listResearches(io.cwd)) {
    const read = await readResearch(folder).catch(async (error: unknown) => {
      const { readState } = await import("../../research/report/read-report.js");
      const lastGood = await readState(folder).catch(() => undefined);
      if (lastGood === undefined) say(io, messageOf(error));
      return lastGood && { ...lastGood, error };
    });
    if (read === undefined || (question !== undefined && normalized(read.rrd.question ?? "") !== normalized(question)))
      continue;
    if (name !== undefined && normalized(read.rrd.project) !== normalized(`Research: ${name}`)) continue;
    if (sources.length > 0 && !haveSameItems(sources, read.rrd.requirements.sources ?? [])) continue;
    if ("error" in read) throw read.error;
    if (statusOf(read.rrd, read.ledger).phase !== "COMPLETE") return folder;
    finished = folder;
  }
  return finished;
}

const normalized = (words: string): string => words.replace(/\s+/g, " ").trim().toLowerCase();

const haveSameItems = (first: readonly string[], second: readonly string[]): boolean =>
  first.length === second.length && first.every((source) => second.includes(source));

/** Runs an existing project. It reads more papers if a larger target is given and its sources have more. */
async function continueProject(folder: string, args: BeginArguments, io: Io): Promise<number> {
  const { rrd, ledger } = await readResearch(folder);
  const { papers, ...flags } = args.flags;
  const resolved = await resolveConfig(io, args.flags);
  const name = nameFor(io.cwd, folder);
  await (await import("./named-again.js")).requireSameWishes(folder, rrd, args, io);
  const records = await userRecordCount(rrd, io);
  const wanted = targetOfRun(resolved, records);
  if (papers !== undefined && wanted < targetOf(rrd))
    throw new ExpectedError(
      `${name} asks this question already, of ${targetOf(rrd)} papers, and ${args.quick ? "--quick" : "-p"} would not make them ${wanted}; leave it out to go on, or type research-ralph run ${shellWord(name)} -p ${wanted} --force.`,
      2,
    );
  const maxPapers = maxPapersWith(rrd, wanted, records);
  const tells = !args.json && !args.quiet;
  if (maxPapers === undefined) {
    if (tells) say(io, `It goes on with ${name}${resolved.jobs === 1 ? ", one agent at a time" : ""}.`);
    if (tells && statusOf(rrd, ledger).phase === "COMPLETE")
      say(
        io,
        "That project is finished; the same command with --name and a new name starts another of the same question.",
      );
    return runCommand({ ...args, folder, flags, force: args.force === true, classic: false, ask: false }, io);
  }
  const config = await withLastAgent(resolved, folder, io);
  const check = await checkChosen(config, io);
  // Only a new target starts a new search.
  const rrdWithTarget = withTarget(rrd, Math.max(maxPapers, targetOf(rrd) + 1));
  const forecast = forecastOf(rrdWithTarget, ledger, await experienceOf(folder, { rrd, ledger }, config, io));
  const cost = costText(config, check, forecast, io);
  if (showsPlan(args, io)) {
    say(io, `continue ${name} with ${config.agent}, from ${rrd.papers_pool.length} papers to ${maxPapers}`, planLabel);
    say(io, cost, costLabel);
  }
  await requireConsent(io, {
    yes: args.yes,
    toBegin: "Yes, read more papers",
    otherwise: "No agent was started",
    cost: showsPlan(args, io) ? undefined : cost,
  });
  const flagsWithTarget = { ...flags, papers: wanted };
  return runCommand(
    { ...args, folder, flags: flagsWithTarget, force: true, classic: false, ask: false, forecast: false },
    io,
  );
}

/** Whether the plan is shown: before every question, even with --quiet or --json, and to people. */
const showsPlan = ({ json, yes }: Pick<BeginArguments, "json" | "yes">, { canAsk }: Io): boolean =>
  !json || (canAsk && yes !== true);

const userRecordsIn = async (rrd: Rrd, { cwd }: Io) =>
  (await import("../../compose/library.js")).userRecordsOf(rrd, cwd);

const userRecordCount = async (rrd: Rrd, io: Io): Promise<number | undefined> =>
  (await userRecordsIn(rrd, io))?.records;

/**
 * Maximum number of papers that a project can have with a larger target; undefined if the target is not larger, or if
 * all of the user's `records` were already screened.
 */
function maxPapersWith(rrd: Rrd, wanted: number, records: number | undefined): number | undefined {
  if (wanted <= targetOf(rrd)) return undefined;
  if (records === undefined) return wanted;
  const { identified = {}, not_screened: notScreened = 0 } = rrd.statistics?.discovery_metrics?.flow ?? {};
  const screened = Object.values(identified).reduce((sum, count) => sum + count, 0);
  const unscreened = notScreened + Math.max(0, records - screened);
  return unscreened === 0 ? undefined : Math.min(wanted, rrd.papers_pool.length + unscreened);
}

/**
 * The settings with an available agent: the one that the user chose, otherwise the first installed one, otherwise the
 * built-in one if it has a key or a local model. Also the result of its check.
 * @throws ExpectedError if no agent can work, before the user is asked.
 */
export async function withAgent(flags: ConfigFlags, io: Io): Promise<{ config: ResolvedConfig; check?: AgentCheck }> {
  const config = await resolveConfig(io, flags);
  if (config.origins.agent !== "default") return { config, check: await checkChosen(config, io) };
  let check: AgentCheck | undefined;
  for (const agent of new Set([config.agent, ...installedAgents(io.env), "ralph"])) {
    const candidate = agent === config.agent ? config : await resolveConfig(io, { ...flags, agent });
    check = await checkAgent(candidate.agent, settingsFor(candidate, io));
    if (check.ok && (await isUsable(candidate, io))) return { config: candidate, check };
  }
  throw new ExpectedError(
    `No agent is installed here. Install Claude Code, Codex, Amp, Gemini CLI or OpenCode, or name a command of yours with --agent 'cmd:…'; the built-in --agent ralph needs only a key or a local model, and --agent baseline neither, because it only counts words. ${check?.detail ?? ""} research-ralph demo shows a whole project without any.`,
  );
}

/**
 * The result of the agent's check; undefined if it works on another machine or in a container.
 * @throws ExpectedError if it can't start.
 */
async function checkChosen(config: ResolvedConfig, io: Io): Promise<AgentCheck | undefined> {
  await requireAgents(config, io);
  if (isRemote(config.agent) || config.sandbox === "docker") return undefined;
  const check = await checkAgent(config.agent, settingsFor(config, io));
  // The program starts, so it may work without a login: its provider may need none.
  if (!check.ok && check.version === undefined)
    throw new ExpectedError(`${config.agent} can't begin: ${check.detail} ${check.fix ?? ""}`.trim());
  return check;
}

async function isUsable(config: ResolvedConfig, io: Io): Promise<boolean> {
  return requireAgents(config, io).then(
    () => true,
    (error: unknown) => {
      if (!(error instanceof ExpectedError)) throw error;
      return false;
    },
  );
}

/**
 * The target for the number of papers. `records`: the number of the user's records; undefined if services are searched.
 * All records are wanted unless the user chose a number.
 */
function targetOfRun({ papers, origins }: Pick<ResolvedConfig, "papers" | "origins">, records?: number): number {
  if (records === undefined) return papers;
  return Math.max(1, origins.papers === "default" ? records : Math.min(papers, records));
}

const [planLabel, costLabel] = ["Plan:  ", "Cost:  "];

/** The lines of the plan with their labels, its cost, and the target for the number of papers. */
interface Plan {
  readonly cost: string;
  readonly lines: readonly (readonly [label: string, text: string])[];
  readonly papers: number;
}

/** What the user typed, the result of the agent's check, and the rubric. */
interface PlanFacts extends Pick<BeginArguments, "criteria" | "fields" | "keywords" | "quick"> {
  readonly check?: AgentCheck | undefined;
  readonly rubric: NonNullable<Rrd["rubric"]>;
}

/**
 * What the run will do, what it will cost, and where it works.
 * @throws ExpectedError (exit code 2) if the user's folders and exports contain nothing.
 */
async function plan(
  topic: string,
  sources: readonly string[],
  config: ResolvedConfig,
  facts: PlanFacts,
  io: Io,
): Promise<Plan> {
  const { check, rubric, quick } = facts;
  const searchedSources = sources.length === 0 ? defaultSources : sources;
  const options = { topic, sources: searchedSources, rubric, ...(quick ? { ideas: false as const } : {}) };
  const rrdFor = (papers: number): Rrd => newRrd({ ...options, papers }, requirementsOfTopic(topic));
  const { records, unread = [] } = (await userRecordsIn(rrdFor(config.papers), io)) ?? {};
  if (records === 0)
    throw new ExpectedError(
      `There is nothing to read in ${searchedSources.map(nameOfSource).join(", ")}; put PDF, HTML, JATS, TeX, Markdown or text files there, or exports such as .ris, .bib, .nbib or .csv.${unread.map((sentence) => ` ${sentence}`).join("")}`,
      2,
    );
  const papers = targetOfRun(config, records);
  const folder = join(io.cwd, researchesName, "new");
  const fresh = { rrd: rrdFor(papers), ledger: [] };
  const forecast = forecastOf(fresh.rrd, [], await experienceOf(folder, fresh, config, io));
  const { free = false } = createAgent(config.agent, { ...settingsFor(config, io), unconfined: true });
  const words = sources.length > 0 ? wordsText(topic, facts) : agentWordsText(facts, config.agent);
  const steps = [
    ...findingText(
      searchedSources.filter((source) => source !== "web" || !free),
      records,
      words,
    ),
    readingText(searchedSources, papers, records, facts.criteria ?? []),
    ...(facts.fields === undefined || facts.fields.length === 0
      ? []
      : [`extract ${quantity(facts.fields.length, "field")}`]),
    "write a checked report",
  ];
  const dataText = searchedSources.some(isUserSource)
    ? `; ${dataSentText(config, check?.model, free, isOwnFolderOnly(searchedSources))}`
    : "";
  // Most of the user's records may turn out not to be eligible.
  const isUpTo = records !== undefined && !(isOwnFolderOnly(searchedSources) && (facts.criteria ?? []).length === 0);
  const cost = costText(config, check, forecast, io, isUpTo);
  return {
    papers,
    cost,
    lines: [
      [planLabel, steps.join(", ")],
      [costLabel, cost],
      ["Where: ", `${researchesName}/ in this folder${dataText}; Ctrl+C stops it, the same command continues it`],
      ...unread.map((sentence) => ["Skips: ", sentence] as const),
    ],
  };
}

const isOwnFolderOnly = (sources: readonly string[]): boolean => sources.every(isOwnFolder);

/** "search arXiv and the web for …" or "screen 60 records of export.ris"; empty if only folders are read. */
function findingText(sources: readonly string[], records: number | undefined, words: string): string[] {
  if (isOwnFolderOnly(sources)) return [];
  const names = listText(sources.map((source) => (source === "web" ? "the web" : nameOfSource(source))));
  return [
    sources.every(isUserSource)
      ? `screen ${records === undefined ? "the records" : quantity(records, "record")} of ${names}`
      : `search ${names}${words}`,
  ];
}

/** "read all 3 documents of notes", "read up to 8 papers that meet your 2 criteria". */
function readingText(
  sources: readonly string[],
  papers: number,
  records: number | undefined,
  criteria: readonly string[],
): string {
  const chosen =
    criteria.length === 0
      ? ""
      : ` that ${papers === 1 ? "meets" : "meet"} your ${criteria.length === 1 ? "criterion" : `${criteria.length} criteria`}`;
  if (!isOwnFolderOnly(sources)) return `read up to ${quantity(papers, "paper")}${chosen}`;
  const extent = criteria.length > 0 ? "up to " : papers === records && papers > 1 ? "all " : "";
  return `read ${extent}${quantity(papers, "document")} of ${listText(sources.map(nameOfSource))}${chosen}`;
}

const nameOfSource = (source: string): string => oneLine(source.replace(/^folder:/, ""));

/** The search words that the user typed, otherwise those of the question. The longest of these contains the others. */
function wordsText(topic: string, { keywords = [] }: PlanFacts): string {
  const words = keywords.length > 0 ? keywords : requirementsOfTopic(topic).keywords.slice(0, 1);
  const hint = keywords.length > 0 ? "" : " (or other words with --keyword)";
  return ` for ${listText(words.map((word) => `"${oneLine(word)}"`))}${hint}`;
}

/** The search words that the user typed, to which the agent adds others; otherwise the agent chooses all. */
const agentWordsText = ({ keywords = [] }: PlanFacts, agent: string): string =>
  keywords.length === 0
    ? ` for words that ${agent} chooses`
    : ` for ${keywords.map((word) => `"${oneLine(word)}"`).join(", ")} and words that ${agent} adds`;

/**
 * The data about the user's papers that leaves this machine. The setting `lookups` is about documents only: full texts
 * of the records of an export are always looked for.
 */
function dataSentText(
  { agent, sources, lookups }: ResolvedConfig,
  model: string | undefined,
  isFree: boolean,
  isDocumentsOnly: boolean,
): string {
  const isAsked = lookups || !isDocumentsOnly;
  const services = lookupServices.filter((service) => isAsked && settingsOf(service, sources).off !== true);
  const wayOut = isDocumentsOnly
    ? ", unless you run 'research-ralph config lookups=false'"
    : " that may have the texts";
  const parts = [
    ...(isFree ? [] : [`texts go to ${model ?? agent}`]),
    ...(services.length === 0
      ? []
      : [`DOIs and titles ${isFree ? "go " : ""}to ${quantity(services.length, "service")}${wayOut}`]),
  ];
  return parts.length === 0 ? "nothing of your papers leaves it" : parts.join(", ");
}

/** The expected tokens, cost and time, their basis and a limit; and what is wrong with the agent. */
function costText(
  config: ResolvedConfig,
  check: AgentCheck | undefined,
  forecast: ReturnType<typeof forecastOf>,
  io: Io,
  isUpTo = false,
): string {
  const { reportsNoUsage = false, free } = createAgent(config.agent, { ...settingsFor(config, io), unconfined: true });
  const warning =
    check === undefined || check.ok ? "" : `; ${oneLine(check.detail).replace(/\.$/, "")}. ${oneLine(check.fix ?? "")}`;
  const worker = check?.model ?? config.agent;
  if (free === true) return `nothing, because ${worker} uses no model${warning}`;
  const hasPrice = !reportsNoUsage && check?.free !== true && forecast?.cost_usd !== undefined;
  const noLimit = reportsNoUsage && config.budget.usd !== undefined ? ", --max-usd cannot" : "";
  const limit = hasPrice ? "--max-usd limits it" : `-i <iterations> limits it${noLimit}`;
  if (forecast === undefined) return `not known for ${worker}; ${limit}${warning}`;
  const { cost_usd_most: _, ...rest } = forecast;
  const usage = usageText(check?.free === true ? { ...rest, cost_usd: 0 } : forecast);
  return `${worker}: ${isUpTo ? "up to " : ""}${usage} (${forecast.from}); ${limit}${warning}`;
}
