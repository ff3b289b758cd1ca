import { oneLine } from "../../engine/lib/sanitise.js";
import type { Criterion } from "../generated/ralph.js";

/** A criterion in words, at most 200 characters: its type, and what tells it from another of its type. */
export function wordsOf(criterion: Criterion): string {
  const words = oneLine(criterion.description ?? whole(criterion));
  return words.length > 200 ? `${words.slice(0, 199)}…` : words;
}

function whole(criterion: Criterion): string {
  switch (criterion.type) {
    case "new_test_passes":
      return criterion.type;
    case "file_exists":
    case "json_valid":
      return `${criterion.type} ${criterion.path}`;
    case "contains_text":
      return `contains_text ${criterion.path}: ${criterion.text ?? `/${criterion.pattern}/${criterion.flags ?? ""}`}`;
    case "command_succeeds":
      return `command_succeeds ${criterion.command}`;
    case "http_ok":
      return `http_ok ${criterion.url}`;
    case "all_of":
    case "any_of":
      return `${criterion.type} (${criterion.criteria.map(wordsOf).join("; ")})`;
    case "not":
      return `not (${wordsOf(criterion.criterion)})`;
    case "coverage": {
      const { lines, branches } = criterion;
      const parts = [
        lines === undefined ? "" : `lines ${lines} %`,
        branches === undefined ? "" : `branches ${branches} %`,
      ];
      return `coverage ${parts.filter((part) => part !== "").join(", ")}`;
    }
    case "tests_pass":
    case "no_type_errors":
    case "lint_clean":
      return criterion.command === undefined ? criterion.type : `${criterion.type}: ${criterion.command}`;
  }
}
