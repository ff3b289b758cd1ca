/** The rrd.json of a research that needs no network: two of the sample papers, then the report, then ideas. */
export const sampleRequirements = {
  project: "Research: grasping",
  phase: "DISCOVERY",
  mission: { blue_ocean_scoring: true },
  requirements: { target_papers: 2, sources: ["samples"], keywords: ["dexterous manipulation"] },
  handoff: { product_ideation: { enabled: true, min_ideas: 3, max_ideas: 12 } },
  papers_pool: [],
};
