import { readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { ExpectedError, messageOf } from "../../engine/lib/errors.js";
import { type ParsedBrief, parseBrief, sentinel } from "./brief.js";
import { answerQuestion } from "./question.js";
import { answerCriteria } from "./criteria.js";
import { answerFields } from "./fields.js";
import { proposeIdeas } from "./ideas.js";
import { analysePaper, repairPaper } from "./paper.js";
import { writeReport } from "./report.js";
import { countUserRubric } from "./scores.js";
import { deriveRequirements, screenCandidates } from "./screening.js";

/**
 * The content of result.json, and the agent's printed message. The message ends with the sentinel if the brief asks for
 * it.
 */
export interface Answer {
  readonly result: object;
  readonly message: string;
}

/**
 * Works on the unit of a brief, writes result.json into the workspace and returns the message.
 * @throws ExpectedError if the unit can't be done.
 */
export function workOnBrief(workspace: string, brief: string): string {
  const { result, message } = answerBrief(parseBrief(brief), (name) => readTextFile(workspace, name));
  writeFileSync(join(workspace, "result.json"), `${JSON.stringify(result, null, 2)}\n`);
  return message;
}

/** Reads a text file `paper/NN.txt`. Other paths in the brief are never opened. */
function readTextFile(workspace: string, name: string): string {
  const path = join("paper", basename(name));
  try {
    return readFileSync(join(workspace, path), "utf8");
  } catch (error) {
    throw new ExpectedError(`The text file ${path} that the brief names can't be read: ${messageOf(error)}.`);
  }
}

/**
 * Works on the unit of a brief. `readFile` reads a file of the workspace.
 * @throws ExpectedError if the unit can't be done.
 */
export function answerBrief(brief: ParsedBrief, readFile: (name: string) => string): Answer {
  const { unit, wantsSentinel } = brief;
  const result = resultOf(brief, readFile);
  const disclaimer = "baseline agent: extractive, no model; points are keyword counts, not judgement";
  const lists = Object.entries(result).flatMap(([name, list]) =>
    Array.isArray(list) ? [`${list.length} ${name.replaceAll("_", " ")}`] : [],
  );
  const lines = [disclaimer, `${unit.unit}: ${lists.join(", ")}`, "result.json is written."];
  return { result, message: `${[...lines, ...(wantsSentinel ? [sentinel] : [])].join("\n")}\n` };
}

function resultOf(brief: ParsedBrief, readFile: (name: string) => string): object {
  const { unit, criteria, fields } = brief;
  const { text_files: files = [], abstract = "" } = unit;
  // If the text is in files, the fenced text is only their outline.
  const text = files.length === 0 ? brief.text : files.map(readFile).join("\n");
  switch (unit.kind) {
    case "requirements":
      return deriveRequirements(unit);
    case "discovery":
      return screenCandidates(unit, criteria);
    case "paper":
      if (unit.repair !== undefined) return repairPaper(unit, unit.repair);
      return readPaper(brief, text);
    case "extract":
      return { unit: unit.unit, ...answerFields(fields, [text, abstract]) };
    case "report":
      return writeReport(unit);
    case "question":
      return answerQuestion(unit, text);
    case "ideas":
      return proposeIdeas(unit);
    default:
      throw new ExpectedError(`The baseline agent does not know units of kind "${unit.kind}".`);
  }
}

const readPaper = ({ unit, criteria, fields, dimensions }: ParsedBrief, text: string): object => ({
  ...analysePaper(unit, text),
  ...answerCriteria(criteria, [text, unit.abstract ?? "", unit.title ?? ""]),
  ...answerFields(fields, [text, unit.abstract ?? ""]),
  ...countUserRubric(dimensions, [text, unit.abstract ?? "", unit.title ?? ""].join(" ")),
});
