import { existsSync, readdirSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { parse } from "yaml";
import { isObject } from "../lib/json-fields.js";
import { oneLine } from "../lib/sanitise.js";
import { instructionsIn } from "./folder-instructions.js";

/** Where the skills of a folder are looked for; of two of one name the first counts. */
export const skillFolders = ["skills", ".agents/skills", ".claude/skills"] as const;

/** A skill: instructions for an agent, with what they are for. */
export interface Skill {
  /** As its folder is called, which is what people type. */
  readonly name: string;
  /** When to use it, one line; empty where it does not say. */
  readonly description: string;
  /** Its SKILL.md, relative to the folder. */
  readonly file: string;
  /** The instructions, without the front matter. */
  readonly text: string;
}

/** The file of a skill in the folder of skills that people write themselves. */
export const skillFile = (name: string): string => join(skillFolders[0], name, "SKILL.md");

/**
 * The skills of a folder, by name: each `<name>/SKILL.md` in one of `skillFolders`.
 * @throws ExpectedError where one can't be read, or is not UTF-8.
 */
export async function skillsIn(root: string): Promise<Skill[]> {
  const found = new Map<string, Skill>();
  for (const folder of skillFolders) {
    const at = join(root, folder);
    if (!existsSync(at)) continue;
    for (const name of readdirSync(at)) {
      const path = join(at, name, "SKILL.md");
      if (!found.has(name) && existsSync(path)) found.set(name, skillOf(await instructionsIn(path), path, root));
    }
  }
  return [...found.values()].toSorted((a, b) => a.name.localeCompare(b.name));
}

/** The text of a SKILL.md in its two parts. A front matter that is not YAML says nothing. */
function skillOf(text: string, path: string, root: string): Skill {
  const [front = "", head = ""] = /^---\r?\n([\s\S]*?)\r?\n---\r?\n/.exec(text) ?? [];
  const said = yamlIn(head);
  const description = isObject(said) ? said["description"] : undefined;
  return {
    name: basename(dirname(path)),
    description: typeof description === "string" ? oneLine(description) : "",
    file: relative(root, path),
    text: text.slice(front.length).trim(),
  };
}

function yamlIn(text: string): unknown {
  try {
    return parse(text);
  } catch {
    return undefined;
  }
}
