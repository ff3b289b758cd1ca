import { constants, existsSync } from "node:fs";
import { access } from "node:fs/promises";
import { basename, join, resolve } from "node:path";
import { rememberAgent, requireAgents, warningsOf } from "../../compose/agents.js";
import { drive } from "../../compose/drive.js";
import { type ConfigFlags, type ResolvedConfig, resolveConfig } from "../../compose/config.js";
import type { LedgerLine } from "../../engine/generated/ledger.js";
import { ExpectedError, messageOf } from "../../engine/lib/errors.js";
import type { Verdict } from "../../engine/loop/types.js";
import { recordUnfiledWork } from "../../engine/storage/state/ledger.js";
import { openCheckpoints, noCommitsReason } from "../../engine/storage/checkpoints.js";
import { claudeName, lessonsName } from "../../engine/lib/layout.js";
import { runGit } from "../../engine/storage/git-command.js";
import { chooseBranch } from "../../engine/storage/git-repository.js";
import { criteriaOf, parseCriteria } from "../../research/project-files/eligibility-criteria.js";
import type { Columns, Rrd } from "../../research/generated/rrd.js";
import {
  criteriaDecide,
  fullScore,
  singleThresholds,
  ownRubricOf,
  usesScores,
} from "../../research/papers/rubric/rubric.js";
import { criterionInFull } from "../../research/screening/eligibility/eligibility.js";
import { fieldText, formOf, formWith } from "../../research/project-files/form.js";
import { rubricIn } from "../../research/papers/rubric/own-rubric.js";
import { readRegularText } from "../../engine/storage/regular-file.js";
import { promptForm, typedForm, parseYaml } from "./typed-form.js";
import { readResearch } from "../../research/project-files/research.js";
import { withExplainedErrors } from "../../engine/storage/explain-system-error.js";
import type { Io } from "../../engine/ui/io.js";
import { oneLine } from "../../engine/lib/sanitise.js";
import { ownListIn } from "../../research/papers/records/own-list.js";
import { parseColumns } from "../../research/papers/records/csv.js";
import { isRecordFile, readRecords, unreadNotice } from "../../research/papers/records/read-records.js";
import { readSeeds } from "../../research/papers/records/read-seeds.js";
import { createFromTopic, createWorkflow } from "../../research/workflow/new-research.js";
import { missionFile, requirementsSkill } from "../../research/workflow/brief/about-research.js";
import { loadPrompt } from "../../research/workflow/brief/prompt-file.js";
import { workspacesOf } from "../../research/workflow/workspace.js";
import { askForTopic, askOpenQuestions, requireTerminal, questionLines } from "./ask-person.js";
import { wrapForTerminal, say } from "../../engine/ui/terminal/format.js";
import { describeSeeds } from "./seeds.js";
import { datesOf, namedSources } from "./typed-sources.js";
import { nameFor, displayPath } from "../../research/overview/find-research.js";
import { exitCodeOf } from "../../engine/loop/exit-codes.js";
import { committedFiles, promptName, researchesName } from "../../research/project-files/layout.js";

/** The user's settings of a project, other than its topic. */
export interface ProjectOptions {
  readonly sources?: readonly string[];
  readonly keywords?: readonly string[];
  /** Each "include: …" or "exclude: …". */
  readonly criteria?: readonly string[];
  /** Each "sample size: how many participants", or a file in YAML or JSON with such fields. */
  readonly fields?: readonly string[];
  /** The first and last publication date: YYYY, YYYY-MM or YYYY-MM-DD. */
  readonly from?: string;
  readonly until?: string;
  /** Papers that surely are relevant: references, documents, or files with lists of works. */
  readonly seeds?: readonly string[];
  /** Columns of lists with other headers, each "title=Name". */
  readonly columns?: readonly string[];
  /** "original", "none", or a YAML file with a rubric. */
  readonly rubric?: string;
  /** The name of the project and its folder. */
  readonly name?: string;
  /** The share of the relevant records that screening must find, and the confidence of the stopping rule. */
  readonly recall?: number;
  readonly confidence?: number;
  /** The branch for its commits, which is not checked out; true: a branch with its name. */
  readonly branch?: string | true;
  /** Set to make no product ideas. */
  readonly ideas?: false;
}

interface NewArguments extends ProjectOptions {
  readonly topic?: string;
  readonly flags: ConfigFlags;
  readonly ask: boolean;
  readonly quiet: boolean;
  readonly json: boolean;
}

/** The default sources: services that need no key, and the agent's own web search. */
export const defaultSources: readonly string[] = ["arXiv", "OpenAlex", "Semantic Scholar", "web"];

/**
 * Creates a project folder from a topic. If sources are named, only from what was typed; otherwise the agent chooses
 * the rest in one iteration.
 */
export async function newCommand(args: NewArguments, io: Io): Promise<number> {
  const { flags, ask, quiet, json } = args;
  if (ask) requireTerminal(io);
  const topic = args.topic ?? (await askForTopic(io));
  const config = await resolveConfig(io, flags);
  const { verdict, folder } = await create(topic, args, config, io, { quiet, json, ask });
  if (folder === undefined) return exitCodeOf(verdict);
  await rememberAgent(config, folder, io);
  let { rrd, ledger } = await readResearch(folder);
  // The first run says it too, unless an agent created the project.
  const noHistoryNotice =
    config.git && !quiet && !json && ledger.length > 0 ? await noCommitsReason(folder) : undefined;
  if (noHistoryNotice !== undefined) say(io, noHistoryNotice);
  if (ask) rrd = (await askOpenQuestions(folder, rrd, config.git, io)).rrd;
  const name = displayPath(io.cwd, folder);
  if (json) io.stdout(`${JSON.stringify({ type: "created", folder })}\n`);
  else {
    io.stdout(`${name}\n`);
    const shortName = nameFor(io.cwd, folder);
    const questions = ask ? [] : questionLines(rrd, io.columns);
    const openQuestions = questions.length === 0 ? [] : ["Questions that the topic leaves open:", ...questions];
    const nextSteps = [
      "Check its requirements, then run it:",
      ...lineToType(`${name}/rrd.json`, io),
      ...lineToType(`research-ralph run ${shortName}${questions.length === 0 ? "" : " --ask"}`, io),
    ];
    const askHint =
      questions.length === 0 ? [] : [wrapForTerminal("With --ask it asks you the open questions first.", io)];
    if (!quiet)
      io.stderr(
        [
          ...criteriaLines(rrd, io),
          ...rubricLine(rrd, io),
          ...formLines(rrd, io),
          ...openQuestions,
          ...nextSteps,
          ...askHint,
          "",
        ].join("\n"),
      );
  }
  return exitCodeOf(verdict);
}

/** A line to type or copy. It is not wrapped, and it is not indented if it would not fit. */
const lineToType = (text: string, { columns }: Io): string[] => [text.length <= columns - 3 ? `  ${text}` : text];

/** The eligibility criteria, which decide what is included; empty if the project has no criteria. */
function criteriaLines(rrd: Rrd, io: Io): string[] {
  const criteria = criteriaOf(rrd);
  if (criteria.length === 0) return [];
  const lines = criteria.map((criterion) => `  ${wrapForTerminal(oneLine(criterionInFull(criterion)), io)}`);
  return ["Eligibility criteria, which decide what is included:", ...lines];
}

/** The sentence on how papers that were read are judged. */
function rubricLine(rrd: Rrd, io: Io): string[] {
  const ownRubric = ownRubricOf(rrd);
  const byDimensions =
    ownRubric === undefined ? "" : ` by ${ownRubric.dimensions.map(({ name }) => oneLine(name)).join(", ")}`;
  const sentence = criteriaDecide(rrd)
    ? `Papers get ${usesScores(rrd) ? `points${byDimensions}, which only order them` : "no points"}: ${criteriaOf(rrd).length === 0 ? "each that is read is included" : "the criteria decide"}.`
    : ownRubric === undefined
      ? "Papers get points by the two rubrics of the first research-ralph, and the points decide. Made with --rubric none, a project includes each paper that is read; made with --criterion, those that meet the criteria."
      : `Papers get points${byDimensions}: from ${singleThresholds(rrd).present} of ${fullScore(rrd)} one is included.`;
  return [wrapForTerminal(sentence, io)];
}

/** The fields of the form, one line each; empty if the form has no fields. */
function formLines(rrd: Rrd, io: Io): string[] {
  const form = formOf(rrd);
  return form.length === 0
    ? []
    : ["Each reading extracts:", ...form.map((field) => `  ${wrapForTerminal(oneLine(fieldText(field)), io)}`)];
}

/**
 * Creates a folder in ./researches from a topic. `ask`: true if an agent lists the questions that the topic leaves
 * open.
 */
export async function create(
  topic: string,
  wishes: ProjectOptions,
  config: ResolvedConfig,
  io: Io,
  outputOptions: {
    readonly quiet: boolean;
    readonly json: boolean;
    readonly verbose?: boolean;
    readonly ask?: boolean;
    readonly isBudgetTold?: boolean;
  },
): Promise<{ verdict: Verdict; folder?: string }> {
  const { sources: typedSources, branch } = wishes;
  const cleanTopic = topic.replace(/\s+/g, " ").trim();
  if (cleanTopic === "")
    throw new ExpectedError(
      'The topic is empty; give one, such as research-ralph new "sim2real transfer for dexterous manipulation".',
      2,
    );
  if (cleanTopic.length > 2000)
    throw new ExpectedError(
      "The topic is longer than 2,000 characters; shorten it, and put the rest into rrd.json afterwards.",
      2,
    );
  const { notices: seedNotices, fields, ...typedSettings } = await typedOptions(wishes, io.cwd);
  const form = formWith(await promptForm(io.cwd, config.stateDir), fields);
  const { names: sources, notices: sourceNotices } = namedSources(typedSources ?? defaultSources, io.cwd);
  const parent = join(io.cwd, researchesName);
  // The agent's work must not be lost because the folder is not writable.
  await withExplainedErrors(parent, () => access(existsSync(parent) ? parent : io.cwd, constants.W_OK));
  // All records of the user are wanted, unless the user chose a number.
  const userRecords = config.origins.papers === "default" ? await recordsIn(sources, typedSettings.columns, io) : 0;
  const papers = Math.max(config.papers, userRecords);
  if (papers > config.papers && !outputOptions.quiet && !outputOptions.json)
    say(io, `All ${userRecords} records that you bring are screened, and as many may be included; -p limits that.`);
  const options = { ...typedSettings, topic: cleanTopic, papers, sources, fields: form, parent, now: io.clock.now };
  const usesAgent = typedSources === undefined || outputOptions.ask === true;
  // An unusable agent must be reported before anything else is done.
  if (usesAgent) await requireAgents(config, io);
  // Notices about sources are only for sources that the user named.
  if (typedSources !== undefined && !outputOptions.quiet && !outputOptions.json)
    for (const sentence of sourceNotices) say(io, sentence);
  // Notices about unreadable entries are printed for programs too.
  for (const sentence of seedNotices) say(io, sentence);
  const { verdict, folder, lines } = usesAgent
    ? await createWithAgent({ ...options, namedSources: typedSources && sources }, config, io, outputOptions)
    : { verdict: readyVerdict, folder: await createFromTopic(options), lines: [] };
  if (folder !== undefined) {
    if (!usesAgent && !outputOptions.quiet && !outputOptions.json) say(io, await withoutAgentText(folder));
    await describeSeeds(folder, config, io);
    if (branch !== undefined) await useOwnBranch(folder, branch);
    if (config.git) await commitNew(folder, { ...outputOptions, hasOwnBranch: branch !== undefined }, io);
    return { verdict, folder };
  }
  await recordUnfiledWork(config.stateDir, "new", lines);
  return { verdict };
}

/**
 * The typed settings in the form for `newRrd`, and notices about unreadable seeds, one sentence each.
 * @throws ExpectedError (exit code 2) for invalid values.
 */
export async function typedOptions(options: ProjectOptions, cwd: string) {
  const { keywords = [], criteria: statements = [], name, from, until, ideas } = options;
  const rubric = options.rubric === undefined ? undefined : await rubricOf(options.rubric, cwd);
  const columns = options.columns && parseColumns(options.columns);
  const criteria = parseCriteria(statements);
  if ("problem" in criteria) throw new ExpectedError(`--criterion: ${criteria.problem}.`, 2);
  return {
    ...(await readSeeds(options.seeds ?? [], cwd, columns)),
    ...datesOf(from, until),
    name: name === undefined ? undefined : nameOf(name),
    screening: screeningOptions(options.recall, options.confidence),
    fields: await typedForm(options.fields ?? [], cwd),
    keywords,
    rubric,
    columns,
    criteria,
    ideas,
  };
}

/** The number of records in lists among these sources. An unreadable list is reported, and the others are counted. */
async function recordsIn(sources: readonly string[], columns: Columns | undefined, io: Io): Promise<number> {
  let count = 0;
  for (const source of sources) {
    const place = ownListIn(source)?.place;
    if (place === undefined || /^https?:/i.test(place)) continue;
    const path = resolve(io.cwd, place);
    // A plain list of ids does not say how many records it has.
    if (!(await isRecordFile(path))) continue;
    const result = await readRecords(path, columns).catch((error: unknown) => messageOf(error));
    const problem = typeof result === "string" ? result : unreadNotice(place, result);
    if (problem !== undefined) say(io, `warning: ${problem}`);
    count += typeof result === "string" ? 0 : result.entries.length;
  }
  return count;
}

/** The sentence that no agent took part, with the keywords. */
async function withoutAgentText(folder: string): Promise<string> {
  const { keywords = [] } = (await readResearch(folder)).rrd.requirements;
  return `The project is made of your words, without an agent. Keywords: ${keywords.map(oneLine).join("; ")}.`;
}

const readyVerdict: Verdict = { verdict: "complete", reason: "The project is ready." };

/** Lets the agent choose the requirements, and creates the project with them. */
async function createWithAgent(
  options: Parameters<typeof createFromTopic>[0] & { readonly namedSources?: readonly string[] },
  config: ResolvedConfig,
  io: Io,
  {
    quiet,
    json,
    verbose = false,
    isBudgetTold = false,
  }: { readonly quiet: boolean; readonly json: boolean; readonly verbose?: boolean; readonly isBudgetTold?: boolean },
): Promise<{ readonly verdict: Verdict; readonly folder?: string; readonly lines: readonly LedgerLine[] }> {
  const [prompt, mission, skill] = await Promise.all([
    loadPrompt(io.cwd, config.stateDir),
    missionFile(io.cwd, config.stateDir, 1_500),
    requirementsSkill(io.cwd, config.stateDir, 3_000),
  ]);
  const workspaces = workspacesOf(config.stateDir, join(options.parent, `new-${process.pid}`));
  let folder: string | undefined;
  const lines: LedgerLine[] = [];
  const onCreated = (newFolder: string) => {
    folder = newFolder;
  };
  const driveOptions = { quiet, json, verbose, isBudgetTold, iterations: 3 };
  const verdict = await drive(config, io, driveOptions, async ({ agents, tell, redact }) => {
    for (const message of warningsOf(agents)) void tell({ type: "notice", level: "warning", message });
    return createWorkflow({
      ...options,
      prompt,
      mission,
      skill,
      workspaces,
      onCreated,
      onLedgerLine: (line) => void lines.push(line),
      redact,
      close: async () => {
        await workspaces.sweep();
        await workspaces.keepOnly(new Set());
        await workspaces.close();
      },
    });
  });
  return { verdict, lines, folder };
}

/** @throws ExpectedError (exit code 2) for a name that a folder can't have, or that is too long. */
function nameOf(name: string): string {
  const cleanName = oneLine(name).trim();
  if (!/[\p{L}\p{N}]/u.test(cleanName) || cleanName.length > maxNameChars)
    throw new ExpectedError(
      `--name must have a letter or a digit and at most ${maxNameChars} characters; give a few words, such as --name "soft grippers".`,
      2,
    );
  return cleanName;
}

const maxNameChars = 100;

/** @throws ExpectedError (exit code 2) for an invalid confidence, or a confidence without a recall. */
function screeningOptions(
  recall: number | undefined,
  typedConfidence: number | undefined,
): Rrd["requirements"]["screening"] {
  const confidence = typedConfidence ?? 0.95;
  if (recall === undefined && typedConfidence !== undefined)
    throw new ExpectedError(
      "--confidence says how sure --recall has to be; give --recall too, such as --recall 0.95.",
      2,
    );
  if (confidence < 0.5 || confidence >= 1)
    throw new ExpectedError("--confidence must be at least 0.5 and less than 1, such as 0.95.", 2);
  return recall === undefined ? undefined : { target_recall: recall, confidence };
}

/** @throws ExpectedError (exit code 2) for an unknown rubric, and for a file without a valid rubric. */
export async function rubricOf(typedRubric: string, cwd: string): Promise<NonNullable<Rrd["rubric"]>> {
  if (typedRubric === "original" || typedRubric === "none") return typedRubric;
  const path = resolve(cwd, typedRubric);
  if (!existsSync(path))
    throw new ExpectedError(`--rubric is '${oneLine(typedRubric)}'; it must be original, none, or a file in YAML.`, 2);
  const rubric = rubricIn(await parseYaml(await readRegularText(path), typedRubric));
  if (typeof rubric === "string") throw new ExpectedError(`The rubric in ${typedRubric} can't be used: ${rubric}.`, 2);
  return rubric;
}

/** Sets a separate branch for the commits of a project. @throws ExpectedError as `chooseBranch`. */
export async function useOwnBranch(folder: string, branch: string | true): Promise<void> {
  const { branchName } = (await readResearch(folder)).rrd;
  await chooseBranch(folder, branch === true ? (branchName ?? `research/${basename(folder)}`) : branch);
}

/** Makes the first commit of a project, before its first run. */
async function commitNew(
  folder: string,
  { quiet, json, hasOwnBranch }: { readonly quiet: boolean; readonly json: boolean; readonly hasOwnBranch: boolean },
  io: Io,
): Promise<void> {
  const checkpoints = await openCheckpoints(folder, committedFiles, (message) => say(io, `warning: ${message}`));
  await checkpoints?.commit(`new: ${basename(folder)}`);
  if (!quiet && !json && !hasOwnBranch && checkpoints !== undefined && (await hasOtherFiles(folder)))
    say(io, "Its commits go to the branch that is checked out; new --branch keeps them on a branch of their own.");
}

/** Whether the branch that is checked out contains other files than projects and what `init` creates. */
async function hasOtherFiles(folder: string): Promise<boolean> {
  const { stdout } = await runGit(folder, ["ls-files", "--full-name", "--", ":/"]);
  const ownNames = [promptName, lessonsName, claudeName, ".gitignore"];
  const otherPaths = stdout.split("\n").filter((path) => path !== "" && !path.startsWith(`${researchesName}/`));
  return otherPaths.some((path) => !ownNames.includes(path));
}
