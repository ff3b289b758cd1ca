import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { LedgerLine } from "../../engine/generated/ledger.js";
import type { RequirementsResult } from "../generated/result-requirements.js";
import type { Field, Rrd, Seed } from "../generated/rrd.js";
import { hasCode } from "../../engine/lib/errors.js";
import { oneLine } from "../../engine/lib/sanitise.js";
import { clip, requirementsOfTopic } from "../search/topic-words.js";
import { type Redact, redactValue } from "../../engine/lib/redact.js";
import { withoutUndefined } from "../../engine/lib/without-undefined.js";
import { estimateTokens } from "../../engine/lib/tokens.js";
import type { AgentRun, Notes, Outcome, Unit, Workflow } from "../../engine/loop/types.js";
import { appendOnce, writeFileAtomic } from "../../engine/storage/atomic-file.js";
import { stateVersion } from "../../engine/storage/state/format-version.js";
import { formatLine } from "../../engine/storage/state/ledger.js";
import { criteriaFrom, type NewCriterion } from "../project-files/eligibility-criteria.js";
import { isUserSource } from "../papers/records/own-list.js";
import { formatRrd } from "../project-files/rrd-file.js";
import { withExplainedErrors } from "../../engine/storage/explain-system-error.js";
import { resultInstruction, unitBlock } from "./brief/write-brief.js";
import { withErrorVerdict } from "../../engine/loop/in-workflows.js";
import { fill, type Prompt } from "./brief/prompt-file.js";
import { checkResult, saveAnswer, readResult, reasonsOf } from "../../engine/storage/result-file.js";
import { deriveStatistics } from "../derived/statistics.js";
import type { Workspaces } from "./workspace.js";
import { makeFolder } from "../../engine/storage/regular-file.js";
import { schemaAddress } from "../../engine/storage/schema-check.js";
import { ledgerFile, resultName } from "../../engine/lib/layout.js";
import { ideasName, progressFile, rrdFile } from "../project-files/layout.js";
import { ledgerLine } from "../../engine/loop/run-record/ledger-line.js";

type Rubric = NonNullable<Rrd["rubric"]>;
type RequiredName = "name" | "description" | "focus_area";
/** The requirements of a new project, besides the user's options. */
type Requirements = Omit<RequirementsResult, "unit" | RequiredName> & Required<Pick<RequirementsResult, RequiredName>>;

interface CreateOptions {
  readonly topic: string;
  /** The target number of papers. */
  readonly papers: number;
  readonly sources: readonly string[];
  /** More keywords for the search. */
  readonly keywords?: readonly string[];
  /** The name of the project and of its folder, if the user gave one. */
  readonly name?: string;
  /** The user's eligibility criteria; criteria of the agent follow them. */
  readonly criteria?: readonly NewCriterion[];
  /**
   * How papers are scored. Absent: not scored if there are criteria or if the user provides all papers, else scored by
   * the original rubrics.
   */
  readonly rubric?: Rubric;
  /** The fields that each reading extracts. */
  readonly fields?: readonly Field[];
  /** Papers that certainly belong to the topic. */
  readonly seeds?: readonly Seed[];
  /** Bounds of the date of publication, YYYY-MM-DD. */
  readonly from?: string;
  readonly until?: string;
  readonly screening?: Rrd["requirements"]["screening"];
  readonly columns?: Rrd["requirements"]["columns"];
  /** `false`: no product ideas at the end, with any rubric. */
  readonly ideas?: false;
  /** Absolute path of the folder for projects. */
  readonly parent: string;
  readonly now: () => number;
}

interface AskOptions extends CreateOptions {
  /** The sources, if the user named them. */
  readonly namedSources?: readonly string[];
  readonly prompt: Prompt;
  /** The user's MISSION.md, and their skill for making requirements; empty if missing. */
  readonly mission?: string;
  readonly skill?: string;
  readonly workspaces: Workspaces;
  /** Called with the folder of the new project. */
  readonly onCreated: (folder: string) => void;
  /** Called with the ledger line of every iteration, because there is no folder with a ledger yet. */
  readonly onLedgerLine?: (line: LedgerLine) => void;
  /** Removes the user's secrets from the agent's result. */
  readonly redact: Redact;
  /** Called at the end of the run. */
  readonly close?: () => Promise<void>;
}

interface CreateState {
  readonly folder?: string;
  readonly refusedCount: number;
}

const unit: Unit = {
  kind: "requirements",
  id: "requirements",
  phase: "DISCOVERY",
  title: "Requirements from the topic",
};

/**
 * Makes a project from the user's words alone, without an agent. Returns its folder. Without dates, all publication
 * dates count.
 */
export async function createFromTopic(options: CreateOptions): Promise<string> {
  const { keywords = [], name, topic } = options;
  const topicRequirements = requirementsOfTopic(topic);
  const newKeywords = keywords.length === 0 ? topicRequirements.keywords : [];
  return writeResearch(options, { ...topicRequirements, keywords: newKeywords, ...withoutUndefined({ name }) }, []);
}

/** One iteration that turns a topic into a new research folder with a valid rrd.json. */
export function createWorkflow(options: AskOptions): Workflow<CreateState> {
  let state: CreateState = { refusedCount: 0 };
  let startedCount = 0;
  const lines: LedgerLine[] = [];
  const record = (run: AgentRun, outcome: LedgerLine["outcome"], reasons?: string[]) => {
    const line = { ...ledgerLine(unit, run, new Date(options.now()), outcome), ...withoutUndefined({ reasons }) };
    lines.push(line);
    options.onLedgerLine?.(line);
  };
  return {
    name: "new",
    load: async () => state,
    next: ({ folder, refusedCount }, busy) => {
      if (busy.length > 0) return "wait";
      if (folder !== undefined) return { verdict: "complete", reason: `The project is ready in ${folder}.` };
      const reason =
        "The agent's requirements were refused three times; try another --agent, or write rrd.json by hand.";
      return refusedCount < 3 ? unit : { verdict: "blocked", reason };
    },
    progress: ({ folder }) => ({ done: folder === undefined ? 0 : 1, total: 1 }),
    close: options.close,
    brief: (_state, _unit, _prepared, notes) =>
      withErrorVerdict(async () => {
        startedCount += 1;
        const workspace = await options.workspaces.create(startedCount);
        const text = requirementsBrief(options, notes, join(workspace, resultName));
        const access = { web: false, read: false, everything: false };
        return {
          brief: { iteration: startedCount, text, tokens: estimateTokens(text), workspace, access },
          context: undefined,
        };
      }),
    accept: (_state, _unit, done) =>
      withErrorVerdict(async (): Promise<Outcome> => {
        if ("prepared" in done) throw new Error("requirements are not settled without an agent");
        const { run } = done;
        if (run.failure !== undefined) {
          record(run, "failed", [run.failure.message]);
          return { outcome: "failed", failure: run.failure };
        }
        await saveAnswer(run.brief.workspace, run.message);
        const requirements = await requirementsIn(join(run.brief.workspace, resultName), options.redact);
        await options.workspaces.remove(run.iteration);
        if ("reasons" in requirements) {
          record(run, "refused", requirements.reasons);
          state = { refusedCount: state.refusedCount + 1 };
          return { outcome: "refused", reasons: requirements.reasons };
        }
        const { keywords } = requirements;
        record(run, "accepted");
        const folder = await writeResearch(options, withoutGivenOptions(options, requirements), lines);
        state = { ...state, folder };
        options.onCreated(folder);
        return { outcome: "accepted", summary: `${keywords.length} keywords: ${keywords.join(", ")}` };
      }),
  };
}

/** The part of the brief about eligibility criteria: how to propose them, and which the user has given. */
function criteriaText(givenCriteria: readonly NewCriterion[] = []): string {
  const instruction =
    'Where the topic itself says which papers count and which do not (a kind of study, a population, a language), add `"criteria": [{"kind": "include", "text": "a statement that is true of a paper or not"}]` to the result; `kind` is include or exclude, ten at most. Add nothing where the topic says nothing of that kind: each paper must answer all of them.';
  const list = givenCriteria.map(({ kind, text }) => `- ${kind}: ${text}`);
  return [
    instruction,
    ...(list.length === 0 ? [] : ["These are decided already; do not repeat or contradict them:", list.join("\n")]),
  ].join("\n\n");
}

/** The options that the user has given, for the unit. The agent adds only what is missing. */
function givenOptions({
  name,
  keywords = [],
  namedSources: sources,
  from,
  until,
  rubric,
  fields = [],
  seeds = [],
}: AskOptions) {
  return {
    ...withoutUndefined({ name, sources, published_from: from, published_until: until, rubric }),
    ...(keywords.length === 0 ? {} : { keywords }),
    ...(fields.length === 0 ? {} : { fields: fields.map((field) => field.name) }),
    ...(seeds.length === 0 ? {} : { papers_that_belong: seeds.length }),
  };
}

const givenOptionsText =
  "The unit lists under `said` what the person has already decided. Follow it, leave it out of the result, and ask no open question about it. If it has `keywords`, give only those that are missing, or none. If it has dates, leave out both windows.";

/** The options that answer an open question, by the field of the question. */
const optionsOfField: Readonly<Record<string, readonly (keyof AskOptions)[]>> = {
  published_from: ["from"],
  published_until: ["until"],
  time_window_days: ["from", "until"],
  historical_lookback_days: ["from", "until"],
  sources: ["namedSources"],
  rubric: ["rubric"],
};

/** The agent's result without fields that the user has given. Missing fields are derived from the topic. */
function withoutGivenOptions(options: AskOptions, result: RequirementsResult): Requirements {
  const topicRequirements = requirementsOfTopic(options.topic);
  const { open_questions = [], time_window_days, historical_lookback_days, ...rest } = result;
  const isDated = options.from !== undefined || options.until !== undefined;
  const isOpen = ({ field = "" }: { readonly field?: string }) =>
    !(optionsOfField[field.split(/[./]/).at(-1) ?? ""] ?? []).some((name) => options[name] !== undefined);
  const { keywords = [] } = options;
  return {
    ...topicRequirements,
    ...rest,
    ...(isDated
      ? {}
      : { time_window_days: time_window_days ?? 365, historical_lookback_days: historical_lookback_days ?? 1095 }),
    keywords: result.keywords.length === 0 && keywords.length === 0 ? topicRequirements.keywords : result.keywords,
    name: options.name ?? nameFrom(result.name, topicRequirements.name),
    open_questions: open_questions.filter(isOpen),
  };
}

/** The name that the agent proposes, cut to 80 tokens; the topic's name if it proposes none. */
function nameFrom(proposedName: string | undefined, topicName: string): string {
  const name = oneLine(proposedName ?? "");
  return /[\p{L}\p{N}]/u.test(name) ? clip(name, 80) : topicName;
}

const skillText =
  "A skill of this folder follows. Go by what it says of choosing and asking. The form of the result is the one described above: write no other file, whatever the skill says, and ask nobody.";

function requirementsBrief(options: AskOptions, { refusal }: Notes, resultFile: string): string {
  const { prompt, topic, criteria, mission = "", skill = "" } = options;
  const given = givenOptions(options);
  const values = { PROJECT: topic, PHASE: "REQUIREMENTS", UNIT: unit.id };
  const reasons = refusal?.map((reason) => `- ${reason}`).join("\n");
  const parts = [
    fill(prompt("COMMON"), values),
    fill(prompt("REQUIREMENTS"), values),
    Object.keys(given).length === 0 ? "" : `# What is decided already\n\n${givenOptionsText}`,
    `# Eligibility criteria\n\n${criteriaText(criteria)}`,
    mission === "" ? "" : `# MISSION.md of this folder\n\n${mission}`,
    skill === "" ? "" : `# How this person wants requirements to be made\n\n${skillText}\n\n${skill}`,
    reasons === undefined ? "" : `# The last result was refused\n\n${reasons}`,
    `# The unit\n\n${unitBlock({ kind: "requirements", unit: unit.id, topic, ...(Object.keys(given).length === 0 ? {} : { said: given }) })}`,
    resultInstruction(resultFile),
  ];
  return `${parts.filter((part) => part !== "").join("\n\n")}\n`;
}

/** The requirements in a result, or the reasons why they are refused. */
async function requirementsIn(path: string, redact: Redact): Promise<RequirementsResult | { reasons: string[] }> {
  const result = await readResult(path);
  if ("reason" in result) return { reasons: [redact(result.reason)] };
  const { value, problems } = checkResult("result-requirements", redactValue(result.value, redact).value);
  if (problems.length > 0) return { reasons: reasonsOf(problems).map(redact) };
  return value as RequirementsResult;
}

async function writeResearch(
  options: CreateOptions,
  requirements: Requirements,
  lines: readonly LedgerLine[],
): Promise<string> {
  const time = new Date(options.now());
  const folder = await withExplainedErrors(options.parent, () =>
    makeFreeFolder(options.parent, `${slug(requirements.name)}-${time.toISOString().slice(0, 10)}`),
  );
  await writeFileAtomic(rrdFile(folder), formatRrd(newRrd(options, requirements)));
  await appendOnce(progressFile(folder), {
    offset: 0,
    text: `# Research-Ralph Progress Log\nStarted: ${time.toISOString()}\nTopic: ${options.topic.replace(/\s+/g, " ")}\n\n`,
  });
  if (lines.length > 0) await appendOnce(ledgerFile(folder), { offset: 0, text: lines.map(formatLine).join("") });
  return folder;
}

/** Letters that NFKD does not split, with their replacement in ASCII. */
const asciiLetters: Readonly<Record<string, string>> = Object.fromEntries(
  "ß=ss æ=ae œ=oe ø=o đ=d ð=d þ=th ł=l ı=i".split(" ").map((pair) => pair.split("=")),
);

/** Maximum length in bytes, so that the path of a report fits a line of a terminal. A letter can have four bytes. */
const maxSlugBytes = 40;

/**
 * A name for a folder and a branch: lower case, words joined by hyphens, Latin letters without accents. Letters of
 * other scripts stay, so that such topics have different names. At most 40 bytes: whole words, or the beginning of the
 * first word.
 */
export function slug(name: string): string {
  const plain = name
    .normalize("NFKD")
    .replace(/(\p{Script=Latin})\p{M}+/gu, "$1")
    .toLowerCase()
    .normalize("NFC")
    .replace(/[ßæœøđðþłı]/g, (letter) => asciiLetters[letter] ?? letter);
  const words = plain.match(/[\p{L}\p{N}][\p{L}\p{M}\p{N}]*/gu) ?? [];
  return joinWhileShort(words, "-") || joinWhileShort([...(words[0] ?? "research")], "");
}

/** The first parts that fit into a slug, joined. */
function joinWhileShort(parts: readonly string[], separator: string): string {
  const firstTooMany = parts.findIndex(
    (_, index) => Buffer.byteLength(parts.slice(0, index + 1).join(separator)) > maxSlugBytes,
  );
  return parts.slice(0, firstTooMany < 0 ? parts.length : firstTooMany).join(separator);
}

/**
 * Makes a folder with this name, or with the first free number after the name: another process may make a folder at the
 * same time.
 */
async function makeFreeFolder(parent: string, name: string): Promise<string> {
  makeFolder(parent);
  for (let number = 1; ; number += 1) {
    const folder = join(parent, number === 1 ? name : `${name}-${number}`);
    try {
      await mkdir(folder);
      return folder;
    } catch (error) {
      if (!hasCode(error, "EEXIST")) throw error;
    }
  }
}

/** The first state of a new project. The fields have the same order as in the original tool. */
export function newRrd(
  options: Pick<
    CreateOptions,
    | "papers"
    | "sources"
    | "columns"
    | "keywords"
    | "criteria"
    | "rubric"
    | "fields"
    | "seeds"
    | "from"
    | "until"
    | "screening"
    | "ideas"
  > &
    Partial<Pick<CreateOptions, "topic">>,
  requirements: Requirements,
): Rrd {
  const terms = requirements.terms ?? {};
  const criteria = criteriaFrom(options.criteria ?? [], requirements.criteria ?? []);
  // Papers that the user provides were chosen by them, so they are not scored for a market.
  const areAllFromUser = options.sources.length > 0 && options.sources.every(isUserSource);
  const { rubric = criteria.length === 0 && !areAllFromUser ? "original" : "none" } = options;
  const rrd: Rrd = {
    $schema: schemaAddress("rrd"),
    format: stateVersion,
    project: `Research: ${requirements.name}`,
    branchName: `research/${slug(requirements.name)}`,
    ...withoutUndefined({ question: options.topic?.replace(/\s+/g, " ").trim() }),
    description: requirements.description,
    mission: {
      ...(rubric === "original" ? { blue_ocean_scoring: true, min_blue_ocean_score: 12, min_combined_score: 25 } : {}),
      strategic_focus: requirements.strategic_focus ?? "balanced",
    },
    rubric,
    requirements: {
      focus_area: requirements.focus_area,
      keywords: [...new Set([...(options.keywords ?? []), ...requirements.keywords])],
      ...withoutUndefined({
        time_window_days: requirements.time_window_days,
        historical_lookback_days: requirements.historical_lookback_days,
        published_from: options.from,
        published_until: options.until,
        screening: options.screening,
      }),
      target_papers: options.papers,
      sources: [...options.sources],
      ...withoutUndefined({ columns: options.columns }),
      ...(rubric === "original" ? { min_score_to_present: 18 } : {}),
      ...withoutUndefined({ criteria: criteria.length === 0 ? undefined : criteria }),
      ...(options.fields === undefined || options.fields.length === 0 ? {} : { fields: [...options.fields] }),
    },
    domain_glossary: { enabled: Object.keys(terms).length > 0, terms },
    open_questions: requirements.open_questions ?? [],
    ...(options.seeds === undefined || options.seeds.length === 0 ? {} : { seeds: [...options.seeds] }),
    phase: "DISCOVERY",
    timing: null,
    handoff: {
      product_ideation: {
        enabled: rubric === "original" && options.ideas !== false,
        min_ideas: 3,
        max_ideas: 12,
        output_filename: ideasName,
        ranking_goal: "pick_one_for_prd",
        assumed_constraints: { team_size: 3, time_horizon_months: 3, deployment_preference: ["saas", "on_prem"] },
      },
    },
    papers_pool: [],
    insights: [],
    visited_urls: [],
    blocked_sources: [],
  };
  return { ...rrd, statistics: deriveStatistics(rrd) };
}
