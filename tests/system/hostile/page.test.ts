import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { packageFile } from "../../../src/engine/lib/package-root.js";

const page = readFileSync(packageFile("tests", "system", "hostile", "README.md"), "utf8");
const folder = packageFile("tests", "system", "hostile", "agents");

/** The misbehaviours of an agent: the keys of its table, two spaces in, each with a function or a text. */
const modesOf = (script: string): string[] => {
  const table =
    /const (?:misbehaviours|words|noises|deeds|orders) = \{\n([\s\S]*?)\n\};/.exec(
      readFileSync(`${folder}/${script}`, "utf8"),
    )?.[1] ?? "";
  return [...table.matchAll(/^ {2}"?(\w[\w~./ -]*)"?: (?=\(|`|"|forever)/gm)].map(([, name]) => name ?? "");
};

const agents = readdirSync(folder).filter((name) => name !== "brief.mjs");

test.each(agents)("every misbehaviour of %s has its row in README.md", (script) => {
  const modes = modesOf(script);
  expect(modes.length).toBeGreaterThan(2);
  expect(page).toContain(`\`${script}\``);
  expect(modes.filter((mode) => !page.includes(`\`${mode}\``) && !page.includes(`"${mode}"`))).toEqual([]);
});
