import { constants, existsSync } from "node:fs";
import { access } from "node:fs/promises";
import { basename, join, resolve } from "node:path";
import { requireAgents, warningsOf } from "../../compose/agents.js";
import { drive } from "../../compose/drive.js";
import { type ConfigFlags, type ResolvedConfig, resolveConfig } from "../../compose/config.js";
import type { LedgerLine } from "../../engine/generated/ledger.js";
import { ExpectedError, messageOf } from "../../engine/lib/errors.js";
import type { Verdict } from "../../engine/loop/types.js";
import { recordUnfiledWork } from "../../research/project-files/logs/spending-log.js";
import { openCheckpoints, withoutHistory } from "../../engine/storage/checkpoints.js";
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
import { promptForm, typedForm, yamlIn } from "./typed-form.js";
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
import { askForTopic, askOpenQuestions, needTerminal, questionLines } from "./ask-person.js";
import { wrapForTerminal, say } from "../../engine/ui/terminal/format.js";
import { describeSeeds } from "./seeds.js";
import { datesOf, namedSources } from "./typed-sources.js";
import { nameFor, displayPath } from "../../research/overview/find-research.js";
import { exitCodeOf } from "../../engine/loop/exit-codes.js";
import { committedFiles, promptName, researchesName } from "../../research/project-files/layout.js";

/** What people say of a project besides its topic. */
export interface Wishes {
  readonly sources?: readonly string[];
  readonly keywords?: readonly string[];
  /** "include: …" or "exclude: …". */
  readonly criteria?: readonly string[];
  /** "sample size: how many participants", or files in YAML or JSON that list such fields. */
  readonly fields?: readonly string[];
  /** YYYY, YYYY-MM or YYYY-MM-DD. */
  readonly from?: string;
  readonly until?: string;
  /** Papers that surely belong: references, documents, or files that list works. */
  readonly seeds?: readonly string[];
  /** Columns of lists that have headers of their own, each "title=Name". */
  readonly columns?: readonly string[];
  /** original, none, or a file in YAML that describes a rubric. */
  readonly rubric?: string;
  /** Of the project and its folder. */
  readonly name?: string;
  /** Share of the relevant records that screening has to find, and how sure of it the stopping rule has to be. */
  readonly recall?: number;
  readonly confidence?: number;
  /** The branch that its commits go to, which is not checked out; true: one of its name. */
  readonly branch?: string | true;
  /** No product ideas at the end. */
  readonly ideas?: false;
}

interface NewArguments extends Wishes {
  readonly topic?: string;
  readonly flags: ConfigFlags;
  readonly ask: boolean;
  readonly quiet: boolean;
  readonly json: boolean;
}

/** Asked where nobody names any: services that need no key, and the agent's own search. */
export const defaultSources: readonly string[] = ["arXiv", "OpenAlex", "Semantic Scholar", "web"];

/**
 * Makes a project folder from a topic: of what is said alone where it names the sources, else in one iteration of the
 * agent, which is asked for the rest.
 */
export async function newCommand(args: NewArguments, io: Io): Promise<number> {
  const { flags, ask, quiet, json } = args;
  if (ask) needTerminal(io);
  const topic = args.topic ?? (await askForTopic(io));
  const config = await resolveConfig(io, flags);
  const { verdict, folder } = await create(topic, args, config, io, { quiet, json, ask });
  if (folder === undefined) return exitCodeOf(verdict);
  let { rrd, ledger } = await readResearch(folder);
  // The first run says it itself; this was the first where an agent made the project.
  const none = config.git && !quiet && !json && ledger.length > 0 ? await withoutHistory(folder) : undefined;
  if (none !== undefined) say(io, none);
  if (ask) rrd = (await askOpenQuestions(folder, rrd, config.git, io)).rrd;
  const name = displayPath(io.cwd, folder);
  if (json) io.stdout(`${JSON.stringify({ type: "created", folder: name })}\n`);
  else {
    io.stdout(`${name}\n`);
    const called = nameFor(io.cwd, folder);
    const questions = ask ? [] : questionLines(rrd, io.columns);
    const open = questions.length === 0 ? [] : ["What the topic leaves open:", ...questions];
    const next = [
      "Check its requirements, then run it:",
      ...typed(`${name}/rrd.json`, io),
      ...typed(`research-ralph run ${called}${questions.length === 0 ? "" : " --ask"}`, io),
    ];
    const asks =
      questions.length === 0 ? [] : [wrapForTerminal("With --ask it asks you the open questions first.", io)];
    if (!quiet)
      io.stderr(
        [...criteriaLines(rrd, io), ...rubricLine(rrd, io), ...formLines(rrd, io), ...open, ...next, ...asks, ""].join(
          "\n",
        ),
      );
  }
  return exitCodeOf(verdict);
}

/** A line to type or copy: never broken, and from the first column where it does not fit behind an indent. */
const typed = (text: string, { columns }: Io): string[] => [text.length <= columns - 3 ? `  ${text}` : text];

/** The eligibility criteria, so that a person sees what decides; nothing where they are missing. */
function criteriaLines(rrd: Rrd, io: Io): string[] {
  const criteria = criteriaOf(rrd);
  if (criteria.length === 0) return [];
  const lines = criteria.map((criterion) => `  ${wrapForTerminal(oneLine(criterionInFull(criterion)), io)}`);
  return ["Eligibility criteria, which decide what is included:", ...lines];
}

/** What decides on a paper that was read. */
function rubricLine(rrd: Rrd, io: Io): string[] {
  const own = ownRubricOf(rrd);
  const by = own === undefined ? "" : ` by ${own.dimensions.map(({ name }) => oneLine(name)).join(", ")}`;
  const says = criteriaDecide(rrd)
    ? `Papers get ${usesScores(rrd) ? `points${by}, which only order them` : "no points"}: ${criteriaOf(rrd).length === 0 ? "each that is read is included" : "the criteria decide"}.`
    : own === undefined
      ? "Papers are scored by the original's rubrics, and the points decide; criteria or --rubric none change that."
      : `Papers get points${by}: from ${singleThresholds(rrd).present} of ${fullScore(rrd)} one is included.`;
  return [wrapForTerminal(says, io)];
}

/** The fields of the form, a line each; nothing where it is empty. */
function formLines(rrd: Rrd, io: Io): string[] {
  const form = formOf(rrd);
  return form.length === 0
    ? []
    : ["Each reading extracts:", ...form.map((field) => `  ${wrapForTerminal(oneLine(fieldText(field)), io)}`)];
}

/** Turns a topic into a folder under ./researches. `ask`: an agent says what the topic leaves open. */
export async function create(
  topic: string,
  wishes: Wishes,
  config: ResolvedConfig,
  io: Io,
  how: { readonly quiet: boolean; readonly json: boolean; readonly ask?: boolean },
): Promise<{ verdict: Verdict; folder?: string }> {
  const { sources: typedSources, branch } = wishes;
  const clean = topic.replace(/\s+/g, " ").trim();
  if (clean === "")
    throw new ExpectedError(
      'The topic is empty; give one, such as research-ralph new "sim2real transfer for dexterous manipulation".',
      2,
    );
  if (clean.length > 2000)
    throw new ExpectedError(
      "The topic is longer than 2,000 characters; shorten it, and put the rest into rrd.json afterwards.",
      2,
    );
  const { notices: ofSeeds, fields, ...typed } = await typedWishes(wishes, io.cwd);
  const form = formWith(await promptForm(io.cwd, config.stateDir), fields);
  const { named: asked, said } = namedSources(typedSources ?? defaultSources, io.cwd);
  const parent = join(io.cwd, researchesName);
  // An agent's work must not be lost for want of a place to put it.
  await withExplainedErrors(parent, () => access(existsSync(parent) ? parent : io.cwd, constants.W_OK));
  // Of what a person brings nothing is left out because a number was not thought of.
  const brought = config.origins.papers === "default" ? await recordsIn(asked, typed.columns, io) : 0;
  const papers = Math.max(config.papers, brought);
  if (papers > config.papers && !how.quiet && !how.json)
    say(io, `All ${brought} records that you bring are screened, and as many may be included; -p limits that.`);
  const options = { ...typed, topic: clean, papers, sources: asked, fields: form, parent, now: io.clock.now };
  const isAsked = typedSources === undefined || how.ask === true;
  // An agent that can't be used must be known before anything is looked at.
  if (isAsked) await requireAgents(config, io);
  // Of what nobody named nobody need be told; rrd.json says it.
  if (typedSources !== undefined && !how.quiet && !how.json) for (const sentence of said) say(io, sentence);
  // Entries that are lost must be known to programs too.
  for (const sentence of ofSeeds) say(io, sentence);
  const { verdict, folder, lines } = isAsked
    ? await askAgent({ ...options, namedSources: typedSources && asked }, config, io, how)
    : { verdict: ready, folder: await createFromTopic(options), lines: [] };
  if (folder !== undefined) {
    if (!isAsked && !how.quiet && !how.json) say(io, await withoutAgent(folder));
    await describeSeeds(folder, config, io);
    if (branch !== undefined) await commitApart(folder, branch);
    if (config.git) await commitNew(folder, { ...how, isApart: branch !== undefined }, io);
    return { verdict, folder };
  }
  await recordUnfiledWork(config.stateDir, "new", lines);
  return { verdict };
}

/**
 * What was typed of a project besides its topic and sources, as `newRrd` takes it; and what of the seeds could not be
 * read, a sentence each. @throws ExpectedError (exit code 2) for what can't be understood.
 */
export async function typedWishes(wishes: Wishes, cwd: string) {
  const { keywords = [], criteria: statements = [], name, from, until, ideas } = wishes;
  const rubric = wishes.rubric === undefined ? undefined : await rubricOf(wishes.rubric, cwd);
  const columns = wishes.columns && parseColumns(wishes.columns);
  const criteria = parseCriteria(statements);
  if ("problem" in criteria) throw new ExpectedError(`--criterion: ${criteria.problem}.`, 2);
  return {
    ...(await readSeeds(wishes.seeds ?? [], cwd, columns)),
    ...datesOf(from, until),
    name: name === undefined ? undefined : nameOf(name),
    screening: screeningWish(wishes.recall, wishes.confidence),
    fields: await typedForm(wishes.fields ?? [], cwd),
    keywords,
    rubric,
    columns,
    criteria,
    ideas,
  };
}

/** How many records the lists among these sources hold; says what is wrong with one, which costs no other. */
async function recordsIn(sources: readonly string[], columns: Columns | undefined, io: Io): Promise<number> {
  let count = 0;
  for (const source of sources) {
    const place = ownListIn(source)?.place;
    if (place === undefined || /^https?:/i.test(place)) continue;
    const path = resolve(io.cwd, place);
    // A plain list of ids tells nothing of itself.
    if (!(await isRecordFile(path))) continue;
    const read = await readRecords(path, columns).catch((error: unknown) => messageOf(error));
    const said = typeof read === "string" ? read : unreadNotice(place, read);
    if (said !== undefined) say(io, `warning: ${said}`);
    count += typeof read === "string" ? 0 : read.entries.length;
  }
  return count;
}

/** That no agent had a part in a project, and what it searches for. */
async function withoutAgent(folder: string): Promise<string> {
  const { keywords = [] } = (await readResearch(folder)).rrd.requirements;
  return `The project is made of your words, without an agent. Keywords: ${keywords.map(oneLine).join("; ")}.`;
}

const ready: Verdict = { verdict: "complete", reason: "The project is ready." };

/** Has the agent say what is open, and makes the project with it. */
async function askAgent(
  options: Parameters<typeof createFromTopic>[0] & { readonly namedSources?: readonly string[] },
  config: ResolvedConfig,
  io: Io,
  how: { readonly quiet: boolean; readonly json: boolean },
): Promise<{ readonly verdict: Verdict; readonly folder?: string; readonly lines: readonly LedgerLine[] }> {
  const [prompt, mission, skill] = await Promise.all([
    loadPrompt(io.cwd, config.stateDir),
    missionFile(io.cwd, config.stateDir, 1_500),
    requirementsSkill(io.cwd, config.stateDir, 3_000),
  ]);
  const workspaces = workspacesOf(config.stateDir, join(options.parent, `new-${process.pid}`));
  let folder: string | undefined;
  const lines: LedgerLine[] = [];
  const created = (made: string) => {
    folder = made;
  };
  const verdict = await drive(config, io, { ...how, iterations: 3 }, async ({ agents, tell, redact }) => {
    for (const message of warningsOf(agents)) void tell({ type: "notice", level: "warning", message });
    return createWorkflow({
      ...options,
      prompt,
      mission,
      skill,
      workspaces,
      created,
      recorded: (line) => void lines.push(line),
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

/** @throws ExpectedError (exit code 2) for a name that no folder can have, or that is a sentence. */
function nameOf(name: string): string {
  const clean = oneLine(name).trim();
  if (!/[\p{L}\p{N}]/u.test(clean) || clean.length > maxName)
    throw new ExpectedError(
      `--name must have a letter or a digit and at most ${maxName} characters; give a few words, such as --name "soft grippers".`,
      2,
    );
  return clean;
}

const maxName = 100;

/** @throws ExpectedError (exit code 2) for a confidence that no rule can give, or without a recall to be sure of. */
function screeningWish(recall: number | undefined, sure: number | undefined): Rrd["requirements"]["screening"] {
  const confidence = sure ?? 0.95;
  if (recall === undefined && sure !== undefined)
    throw new ExpectedError(
      "--confidence says how sure --recall has to be; give --recall too, such as --recall 0.95.",
      2,
    );
  if (confidence < 0.5 || confidence >= 1)
    throw new ExpectedError("--confidence must be at least 0.5 and less than 1, such as 0.95.", 2);
  return recall === undefined ? undefined : { target_recall: recall, confidence };
}

/** @throws ExpectedError (exit code 2) for a rubric that nobody knows, and for a file that is not a rubric. */
async function rubricOf(named: string, cwd: string): Promise<NonNullable<Rrd["rubric"]>> {
  if (named === "original" || named === "none") return named;
  const path = resolve(cwd, named);
  if (!existsSync(path))
    throw new ExpectedError(`--rubric is '${oneLine(named)}'; it must be original, none, or a file in YAML.`, 2);
  const rubric = rubricIn(await yamlIn(await readRegularText(path), named));
  if (typeof rubric === "string") throw new ExpectedError(`The rubric in ${named} can't be used: ${rubric}.`, 2);
  return rubric;
}

/** Has the commits of a project go to a branch of its own. @throws ExpectedError as `chooseBranch`. */
export async function commitApart(folder: string, branch: string | true): Promise<void> {
  const { branchName } = (await readResearch(folder)).rrd;
  await chooseBranch(folder, branch === true ? (branchName ?? `research/${basename(folder)}`) : branch);
}

/** The first commit of a project, before its first run. */
async function commitNew(
  folder: string,
  { quiet, json, isApart }: { readonly quiet: boolean; readonly json: boolean; readonly isApart: boolean },
  io: Io,
): Promise<void> {
  const checkpoints = await openCheckpoints(folder, committedFiles, (message) => say(io, `warning: ${message}`));
  await checkpoints?.commit(`new: ${basename(folder)}`);
  if (!quiet && !json && !isApart && checkpoints !== undefined && (await isAmongOthers(folder)))
    say(io, "Its commits go to the branch that is checked out; new --branch keeps them on a branch of their own.");
}

/** Whether the branch that is checked out holds more than projects and what `init` made. */
async function isAmongOthers(folder: string): Promise<boolean> {
  const { stdout } = await runGit(folder, ["ls-files", "--full-name", "--", ":/"]);
  const ours = [promptName, lessonsName, claudeName, ".gitignore"];
  const others = stdout.split("\n").filter((path) => path !== "" && !path.startsWith(`${researchesName}/`));
  return others.some((path) => !ours.includes(path));
}
