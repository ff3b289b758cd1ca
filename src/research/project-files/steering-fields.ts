import { isDeepStrictEqual } from "node:util";
import { withoutUndefined } from "../../engine/lib/without-undefined.js";
import type { Paper, Rrd } from "../generated/rrd.js";

/** Fields of a paper that only accepted results may set, and decisions of the user. */
const resultFieldsOfPaper = [
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
  "text_tried",
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
 * Fields that only the user may set: they decide how papers are judged and what they may cost, or briefs show them to
 * agents as the user's words.
 */
const userFields = [
  "mission",
  "rubric",
  "budget",
  "project",
  "description",
  "domain_glossary",
  "open_questions",
  "seeds",
];
const userRequirements = ["min_score_to_present", "focus_area", "criteria", "fields"] as const;
const protectedFields = [
  ...userFields,
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

export interface CheckedEdit {
  /** The edited state, with all results as before the edit. */
  readonly rrd: Rrd;
  /** Whether protected fields had to be restored. */
  readonly hasRestoredFields: boolean;
  /** Restored fields that only the user may set, and restored addresses on this machine. */
  readonly restoredSettings: readonly string[];
  /** Top-level fields and ids of papers whose edits are kept. */
  readonly keptEdits: readonly string[];
}

/**
 * Checks an edit of rrd.json that was made while an unconfined agent ran, by the agent or by the user. Results, counts
 * and removed papers are restored, so that an agent can't forge them. The rest of the edit stays.
 */
export function keepSteering(before: Rrd, now: Rrd): CheckedEdit {
  const earlierPapers = new Map(before.papers_pool.map((paper) => [paper.id, paper]));
  const ids = new Set(now.papers_pool.map((paper) => paper.id));
  const restoredSettings = userFields.filter((field) => !isDeepStrictEqual(before[field], now[field]));
  const pool = now.papers_pool.flatMap((paper) => {
    const earlier = earlierPapers.get(paper.id);
    const localFields = addresses.filter(
      (field) => isLocalAddress(paper[field]) && !isDeepStrictEqual(earlier?.[field], paper[field]),
    );
    restoredSettings.push(...localFields.map((field) => `${field} of ${paper.id}`));
    if (earlier !== undefined) return withFieldsOf(paper, earlier, [...resultFieldsOfPaper, ...localFields]);
    return localFields.length > 0 ? [] : asNewPaper(paper);
  });
  const removed = before.papers_pool.filter((paper) => !ids.has(paper.id));
  const sources = now.requirements?.sources ?? undefined;
  const earlierSources = before.requirements?.sources ?? [];
  const addedLocalSources = (sources ?? []).filter((name) => isLocalSource(name) && !earlierSources.includes(name));
  restoredSettings.push(...addedLocalSources);
  // An added source may have replaced one of the user's sources.
  const removedLocalSources =
    addedLocalSources.length === 0
      ? []
      : earlierSources.filter((name) => isLocalSource(name) && sources?.includes(name) !== true);
  const requirements = now.requirements && {
    ...withFieldsOf(now.requirements, before.requirements ?? {}, userRequirements),
    ...(sources === undefined
      ? {}
      : { sources: [...sources.filter((name) => !addedLocalSources.includes(name)), ...removedLocalSources] }),
  };
  for (const field of userRequirements)
    if (!isDeepStrictEqual(requirements?.[field], now.requirements?.[field]))
      restoredSettings.push(`requirements.${field}`);
  const rrd: Rrd = {
    ...withFieldsOf(now, before, protectedFields),
    ...withoutUndefined({ requirements }),
    papers_pool: [...pool, ...removed],
  };
  const fields = [...new Set([...Object.keys(before), ...Object.keys(rrd)])].filter(
    (name) => name !== "papers_pool" && !isDeepStrictEqual(before[name], rrd[name]),
  );
  const papers = pool
    .filter((paper) => !isDeepStrictEqual(earlierPapers.get(paper.id), paper))
    .map((paper) => paper.id);
  return { rrd, hasRestoredFields: !isDeepStrictEqual(rrd, now), restoredSettings, keptEdits: [...fields, ...papers] };
}

/** The fields of a paper with its addresses. */
const addresses = ["url", "pdf_url"] as const;

/**
 * Whether a paper would be read from a file of this machine: the address is neither a web address nor an identifier.
 */
const isLocalAddress = (address: unknown): boolean =>
  typeof address === "string" &&
  !/^\s*(?:$|https?:\/\/|doi|info:doi|10\.\d|(?:oai:)?arxiv|abs\/|\d{4}\.\d{4,5}|[a-z-]+(?:\.[a-z]{2})?\/\d{7})/i.test(
    address,
  );

/** Whether a source is a file or folder on this machine. */
const isLocalSource = (name: string): boolean => /^\s*(?:feed:\s*)?(?:file|folder|list):/i.test(name);

/** A new paper is pending and has no results, whatever the edit contains. */
const asNewPaper = (paper: Paper): Paper =>
  paper.status === "pending"
    ? withFieldsOf(
        paper,
        { notes: paper.notes },
        resultFieldsOfPaper.filter((field) => field !== "status"),
      )
    : { ...withFieldsOf(paper, {}, resultFieldsOfPaper), status: "pending" };

/**
 * `target` with these fields from `source`. Fields that `source` does not have are removed. A null in `target` stays if
 * `source` does not have the field.
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
