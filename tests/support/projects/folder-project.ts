import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { newRrd } from "../../../src/research/workflow/new-research.js";

/** A project over Markdown documents of a folder of its own, by the name of each; returns its path. */
export function folderProject(root: string, name: string, documents: Readonly<Record<string, string>>): string {
  const source = `papers-${name}`;
  mkdirSync(join(root, source), { recursive: true });
  for (const [key, text] of Object.entries(documents)) writeFileSync(join(root, source, `${key}.md`), text);
  const folder = join(root, "researches", name);
  mkdirSync(folder, { recursive: true });
  const requirements = { name, description: `On ${name}.`, focus_area: name, keywords: [name] };
  const wish = { papers: Object.keys(documents).length, sources: [`folder:${source}`] };
  const rrd = newRrd(wish, requirements);
  const handoff = { product_ideation: { enabled: false } };
  writeFileSync(join(folder, "rrd.json"), JSON.stringify({ ...rrd, handoff }, null, 2));
  return folder;
}
