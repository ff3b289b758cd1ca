import { checkReading } from "../../../src/text/evidence/check-evidence.js";
import { acceptPaper } from "../../../src/research/units/reading/judge-paper.js";

type Arguments = Parameters<typeof acceptPaper>;

/** Accepts a paper's result in a project without eligibility criteria, with its quotes looked up in the text. */
export const acceptRead = (
  rrd: Arguments[0],
  paper: Arguments[1],
  result: Arguments[2],
  material: Arguments[3],
  judging: Arguments[4],
): ReturnType<typeof acceptPaper> =>
  acceptPaper(
    rrd,
    paper,
    result,
    material,
    judging,
    checkReading(result.evidence, result.results, material.text, paper.abstract),
    [],
    { extracted: [], reasons: [] },
  );
