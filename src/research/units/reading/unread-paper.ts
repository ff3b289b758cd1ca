import type { Paper, Rrd } from "../../generated/rrd.js";

/** What a reading leaves in a paper's record and another reading makes again. */
export function withoutResult(rrd: Rrd, paper: Paper): Rrd {
  const { read_depth: _, text_sha256: __, iteration: ___, refusals: ____, warnings: _____, ...others } = paper;
  // A person's decision rested on this reading; what screening answered does not.
  const {
    held_scores: _held,
    excluded_by: _by,
    override: _override,
    extracted: _extracted,
    extracted_again: _again,
    settled: _settled,
    fill_form: _form,
    not_retrieved: _missing,
    plugins: _plugins,
    answers = [],
    ...kept
  } = others;
  const screened = answers.filter(({ stage }) => stage === "screening");
  const unread: Paper = {
    ...kept,
    ...(screened.length === 0 ? {} : { answers: screened }),
    status: "pending",
    score: null,
    score_breakdown: null,
    analysis: null,
    decision: null,
    notes: null,
  };
  const insights = rrd.insights?.filter((insight) => insight.paper_id !== paper.id);
  return {
    ...rrd,
    papers_pool: rrd.papers_pool.map((each) => (each === paper ? unread : each)),
    ...(insights && { insights }),
  };
}
