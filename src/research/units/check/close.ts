import { quotedWords } from "../../../text/evidence/quoted.js";
import { withoutUndefined } from "../../../engine/lib/without-undefined.js";
import type { ReportFile } from "../../generated/report.js";
import type { OpenCheck, Rrd } from "../../generated/rrd.js";
import { evidenceAt, whyNoGround } from "../narrative/handles.js";
import { isFallen, papersOf } from "../narrative/open-check.js";
import { isProven } from "../../derived/checker-rates.js";
import { sentences, withSentences } from "../narrative/sentences.js";

/**
 * The narrative at the end of its check: mended sentences in the place of what they were, what was said of each, and
 * what fell taken out of it. An answer of which nothing would be left stays whole. `unchecked`: why the check could not
 * come to its end.
 */
export function closedNarrative(
  rrd: Pick<Rrd, "meaning" | "papers_pool">,
  narrative: ReportFile,
  open: OpenCheck,
  at: Date,
  unchecked?: string,
): ReportFile {
  const { meaning = {} } = rrd;
  const asked = new Map(open.sentences.map((each) => [each.where, each]));
  const answerFalls =
    narrative.answer.length > 0 &&
    narrative.answer.every((said, index) => isFallen(meaning, asked.get(`/answer/${index}`) ?? said));
  const isRemoved = (each: OpenCheck["sentences"][number]) =>
    isFallen(meaning, each) && !(answerFalls && each.where.startsWith("/answer/"));
  const { not_borne_out: removedBefore = [], ...before } = narrative;
  const closed = withSentences(before, (where, said) => {
    const found = asked.get(where);
    if (found === undefined) return said;
    if (isRemoved(found)) return undefined;
    const { text, rests_on, was, check } = found;
    return {
      ...said,
      text,
      rests_on,
      ...(check === undefined ? {} : { check: { ...check, ...(was === undefined ? {} : { was }) } }),
    };
  });
  const removedNow = open.sentences.flatMap((each) => {
    const { where, text, rests_on, check } = each;
    return check === undefined || !isRemoved(each) ? [] : [{ text, where, rests_on, check }];
  });
  // A check that could not come to its end took out what it had judged.
  const removed = [...removedBefore, ...removedNow];
  const checks = [...sentences(closed).flatMap(([, { check }]) => check ?? []), ...removed.map(({ check }) => check)];
  const by = [...new Set(checks.flatMap((check) => check.by))];
  const unproven = by.filter((name) => !isProven(meaning.checkers, name));
  return {
    ...closed,
    disputed: [...closed.disputed, ...contradictions(rrd, open)],
    ...(removed.length === 0 ? {} : { not_borne_out: removed }),
    check: {
      at: at.toISOString(),
      ...(by.length === 0 ? {} : { by }),
      ...(unproven.length === 0 ? {} : { unproven }),
      ...(answerFalls ? { answer_falls: true } : {}),
      ...withoutUndefined({ unchecked, unheard: open.unheard }),
    },
  };
}

/** Two papers of one sentence of which the one says otherwise, each in its own words. */
function contradictions(
  { meaning = {}, papers_pool }: Pick<Rrd, "meaning" | "papers_pool">,
  { sentences: asked, contradicted = [] }: OpenCheck,
): ReportFile["disputed"] {
  const papers = papersOf({ papers_pool });
  const fallen = asked.flatMap((each) => {
    const against = each.check?.verdict === "contradicted" ? each.check.against : undefined;
    return against === undefined || !isFallen(meaning, each) ? [] : [{ ...each, against }];
  });
  const pairs = new Map<string, ReportFile["disputed"][number]>();
  for (const { text, rests_on, against } of [...contradicted, ...fallen]) {
    const quotes = rests_on.flatMap((handle) => {
      const found = evidenceAt(handle, papers);
      return "reason" in found || whyNoGround(found.paper) !== undefined ? [] : [{ ...found, handle }];
    });
    const sides = [quotes.find(({ paper }) => paper.id !== against), quotes.find(({ paper }) => paper.id === against)];
    const [one, other] = sides;
    if (one === undefined || other === undefined) continue;
    pairs.set(`${one.handle} ${other.handle}`, {
      text: `Whether it is so: ${text}`,
      sides: [one, other].map(({ handle, evidence }) => ({
        text: evidence.passage ?? quotedWords(evidence),
        rests_on: [handle],
      })),
    });
  }
  return [...pairs.values()];
}
