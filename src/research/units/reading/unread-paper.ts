import { undecidedFields } from "../../derived/status.js";
import type { Paper, Rrd } from "../../generated/rrd.js";

/** Removes the results of a paper's reading, so that the paper is read again. */
export function removeReading(rrd: Rrd, paper: Paper): Rrd {
  const { read_depth: _, text_sha256: __, iteration: ___, refusals: ____, warnings: _____, ...others } = paper;
  // The user's decision was based on this reading, so it is removed too. The answers of screening stay.
  const {
    held_scores: _held,
    excluded_by: _by,
    override: _override,
    extracted: _extracted,
    extracted_again: _again,
    settled: _settled,
    fill_form: _form,
    not_retrieved: _missing,
    text_tried: _tried,
    plugins: _plugins,
    answers = [],
    ...remaining
  } = others;
  const screeningAnswers = answers.filter(({ stage }) => stage === "screening");
  const unread: Paper = {
    ...remaining,
    ...(screeningAnswers.length === 0 ? {} : { answers: screeningAnswers }),
    ...undecidedFields,
    notes: null,
  };
  const insights = rrd.insights?.filter((insight) => insight.paper_id !== paper.id);
  return {
    ...rrd,
    papers_pool: rrd.papers_pool.map((each) => (each === paper ? unread : each)),
    ...(insights && { insights }),
  };
}
