import { skillFolders, type Skill, skillsIn } from "../../engine/config/skill-files.js";
import { ExpectedError } from "../../engine/lib/errors.js";
import { nearestCandidate } from "../../engine/lib/nearest.js";
import type { Io } from "../../engine/ui/io.js";
import { say } from "../../engine/ui/terminal/format.js";
import { tableLines } from "../../engine/ui/terminal/table.js";
import { newCommand } from "../run/new.js";
import { type TaskArguments, taskCommand } from "./task.js";

/** The built-in skill that makes a project from a topic; the name is from the original program. */
const projectSkill = "rrd";

interface SkillArguments extends Omit<TaskArguments, "task"> {
  /** Undefined: list the skills. */
  readonly name: string | undefined;
  /** The user's instruction for the skill. */
  readonly words: string;
}

/**
 * Lists the skills of this folder, or uses one: `rrd` makes a project from a topic, as `new` does; any other skill
 * makes a task from the skill's text and the user's words.
 */
export async function skillCommand({ name, words, ...options }: SkillArguments, io: Io): Promise<number> {
  const skills = await skillsIn(io.cwd);
  if (name === undefined) return printSkills(skills, options.json, io);
  const { flags, quiet, json } = options;
  if (name === projectSkill) return newCommand({ topic: words, flags, ask: false, quiet, json }, io);
  const skill = skills.find((candidate) => candidate.name === name);
  if (skill === undefined) throw new ExpectedError(unknownSkillText(name, skills), 2);
  if (words.trim() === "")
    throw new ExpectedError(`Say what to do with the skill: research-ralph skill ${name} "…" --check "<command>".`, 2);
  return taskCommand({ ...options, task: `${words}\n\nWork by this skill (${skill.file}):\n\n${skill.text}` }, io);
}

function printSkills(skills: readonly Skill[], json: boolean, io: Io): number {
  const folderSkills = skills.map(({ text: _, ...skill }) => skill);
  const hasProjectSkill = folderSkills.some(({ name }) => name === projectSkill);
  const allSkills = hasProjectSkill
    ? folderSkills
    : [{ name: projectSkill, description: "makes a project from a topic", file: "" }, ...folderSkills];
  if (json) io.stdout(`${JSON.stringify(allSkills, null, 2)}\n`);
  else {
    const rows = allSkills.map(({ name, file, description }) => [name, file === "" ? "built in" : file, description]);
    for (const line of tableLines([{}, {}, { cut: "end" }], rows, io.tableWidth)) io.stdout(`${line}\n`);
    if (folderSkills.length === 0)
      say(io, `This folder has no skill of its own; one is a file <name>/SKILL.md in ${skillFolders.join(", ")}.`);
  }
  return 0;
}

function unknownSkillText(name: string, skills: readonly Skill[]): string {
  const names = [...new Set([projectSkill, ...skills.map((skill) => skill.name)])];
  const nearestName = nearestCandidate(name.slice(0, 60), names);
  return `There is no skill '${name.slice(0, 60)}' in this folder; ${nearestName === undefined ? `there are ${names.join(", ")}.` : `did you mean ${nearestName}?`}`;
}
