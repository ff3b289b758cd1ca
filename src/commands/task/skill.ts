import { skillFolders, type Skill, skillsIn } from "../../engine/config/skill-files.js";
import { ExpectedError } from "../../engine/lib/errors.js";
import { nearestCandidate } from "../../engine/lib/nearest.js";
import type { Io } from "../../engine/ui/io.js";
import { say } from "../../engine/ui/terminal/format.js";
import { tableLines } from "../../engine/ui/terminal/table.js";
import { newCommand } from "../run/new.js";
import { type TaskArguments, taskCommand } from "./task.js";

/** The original's skill that makes a project of a topic, which every folder has. */
const projectSkill = "rrd";

interface SkillArguments extends Omit<TaskArguments, "task"> {
  /** Undefined: list the skills. */
  readonly name: string | undefined;
  /** What to do by the skill. */
  readonly words: string;
}

/**
 * Lists the skills of this folder, or works by one: `rrd` makes a project of a topic, as `new` does, and any other is a
 * task with the skill's text and the words.
 */
export async function skillCommand({ name, words, ...how }: SkillArguments, io: Io): Promise<number> {
  const skills = await skillsIn(io.cwd);
  if (name === undefined) return list(skills, how.json, io);
  const { flags, quiet, json } = how;
  if (name === projectSkill) return newCommand({ topic: words, flags, ask: false, quiet, json }, io);
  const skill = skills.find((each) => each.name === name);
  if (skill === undefined) throw new ExpectedError(unknown(name, skills), 2);
  if (words.trim() === "")
    throw new ExpectedError(`Say what to do by the skill: research-ralph skill ${name} "…" --check "<command>".`, 2);
  return taskCommand({ ...how, task: `${words}\n\nWork by this skill (${skill.file}):\n\n${skill.text}` }, io);
}

function list(skills: readonly Skill[], json: boolean, io: Io): number {
  const own = skills.map(({ text: _, ...skill }) => skill);
  const isOwn = own.some(({ name }) => name === projectSkill);
  const all = isOwn ? own : [{ name: projectSkill, description: "makes a project of a topic", file: "" }, ...own];
  if (json) io.stdout(`${JSON.stringify(all, null, 2)}\n`);
  else {
    const rows = all.map(({ name, file, description }) => [name, file === "" ? "built in" : file, description]);
    for (const line of tableLines([{}, {}, { cut: "end" }], rows, io.tableWidth)) io.stdout(`${line}\n`);
    if (own.length === 0)
      say(io, `This folder has no skill of its own; one is a file <name>/SKILL.md in ${skillFolders.join(", ")}.`);
  }
  return 0;
}

function unknown(name: string, skills: readonly Skill[]): string {
  const names = [...new Set([projectSkill, ...skills.map((skill) => skill.name)])];
  const near = nearestCandidate(name.slice(0, 60), names);
  return `There is no skill '${name.slice(0, 60)}' in this folder; ${near === undefined ? `there are ${names.join(", ")}.` : `did you mean ${near}?`}`;
}
