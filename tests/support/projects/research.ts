import { defaultHistoryLimits } from "../../../src/engine/lib/history-limits.js";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import type { CheckScope } from "../../../src/research/units/judged-result.js";
import type { Sharing } from "../../../src/research/units/unit-kind.js";
import type { SearchSession } from "../../../src/research/screening/paper-sources.js";
import { candidatesOf } from "../../../src/research/search/candidates.js";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { LedgerLine } from "../../../src/engine/generated/ledger.js";
import type { AnalysisResult } from "../../../src/research/generated/result-analysis.js";
import type { ReportResult } from "../../../src/research/generated/result-report.js";
import type { Paper, Rrd } from "../../../src/research/generated/rrd.js";
import type { Agent, AgentEvent, Brief, LoopEvent, LoopOptions, Verdict } from "../../../src/engine/loop/types.js";
import { runLoop } from "../../../src/engine/loop/run-loop.js";
import { limitIterations } from "../../../src/engine/loop/stop-conditions/limits.js";
import { createSummariser } from "../../../src/engine/loop/history/summarise.js";
import { withHistory } from "../../../src/engine/loop/history/keep-history.js";
import { buildText, type DocumentText } from "../../../src/text/documents/text/document-text.js";
import { openResearch, readResearch } from "../../../src/research/project-files/research.js";
import { newRrd } from "../../../src/research/workflow/new-research.js";
import { redactFor } from "../../../src/engine/lib/redact.js";
import { renderFor } from "../../../src/research/report/documents/documents.js";
import { prepareUnit } from "../../../src/research/workflow/prepare.js";
import type { Library } from "../../../src/research/units/unit-kind.js";
import { derive } from "../../../src/research/workflow/derive.js";
import { type ResearchWorkflow, researchWorkflow } from "../../../src/research/workflow/workflow.js";
import { workspacesOf } from "../../../src/research/workflow/workspace.js";
import { fakeClock } from "../clock.js";
import type { PaperRecord } from "../../../src/research/papers/paper-record.js";
import { listener } from "../network/listener.js";
import type { Material } from "../../../src/research/units/unit-kind.js";
import type { ResearchState } from "../../../src/research/units/unit-kind.js";
import type { Unit } from "../../../src/engine/loop/types.js";
import { alone } from "../processes/alone.js";

/** A temporary folder that goes with the test. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "rr-test-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

export const paper = (id: string, over: Partial<Paper> = {}): Paper => ({
  id,
  title: `On the matter of ${id}`,
  url: `https://example.org/${id}`,
  authors: ["Ada Author"],
  date: "2026-01-02",
  source: "arXiv",
  abstract: `What ${id} is about.`,
  priority: 3,
  status: "pending",
  ...over,
});

export function rrdWith(papers: readonly Paper[], over: Partial<Rrd> = {}): Rrd {
  const rrd = newRrd(
    { papers: Math.max(papers.length, 1), sources: ["arXiv", "web"] },
    {
      name: "a small matter",
      description: "Small matters.",
      focus_area: "matter",
      keywords: ["small", "matter"],
      time_window_days: 365,
      historical_lookback_days: 1095,
    },
  );
  return { ...rrd, papers_pool: [...papers], phase: papers.length > 0 ? "ANALYSIS" : "DISCOVERY", ...over };
}

export const facts =
  "The method reached 87.5 % accuracy on 1,200 samples. It needs 14 minutes on one machine. We did not test other machines.";
export const paperText = (id: string, body = facts): DocumentText =>
  buildText([{ label: "§ 1 Results", text: `## 1 Results\n\nThis is the text of ${id}. ${body}` }], {
    kind: "markdown",
    depth: "full",
    title: `On the matter of ${id}`,
  });

const nothingFound: SearchSession = {
  works: [],
  excludedWorks: [],
  steps: [],
  listings: [],
  candidates: candidatesOf([], []),
  candidatesSha256: "",
  skippedCount: 0,
  mayLeadOn: false,
};

/** A library that has a text for every paper and finds nothing elsewhere, or what `over` says. */
export const library = (over: Partial<Library> & { offered?: readonly PaperRecord[] } = {}): Library => ({
  serves: (source) => source === "samples",
  candidates: async () => over.offered ?? [],
  text: async ({ id }) => ({ text: paperText(id) }),
  textNow: async () => undefined,
  services: () => [],
  substitution: () => undefined,
  search: async () => nothingFound,
  updates: async () => new Map(),
  ownRecords: async () => new Map(),
  about: async () => ({ code: [], unchecked: [] }),
  ...over,
});

const points = { novelty: 3, feasibility: 4, time_to_poc: 4, value_market: 3, defensibility: 2, adoption: 3 };
const strategic = { market_creation: 3, first_mover_window: 2, network_effects: 2, strategic_clarity: 4 };

/** A valid reading of a paper whose text is `paperText`: 19 + 11 = 30 of 50. */
export const reading = (
  unit: string,
  over: Partial<AnalysisResult> = {},
): AnalysisResult & Required<Pick<AnalysisResult, "scores">> => ({
  unit,
  summary: "It works.",
  methodology: "It measures.",
  results: "87.5 % on 1,200 samples.",
  limitations: "One machine.",
  implementations_found: [],
  commercialized: null,
  scores: { execution: points, blue_ocean: strategic },
  evidence: [
    { claim: "It is accurate.", quote: "The method reached 87.5 % accuracy on 1,200 samples." },
    { claim: "It is quick.", quote: "It needs 14 minutes on one machine." },
  ],
  insights: [{ insight: "Fourteen minutes are enough.", tags: ["time"] }],
  notes: "Solid.",
  ...over,
});

/** A narrative that rests on this quote; on none where the project has none. */
export const narrative = (over: Partial<ReportResult> = {}, handle: string | null = "p1#2"): ReportResult => ({
  unit: "report",
  question: "How long does it take?",
  answer: [{ text: "It can be done in 14 minutes.", rests_on: handle === null ? [] : [handle] }],
  findings: handle === null ? [] : [{ text: "Fourteen minutes are enough.", rests_on: [handle] }],
  agreed: [],
  disputed: [],
  gaps: [],
  themes: [],
  recommendations: [{ priority: "high", text: "Build it.", rests_on: handle === null ? [] : [handle] }],
  ...over,
});

/** The handle of the first quote that the unit of a report shows; null where it shows none. */
export const shownHandle = ({ papers }: Record<string, unknown>): string | null =>
  (papers as readonly { quotes: readonly { handle: string }[] }[]).flatMap(({ quotes }) => quotes)[0]?.handle ?? null;

export const idea = (over: object = {}) => ({
  name: "Fast meter",
  one_liner: "Measures in minutes.",
  problem: { who: "labs", pain: "slow", why_now: "cheap" },
  solution: { what: "a meter", key_features: [], mvp_scope: [], out_of_scope: [], integration_points: [] },
  market: { segment: "B2B", buyer: "labs", users: [], alternatives: [], differentiators: [] },
  evidence: { paper_ids: ["p1"], insight_ids: ["insight_001"], notes: "It follows." },
  risks: [],
  open_questions: [],
  scores: { execution: points, blue_ocean: strategic, confidence: 0.5 },
  recommended_next_steps: [],
  recommended_for_prd: false,
  ...over,
});

export const ideas = (over: object = {}) => ({
  unit: "ideas",
  ideas: [idea({ recommended_for_prd: true }), idea({ name: "Second" }), idea({ name: "Third" })],
  ...over,
});

/**
 * What a scripted agent leaves behind for a brief: an object for result.json, text for it, or nothing; and its last
 * words.
 */
export interface Answer {
  readonly result?: unknown;
  readonly text?: string;
  readonly message?: string;
  readonly end?: Partial<Extract<AgentEvent, { type: "end" }>>;
  /** Done in the workspace before anything else. */
  readonly also?: (brief: Brief) => void;
}

/** An agent inside this process that answers each brief from a script; everything around it is real. */
export const scriptedAgent = (answer: (unit: Record<string, unknown>, brief: Brief) => Answer): Agent => ({
  name: "scripted",
  confinement: "workspace",
  async *run(brief) {
    const unit = JSON.parse(/<unit>\n([\s\S]*?)\n<\/unit>/.exec(brief.text)?.[1] ?? "{}") as Record<string, unknown>;
    const said = answer(unit, brief);
    said.also?.(brief);
    if (said.text !== undefined) writeFileSync(join(brief.workspace, "result.json"), said.text);
    else if (said.result !== undefined)
      writeFileSync(join(brief.workspace, "result.json"), JSON.stringify(said.result));
    yield {
      type: "usage",
      usage: { input: 1000, cached: 0, output: 50, requests: 2 },
      cost_usd: 0.01,
      model: "script-1",
    };
    yield { type: "end", message: said.message ?? "Done.", ...said.end };
  },
});

/** An agent that does everything right. */
export const goodAgent = (
  over: (unit: Record<string, unknown>, text: string) => Answer | undefined = () => undefined,
): Agent =>
  scriptedAgent((unit, brief) => {
    const special = over(unit, brief.text);
    if (special !== undefined) return special;
    if (unit["kind"] === "paper") return { result: reading(String(unit["unit"])) };
    if (unit["kind"] === "report") return { result: narrative({}, shownHandle(unit)) };
    if (unit["kind"] === "ideas") return { result: ideas(), message: "All done.\n\n<promise>COMPLETE</promise>" };
    return { result: { unit: unit["unit"], papers: [], sources: [] } };
  });

/** What a preparation of this unit brings where it brings something. */
export async function materialFor(given: Library, state: ResearchState, unit: Unit): Promise<Material | undefined> {
  const outside = { folder: "/nowhere", library: given, isPatient: true, ...fakeClock() };
  const prepared = await prepareUnit(outside, state, unit, new AbortController().signal);
  return "ready" in prepared ? prepared.ready.material : "settled" in prepared ? prepared.settled.material : undefined;
}

/** How the history of a run is summarised. */
type History = Omit<Parameters<typeof createSummariser>[0], "tell" | "now">;

/** A research folder on the disk, and how to run agents over it. */
export function researchFolder(rrd: Rrd, given: Library = library()) {
  const root = temporaryFolder();
  const folder = join(root, "researches", "a-research");
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "rrd.json"), JSON.stringify(rrd, null, 2));
  writeFileSync(join(folder, "progress.txt"), "# Research-Ralph Progress Log\n\n");
  return {
    root,
    folder,
    read: () => readResearch(folder),
    async run(
      agent: Agent,
      most = 40,
      {
        history,
        git = false,
        veto = async () => [],
        sharing = {},
        check,
        abstracts = false,
        wrapped = (workflow) => workflow,
        ...more
      }: Partial<LoopOptions> & {
        readonly history?: History;
        readonly git?: boolean;
        readonly veto?: () => Promise<string[]>;
        readonly sharing?: Sharing;
        readonly check?: CheckScope;
        readonly abstracts?: boolean;
        readonly wrapped?: (workflow: ResearchWorkflow) => ResearchWorkflow;
      } = {},
    ): Promise<{ verdict: Verdict; events: LoopEvent[]; rrd: Rrd; ledger: readonly LedgerLine[] }> {
      const clock = more.clock ?? fakeClock();
      const { events, tell } = listener(clock);
      const research = await openResearch(folder, {
        derive,
        git,
        notify: (level, message) => void tell({ type: "notice", level, message }),
      });
      const never = new AbortController().signal;
      const workspaces = workspacesOf(join(root, "state"), folder);
      await workspaces.sweep();
      const workflow = wrapped(
        researchWorkflow({
          research,
          library: async () => given,
          workspaces,
          root,
          now: clock.now,
          sleep: clock.sleep,
          learn: false,
          redact: redactFor({}),
          experience: { usage: {}, from: "" },
          memory: defaultHistoryLimits,
          render: renderFor,
          veto,
          sharing,
          abstracts,
          ...(check && { check }),
          close: research.close,
        }),
      );
      const whole =
        history === undefined
          ? workflow
          : withHistory(workflow, createSummariser({ ...history, tell, now: clock.now }));
      const verdict = await runLoop(whole, agent, {
        ...alone(agent),
        tell,
        stopConditions: [limitIterations(most)],
        clock,
        finish: never,
        abort: never,
        ...more,
      });
      return { verdict, events, ...(await readResearch(folder)) };
    },
  };
}

/** The same points for every dimension of both rubrics. */
export const scoresOfAll = (points: number) => ({
  execution: {
    novelty: points,
    feasibility: points,
    time_to_poc: points,
    value_market: points,
    defensibility: points,
    adoption: points,
  },
  strategic: {
    market_creation: points,
    first_mover_window: points,
    network_effects: points,
    strategic_clarity: points,
  },
});

/** A paper that was judged, with so many points for every dimension. */
export const decided = (id: string, status: Paper["status"], points: number, decision: string): Paper =>
  paper(id, {
    status,
    decision,
    score: points * 10,
    score_breakdown: { execution: scoresOfAll(points).execution, blue_ocean: scoresOfAll(points).strategic },
  });
