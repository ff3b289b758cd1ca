/** The schema of a result by the kind of unit that it answers. */
export const schemaOf = {
  discovery: "result-discovery",
  paper: "result-analysis",
  report: "result-report",
  ideas: "result-ideation",
  requirements: "result-requirements",
  critique: "result-critique",
  answer: "result-answer",
} as const;
