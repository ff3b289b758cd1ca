import { readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { ExpectedError, messageOf } from "../../engine/lib/errors.js";
import { type ParsedBrief, parseBrief, sentinel } from "./brief.js";
import { proposeIdeas } from "./ideas.js";
import { analysePaper, repairPaper } from "./paper.js";
import { writeReport } from "./report.js";
import { total } from "./scores.js";
import { deriveRequirements, sortCandidates } from "./screening.js";

/** What goes into result.json, and what the agent prints; the sentinel comes last where the brief asks for it. */
export interface Answer {
  readonly result: object;
  readonly message: string;
}

/** Does the unit of a brief in a workspace, where it leaves result.json; returns what it says. Throws ExpectedError where the unit can't be done. */
export function workIn(workspace: string, brief: string): string {
  const { result, message } = answer(parseBrief(brief), (name) => readTextFile(workspace, name));
  writeFileSync(join(workspace, "result.json"), `${JSON.stringify(result, null, 2)}\n`);
  return message;
}

/** Text files are named `paper/NN.txt` by the brief; nothing else is opened, whatever the brief names. */
function readTextFile(workspace: string, name: string): string {
  const path = join("paper", basename(name));
  try {
    return readFileSync(join(workspace, path), "utf8");
  } catch (error) {
    throw new ExpectedError(`The text file ${path} that the brief names can't be read: ${messageOf(error)}.`);
  }
}

/** Does the unit of a brief. `readFile` reads a file of the workspace. Throws ExpectedError where the unit can't be done. */
export function answer(brief: ParsedBrief, readFile: (name: string) => string): Answer {
  const { result, did } = perform(brief, readFile);
  const about = "baseline agent: extractive, no model; scores are keyword counts, not judgement";
  const lines = [about, `${brief.unit.unit}: ${did}`, "result.json is written."];
  return { result, message: `${[...lines, ...(brief.wantsSentinel ? [sentinel] : [])].join("\n")}\n` };
}

function perform({ unit, text }: ParsedBrief, readFile: (name: string) => string): { result: object; did: string } {
  switch (unit.kind) {
    case "requirements": {
      const result = deriveRequirements(unit);
      return { result, did: `${result.keywords.length} keywords from the words of the topic` };
    }
    case "discovery": {
      const { kept, ...result } = sortCandidates(unit);
      const given = unit.candidates?.length ?? 0;
      const did =
        given === 0 ? "no candidates were given, and it has no web access" : `${kept.length} of ${given} kept`;
      return { result: { ...result, kept }, did };
    }
    case "paper": {
      // What is fenced beside files is their outline.
      const files = unit.text_files ?? [];
      const whole = files.length === 0 ? text : files.map(readFile).join("\n");
      const result = unit.repair === undefined ? analysePaper(unit, whole) : repairPaper(unit, unit.repair);
      const { points, of } = total(result.scores);
      return {
        result,
        did: `${result.evidence.length} quotes, ${result.insights.length} insights, ${points} of ${of} points`,
      };
    }
    case "report": {
      const result = writeReport(unit);
      return { result, did: `${result.key_findings.length} findings from the records of the papers` };
    }
    case "ideas": {
      const result = proposeIdeas(unit);
      return { result, did: `${result.ideas.length}, composed from tags` };
    }
    default:
      throw new ExpectedError(`The baseline agent does not know units of kind "${unit.kind}".`);
  }
}
