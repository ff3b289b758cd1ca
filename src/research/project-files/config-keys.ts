import { valueIfCommand, configKeys, type ValueKind, optionsIfElsewhere } from "../../engine/config/keys.js";
import { isObject } from "../../engine/lib/json-fields.js";
import type { ResearchConfig } from "../generated/config.js";

const sourceKinds = {
  endpoint: "text",
  key_variable: "text",
  interval_ms: "number",
  off: "boolean",
} as const satisfies Record<keyof NonNullable<ResearchConfig["sources"]>[string], ValueKind>;

/** The configuration keys for research projects. `contact`, `screeners` and `second_reader` have no default. */
export const researchKeys = configKeys({
  scalars: {
    papers: "number",
    learn: "text",
    check: "text",
    screeners: "text",
    second_reader: "text",
    screening_conflicts: "text",
    contact: "text",
    lookups: "boolean",
  } satisfies Record<Exclude<keyof ResearchConfig, "sources">, ValueKind>,
  optionsByName: { sources: sourceKinds },
  needsTrust: {
    check: (value, folder) =>
      isObject(value) ? (valueIfCommand(value["agent"], folder) ?? valueIfCommand(value["agents"], folder)) : undefined,
    screeners: valueIfCommand,
    second_reader: valueIfCommand,
    // An address and a key variable need trust, because the key would be sent to the address.
    "sources.*": optionsIfElsewhere("endpoint", "key_variable"),
  },
  defaults: { papers: 20, learn: "ask", lookups: true, screening_conflicts: "include" } satisfies ResearchConfig,
  replacedKeys: {
    default_papers: "it is called 'papers' now",
    research_dir: "projects are in the folder 'researches' where you start",
  },
});
