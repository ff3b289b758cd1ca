import { isDeepStrictEqual } from "node:util";
import { withoutUndefined } from "../../engine/lib/without-undefined.js";
import type { Paper, Rrd } from "../generated/rrd.js";

/** What only accepted results write, and a person's decision on eligibility. */
const ofPapers = [
  "key",
  "source_key",
  "status",
  "score",
  "score_breakdown",
  "analysis",
  "decision",
  "notes",
  "read_depth",
  "text_sha256",
  "text_from",
  "retracted",
  "updates",
  "updates_check",
  "warnings",
  "answers",
  "extracted",
  "extracted_again",
  "settled",
  "fill_form",
  "held_scores",
  "excluded_by",
  "override",
  "iteration",
  "plugins",
  "refusals",
];
/**
 * What decides how papers are judged and what they may cost, and the words that briefs give to agents as the person's
 * own. A person sets it, and an agent would set it in the person's name.
 */
const onlyPersons = [
  "mission",
  "rubric",
  "budget",
  "project",
  "description",
  "domain_glossary",
  "open_questions",
  "seeds",
];
const onlyPersonsRequire = ["min_score_to_present", "focus_area", "criteria", "fields"] as const;
const ofResearch = [
  ...onlyPersons,
  "format",
  "insights",
  "phase",
  "statistics",
  "timing",
  "loop",
  "refusals",
  "excluded",
  "visited_urls",
];

export interface Steered {
  /** The state as edited, with every result as it was before. */
  readonly rrd: Rrd;
  /** Whether results had to be put back. */
  readonly forged: boolean;
  /** What only a person may set, and was put back: fields, and addresses on this machine. */
  readonly refused: readonly string[];
  /** Fields of the top level and ids of papers whose edits are kept. */
  readonly kept: readonly string[];
}

/**
 * Tells an edit that steers from one that forges results, where rrd.json changed while an agent ran that nothing
 * confines: it could have been the agent or a person. Results, counts and the pool's papers come back; the rest of the
 * edit stays.
 */
export function keepSteering(before: Rrd, now: Rrd): Steered {
  const old = new Map(before.papers_pool.map((paper) => [paper.id, paper]));
  const ids = new Set(now.papers_pool.map((paper) => paper.id));
  const refused = onlyPersons.filter((field) => !isDeepStrictEqual(before[field], now[field]));
  const pool = now.papers_pool.flatMap((paper) => {
    const known = old.get(paper.id);
    const local = addresses.filter(
      (field) => isLocalAddress(paper[field]) && !isDeepStrictEqual(known?.[field], paper[field]),
    );
    refused.push(...local.map((field) => `${field} of ${paper.id}`));
    if (known !== undefined) return withFieldsOf(paper, known, [...ofPapers, ...local]);
    return local.length > 0 ? [] : asPending(paper);
  });
  const removed = before.papers_pool.filter((paper) => !ids.has(paper.id));
  const sources = now.requirements?.sources ?? undefined;
  const own = before.requirements?.sources ?? [];
  const planted = (sources ?? []).filter((name) => isLocalSource(name) && !own.includes(name));
  refused.push(...planted);
  // What was planted may stand in the place of the person's own.
  const replaced =
    planted.length === 0 ? [] : own.filter((name) => isLocalSource(name) && sources?.includes(name) !== true);
  const requirements = now.requirements && {
    ...withFieldsOf(now.requirements, before.requirements ?? {}, onlyPersonsRequire),
    ...(sources === undefined ? {} : { sources: [...sources.filter((name) => !planted.includes(name)), ...replaced] }),
  };
  for (const field of onlyPersonsRequire)
    if (!isDeepStrictEqual(requirements?.[field], now.requirements?.[field])) refused.push(`requirements.${field}`);
  const rrd: Rrd = {
    ...withFieldsOf(now, before, ofResearch),
    ...withoutUndefined({ requirements }),
    papers_pool: [...pool, ...removed],
  };
  const fields = [...new Set([...Object.keys(before), ...Object.keys(rrd)])].filter(
    (name) => name !== "papers_pool" && !isDeepStrictEqual(before[name], rrd[name]),
  );
  const papers = pool.filter((paper) => !isDeepStrictEqual(old.get(paper.id), paper)).map((paper) => paper.id);
  return { rrd, forged: !isDeepStrictEqual(rrd, now), refused, kept: [...fields, ...papers] };
}

/** The fields of a paper that say where it lies. */
const addresses = ["url", "pdf_url"] as const;

/** Whether a paper's address is read from this machine: it is neither on the web nor the name of a paper. */
const isLocalAddress = (address: unknown): boolean =>
  typeof address === "string" &&
  !/^\s*(?:$|https?:\/\/|doi|info:doi|10\.\d|(?:oai:)?arxiv|abs\/|\d{4}\.\d{4,5}|[a-z-]+(?:\.[a-z]{2})?\/\d{7})/i.test(
    address,
  );

/** Whether a source is read from this machine. */
const isLocalSource = (name: string): boolean => /^\s*(?:feed:\s*)?(?:file|folder|list):/i.test(name);

/** A new paper is one to read, whatever is said of it. */
const asPending = (paper: Paper): Paper =>
  paper.status === "pending"
    ? withFieldsOf(
        paper,
        { notes: paper.notes },
        ofPapers.filter((field) => field !== "status"),
      )
    : { ...withFieldsOf(paper, {}, ofPapers), status: "pending" };

/**
 * `target` with these fields as in `source`: absent there, absent here. A null counts as absent where the other side
 * has none.
 */
function withFieldsOf<T extends object>(target: T, source: object, fields: readonly string[]): T {
  const result = { ...target } as Record<string, unknown>;
  for (const field of fields) {
    const value = (source as Record<string, unknown>)[field];
    if (value === undefined && result[field] == null) continue;
    if (value === undefined) delete result[field];
    else result[field] = value;
  }
  return result as T;
}
