import { oneLine } from "../../engine/lib/sanitise.js";
import type { Criterion } from "../generated/ralph.js";

/** A criterion as text of at most 200 characters: its description, or its type and its most important fields. */
export function criterionText(criterion: Criterion): string {
  const text = oneLine(criterion.description ?? fullText(criterion));
  return text.length > 200 ? `${text.slice(0, 199)}…` : text;
}

function fullText(criterion: Criterion): string {
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
      return `${criterion.type} (${criterion.criteria.map(criterionText).join("; ")})`;
    case "not":
      return `not (${criterionText(criterion.criterion)})`;
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
