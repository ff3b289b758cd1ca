import { quotedWords } from "../../../text/evidence/quoted.js";
import { withoutUndefined } from "../../../engine/lib/without-undefined.js";
import type { ReportFile } from "../../generated/report.js";
import type { OpenCheck, Rrd } from "../../generated/rrd.js";
import { evidenceOf, reasonNotToCite } from "../narrative/handles.js";
import { isRejected, papersById } from "../narrative/open-check.js";
import { isProven } from "../../derived/checker-rates.js";
import { sentencesOf, mapSentences } from "../narrative/sentences.js";

/**
 * The report at the end of its check: corrected sentences replace the old ones, checked sentences get their verdicts,
 * and rejected sentences are removed. If every sentence of the answer was rejected, the answer stays. `unchecked`: the
 * reason if the check could not be finished.
 */
export function applyCheck(
  rrd: Pick<Rrd, "meaning" | "papers_pool">,
  narrative: ReportFile,
  open: OpenCheck,
  at: Date,
  unchecked?: string,
): ReportFile {
  const { meaning = {} } = rrd;
  const openSentences = new Map(open.sentences.map((sentence) => [sentence.where, sentence]));
  const isAnswerRejected =
    narrative.answer.length > 0 &&
    narrative.answer.every((sentence, index) => isRejected(meaning, openSentences.get(`/answer/${index}`) ?? sentence));
  const isRemoved = (sentence: OpenCheck["sentences"][number]) =>
    isRejected(meaning, sentence) && !(isAnswerRejected && sentence.where.startsWith("/answer/"));
  const { not_borne_out: removedBefore = [], ...remaining } = narrative;
  const closed = mapSentences(remaining, (where, sentence) => {
    const openSentence = openSentences.get(where);
    if (openSentence === undefined) return sentence;
    if (isRemoved(openSentence)) return undefined;
    const { text, rests_on, was, check } = openSentence;
    return {
      ...sentence,
      text,
      rests_on,
      ...(check === undefined ? {} : { check: { ...check, ...(was === undefined ? {} : { was }) } }),
    };
  });
  const removedNow = open.sentences.flatMap((each) => {
    const { where, text, rests_on, check } = each;
    return check === undefined || !isRemoved(each) ? [] : [{ text, where, rests_on, check }];
  });
  // An earlier check that could not be finished has already removed the sentences that it rejected.
  const removed = [...removedBefore, ...removedNow];
  const checks = [...sentencesOf(closed).flatMap(([, { check }]) => check ?? []), ...removed.map(({ check }) => check)];
  const checkerNames = [...new Set(checks.flatMap((check) => check.by))];
  const unproven = checkerNames.filter((name) => !isProven(meaning.checkers, name));
  return {
    ...closed,
    disputed: [...closed.disputed, ...findContradictions(rrd, open)],
    ...(removed.length === 0 ? {} : { not_borne_out: removed }),
    check: {
      at: at.toISOString(),
      ...(checkerNames.length === 0 ? {} : { by: checkerNames }),
      ...(unproven.length === 0 ? {} : { unproven }),
      ...(isAnswerRejected ? { answer_falls: true } : {}),
      ...withoutUndefined({ unchecked, unheard: open.unheard }),
    },
  };
}

/** The contradictions between two papers that the check found: for each, the sentence and a quote of both papers. */
function findContradictions(
  { meaning = {}, papers_pool }: Pick<Rrd, "meaning" | "papers_pool">,
  { sentences: openSentences, contradicted = [] }: OpenCheck,
): ReportFile["disputed"] {
  const papers = papersById({ papers_pool });
  const rejected = openSentences.flatMap((sentence) => {
    const contradictingPaper = sentence.check?.verdict === "contradicted" ? sentence.check.against : undefined;
    return contradictingPaper === undefined || !isRejected(meaning, sentence)
      ? []
      : [{ ...sentence, against: contradictingPaper }];
  });
  const pairs = new Map<string, ReportFile["disputed"][number]>();
  for (const { text, rests_on, against } of [...contradicted, ...rejected]) {
    const quotes = evidenceOf(rests_on, papers).filter(({ paper }) => reasonNotToCite(paper) === undefined);
    const sides = [quotes.find(({ paper }) => paper.id !== against), quotes.find(({ paper }) => paper.id === against)];
    const [support, contradiction] = sides;
    if (support === undefined || contradiction === undefined) continue;
    pairs.set(`${support.handle} ${contradiction.handle}`, {
      text: `Whether this is true: ${text}`,
      sides: [support, contradiction].map(({ handle, evidence }) => ({
        text: evidence.passage ?? quotedWords(evidence),
        rests_on: [handle],
      })),
    });
  }
  return [...pairs.values()];
}
