import { existsSync, readdirSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { parse } from "yaml";
import { fieldsOf } from "../lib/json-fields.js";
import { oneLine } from "../lib/sanitise.js";
import { instructionsIn } from "./folder-instructions.js";

/** Folders that contain skills; of two skills with the same name, the first is used. */
export const skillFolders = ["skills", ".agents/skills", ".claude/skills"] as const;

/** A skill: instructions for an agent, and a description of their purpose. */
export interface Skill {
  /** The name of its folder, which users type. */
  readonly name: string;
  /** When to use it, in one line; empty if the file does not say it. */
  readonly description: string;
  /** Path of its SKILL.md, relative to the project's folder. */
  readonly file: string;
  /** The instructions, without the front matter. */
  readonly text: string;
}

/** Possible paths of a skill's file, relative to the project's folder; the first one that exists is used. */
export const skillFilePaths = (name: string): string[] => skillFolders.map((folder) => join(folder, name, "SKILL.md"));

/**
 * The skills of a folder, by name: each `<name>/SKILL.md` in one of `skillFolders`.
 * @throws ExpectedError if a file can't be read, or is not UTF-8.
 */
export async function skillsIn(root: string): Promise<Skill[]> {
  const skills = new Map<string, Skill>();
  for (const folder of skillFolders) {
    const folderPath = join(root, folder);
    if (!existsSync(folderPath)) continue;
    for (const name of readdirSync(folderPath)) {
      const path = join(folderPath, name, "SKILL.md");
      if (!skills.has(name) && existsSync(path)) skills.set(name, skillOf(await instructionsIn(path), path, root));
    }
  }
  return [...skills.values()].toSorted((a, b) => a.name.localeCompare(b.name));
}

/** The skill of a SKILL.md, from its front matter and its text. Front matter that is not valid YAML is ignored. */
function skillOf(text: string, path: string, root: string): Skill {
  const [frontMatterBlock = "", yamlText = ""] = /^---\r?\n([\s\S]*?)\r?\n---\r?\n/.exec(text) ?? [];
  const frontMatter = yamlIn(yamlText);
  const description = fieldsOf(frontMatter)["description"];
  return {
    name: basename(dirname(path)),
    description: typeof description === "string" ? oneLine(description) : "",
    file: relative(root, path),
    text: text.slice(frontMatterBlock.length).trim(),
  };
}

function yamlIn(text: string): unknown {
  try {
    return parse(text);
  } catch {
    return undefined;
  }
}
