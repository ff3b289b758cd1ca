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
import { isBrought } from "../papers/records/own-list.js";
import { formatRrd } from "../project-files/rrd-file.js";
import { withExplainedErrors } from "../../engine/storage/explain-system-error.js";
import { closingWords, unitBlock } from "./brief/write-brief.js";
import { orVerdict } from "../../engine/loop/in-workflows.js";
import { fill, type Prompt } from "./brief/prompt-file.js";
import { checkedResult, keepAnswer, readResult, reasonsOf } from "../../engine/storage/result-file.js";
import { deriveStatistics } from "../derived/statistics.js";
import type { Workspaces } from "./workspace.js";
import { makeFolder } from "../../engine/storage/regular-file.js";
import { schemaAddress } from "../../engine/storage/schema-check.js";
import { ledgerFile } from "../../engine/lib/layout.js";
import { ideasName, progressFile, rrdFile } from "../project-files/layout.js";
import { resultName } from "../../engine/lib/layout.js";
import { ledgerLine } from "../../engine/loop/run-record/ledger-line.js";

type Rubric = NonNullable<Rrd["rubric"]>;
type Named = "name" | "description" | "focus_area";
/** What a project begins with, besides what the person says. */
type Requirements = Omit<RequirementsResult, "unit" | Named> & Required<Pick<RequirementsResult, Named>>;

interface CreateOptions {
  readonly topic: string;
  /** Target of the new research. */
  readonly papers: number;
  readonly sources: readonly string[];
  /** Keywords that the search uses as well. */
  readonly keywords?: readonly string[];
  /** Of the project and its folder, where the person gave one. */
  readonly name?: string;
  /** Eligibility criteria that a person gave; those that the agent proposes come behind them. */
  readonly criteria?: readonly NewCriterion[];
  /**
   * How papers are scored; absent: not at all where there are criteria, or where a person brings all the papers, else
   * by the original's rubrics.
   */
  readonly rubric?: Rubric;
  /** What each reading extracts. */
  readonly fields?: readonly Field[];
  /** Papers that surely belong. */
  readonly seeds?: readonly Seed[];
  /** Bounds of the date of publication, YYYY-MM-DD. */
  readonly from?: string;
  readonly until?: string;
  readonly screening?: Rrd["requirements"]["screening"];
  readonly columns?: Rrd["requirements"]["columns"];
  /** No product ideas at the end, whatever the rubric. */
  readonly ideas?: false;
  /** The folder that holds projects. Absolute. */
  readonly parent: string;
  readonly now: () => number;
}

interface AskOptions extends CreateOptions {
  /** The sources, where the person named them. */
  readonly named?: readonly string[];
  readonly prompt: Prompt;
  /** The person's MISSION.md, and their skill for making requirements; empty: none. */
  readonly mission?: string;
  readonly skill?: string;
  readonly workspaces: Workspaces;
  /** Told the new research's folder. */
  readonly created: (folder: string) => void;
  /** Told every iteration's line of the ledger: without a folder nobody else keeps it. */
  readonly recorded?: (line: LedgerLine) => void;
  /** Takes the user's secrets out of what the agent left. */
  readonly redact: Redact;
  /** Puts everything away at the end of the run. */
  readonly close?: () => Promise<void>;
}

interface CreateState {
  readonly folder?: string;
  readonly refused: number;
}

const unit: Unit = {
  kind: "requirements",
  id: "requirements",
  phase: "DISCOVERY",
  title: "Requirements from the topic",
};

/** Makes a project of what a person said alone, at once; its folder. Without dates no publication is too old. */
export async function createOfWords(options: CreateOptions): Promise<string> {
  const { keywords = [], name, topic } = options;
  const made = requirementsOfTopic(topic);
  const asked = keywords.length === 0 ? made.keywords : [];
  return writeResearch(options, { ...made, keywords: asked, ...withoutUndefined({ name }) }, []);
}

/** One iteration that turns a topic into a new research folder with a valid rrd.json. */
export function createWorkflow(options: AskOptions): Workflow<CreateState> {
  let state: CreateState = { refused: 0 };
  let started = 0;
  const lines: LedgerLine[] = [];
  const record = (run: AgentRun, outcome: LedgerLine["outcome"], reasons?: string[]) => {
    const line = { ...ledgerLine(unit, run, new Date(options.now()), outcome), ...withoutUndefined({ reasons }) };
    lines.push(line);
    options.recorded?.(line);
  };
  return {
    name: "new",
    load: async () => state,
    next: ({ folder, refused }, busy) => {
      if (busy.length > 0) return "wait";
      if (folder !== undefined) return { verdict: "complete", reason: `The project is ready in ${folder}.` };
      const reason =
        "The agent's requirements were refused three times; try another --agent, or write rrd.json by hand.";
      return refused < 3 ? unit : { verdict: "blocked", reason };
    },
    progress: ({ folder }) => ({ done: folder === undefined ? 0 : 1, total: 1 }),
    close: options.close,
    brief: (_state, _unit, _prepared, notes) =>
      orVerdict(async () => {
        started += 1;
        const workspace = await options.workspaces.create(started);
        const text = requirementsBrief(options, notes, join(workspace, resultName));
        const access = { web: false, read: false, everything: false };
        return {
          brief: { iteration: started, text, tokens: estimateTokens(text), workspace, access },
          context: undefined,
        };
      }),
    accept: (_state, _unit, done) =>
      orVerdict(async (): Promise<Outcome> => {
        if ("prepared" in done) throw new Error("requirements are not settled without an agent");
        const { run } = done;
        if (run.failure !== undefined) {
          record(run, "failed", [run.failure.message]);
          return { outcome: "failed", failure: run.failure };
        }
        await keepAnswer(run.brief.workspace, run.message);
        const requirements = await requirementsIn(join(run.brief.workspace, resultName), options.redact);
        await options.workspaces.remove(run.iteration);
        if ("reasons" in requirements) {
          record(run, "refused", requirements.reasons);
          state = { refused: state.refused + 1 };
          return { outcome: "refused", reasons: requirements.reasons };
        }
        const { keywords } = requirements;
        record(run, "accepted");
        const folder = await writeResearch(options, openOnly(options, requirements), lines);
        state = { ...state, folder };
        options.created(folder);
        return { outcome: "accepted", summary: `${keywords.length} keywords: ${keywords.join(", ")}` };
      }),
  };
}

/** How an agent proposes eligibility criteria, and which ones stand already. */
function criteriaWords(given: readonly NewCriterion[] = []): string {
  const ask =
    'Where the topic itself says which papers count and which do not (a kind of study, a population, a language), add `"criteria": [{"kind": "include", "text": "a statement that is true of a paper or not"}]` to the result; `kind` is include or exclude, ten at most. Add nothing where the topic says nothing of that kind: each paper must answer all of them.';
  const list = given.map(({ kind, text }) => `- ${kind}: ${text}`);
  return [
    ask,
    ...(list.length === 0 ? [] : ["These stand already; do not repeat or contradict them:", list.join("\n")]),
  ].join("\n\n");
}

/** All that the person has said already, for the unit: an agent is asked for the rest. */
function saidAlready({
  name,
  keywords = [],
  named: sources,
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

const saidWords =
  "The person has said what the unit lists under `said`, and it stands: leave it out of the result, ask no open question about it, and go by it. Where `keywords` stand there, give only those that are missing, or none. Where dates stand there, leave out both windows.";

/** What is asked of a question's field, by the names of what answers it. */
const answeredBy: Readonly<Record<string, readonly (keyof AskOptions)[]>> = {
  published_from: ["from"],
  published_until: ["until"],
  time_window_days: ["from", "until"],
  historical_lookback_days: ["from", "until"],
  sources: ["named"],
  rubric: ["rubric"],
};

/** A result without what the person has said, and with what the topic's words say where it is silent. */
function openOnly(options: AskOptions, result: RequirementsResult): Requirements {
  const made = requirementsOfTopic(options.topic);
  const { open_questions = [], time_window_days, historical_lookback_days, ...rest } = result;
  const isDated = options.from !== undefined || options.until !== undefined;
  const isOpen = ({ field = "" }: { readonly field?: string }) =>
    !(answeredBy[field.split(/[./]/).at(-1) ?? ""] ?? []).some((name) => options[name] !== undefined);
  const { keywords = [] } = options;
  return {
    ...made,
    ...rest,
    ...(isDated
      ? {}
      : { time_window_days: time_window_days ?? 365, historical_lookback_days: historical_lookback_days ?? 1095 }),
    keywords: result.keywords.length === 0 && keywords.length === 0 ? made.keywords : result.keywords,
    name: options.name ?? nameFrom(result.name, made.name),
    open_questions: open_questions.filter(isOpen),
  };
}

/** What an agent proposes, cut at a length; the topic's own words where it proposes none. */
function nameFrom(proposed: string | undefined, made: string): string {
  const name = oneLine(proposed ?? "");
  return /[\p{L}\p{N}]/u.test(name) ? clip(name, 80) : made;
}

const skillWords =
  "A skill of this folder follows. Go by what it says of choosing and asking. The form of the result is the one described above: write no other file, whatever the skill says, and ask nobody.";

function requirementsBrief(options: AskOptions, { refusal }: Notes, resultFile: string): string {
  const { prompt, topic, criteria, mission = "", skill = "" } = options;
  const said = saidAlready(options);
  const values = { PROJECT: topic, PHASE: "REQUIREMENTS", UNIT: unit.id };
  const reasons = refusal?.map((reason) => `- ${reason}`).join("\n");
  const parts = [
    fill(prompt("COMMON"), values),
    fill(prompt("REQUIREMENTS"), values),
    Object.keys(said).length === 0 ? "" : `# What stands already\n\n${saidWords}`,
    `# Eligibility criteria\n\n${criteriaWords(criteria)}`,
    mission === "" ? "" : `# MISSION.md of this folder\n\n${mission}`,
    skill === "" ? "" : `# How this person wants requirements to be made\n\n${skillWords}\n\n${skill}`,
    reasons === undefined ? "" : `# The last result was refused\n\n${reasons}`,
    `# The unit\n\n${unitBlock({ kind: "requirements", unit: unit.id, topic, ...(Object.keys(said).length === 0 ? {} : { said }) })}`,
    closingWords(resultFile),
  ];
  return `${parts.filter((part) => part !== "").join("\n\n")}\n`;
}

/** The requirements of a result, or what is wrong with them. */
async function requirementsIn(path: string, redact: Redact): Promise<RequirementsResult | { reasons: string[] }> {
  const result = await readResult(path);
  if ("reason" in result) return { reasons: [redact(result.reason)] };
  const { value, problems } = checkedResult("result-requirements", redactValue(result.value, redact).value);
  if (problems.length > 0) return { reasons: reasonsOf(problems).map(redact) };
  return value as RequirementsResult;
}

async function writeResearch(
  options: CreateOptions,
  requirements: Requirements,
  lines: readonly LedgerLine[],
): Promise<string> {
  const at = new Date(options.now());
  const folder = await withExplainedErrors(options.parent, () =>
    makeFreeFolder(options.parent, `${slug(requirements.name)}-${at.toISOString().slice(0, 10)}`),
  );
  await writeFileAtomic(rrdFile(folder), formatRrd(newRrd(options, requirements)));
  await appendOnce(progressFile(folder), {
    offset: 0,
    text: `# Research-Ralph Progress Log\nStarted: ${at.toISOString()}\nTopic: ${options.topic.replace(/\s+/g, " ")}\n\n`,
  });
  if (lines.length > 0) await appendOnce(ledgerFile(folder), { offset: 0, text: lines.map(formatLine).join("") });
  return folder;
}

/** Letters that Unicode takes for whole ones, as they are written where a keyboard has none of them. */
const spelt: Readonly<Record<string, string>> = Object.fromEntries(
  "ß=ss æ=ae œ=oe ø=o đ=d ð=d þ=th ł=l ı=i".split(" ").map((pair) => pair.split("=")),
);

/** Names of files are bounded in bytes, and letters of other scripts take two to four of them. */
const maxSlug = 60;

/**
 * A name for a folder and a branch: lower case, words with a hyphen between them, marks taken off Latin letters.
 * Letters of other scripts stay, composed, so that two topics never share a name for want of Latin ones. At most 60
 * bytes.
 */
export function slug(name: string): string {
  const plain = name
    .normalize("NFKD")
    .replace(/(\p{Script=Latin})\p{M}+/gu, "$1")
    .toLowerCase()
    .normalize("NFC")
    .replace(/[ßæœøđðþłı]/g, (letter) => spelt[letter] ?? letter);
  const words = plain.match(/[\p{L}\p{N}][\p{L}\p{M}\p{N}]*/gu) ?? [];
  let kept = "";
  for (const character of words.join("-")) {
    if (Buffer.byteLength(kept + character) > maxSlug) break;
    kept += character;
  }
  return kept.replace(/-$/, "") || "research";
}

/**
 * Makes a folder of this name, or of the name with the first free number behind it: another `new` may be at it in this
 * very moment.
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

/** The document that a new research starts with; the order of its fields is the original's. */
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
  // What a person brings was chosen by them: whether it opens a market is nobody's question.
  const isAllBrought = options.sources.length > 0 && options.sources.every(isBrought);
  const { rubric = criteria.length === 0 && !isAllBrought ? "original" : "none" } = options;
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
