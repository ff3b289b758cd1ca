// The command line as a page: what each command's --help prints, taken from the built program.
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { load } from "../bundle.mjs";

const intro = `# CLI

What \`research-ralph <command> --help\` prints. Without a command, \`research-ralph\` runs the unfinished project under \`./researches\`. If there are
several, it asks on a terminal and lists them otherwise.

A folder argument is a path, or a name under \`./researches\`. Results go to stdout, everything else to stderr. \`NO_COLOR\` is respected.
Each [setting](configuration.md#every-setting) with one value can also be given as an environment variable, such as \`RESEARCH_RALPH_AGENT=codex\`.`;

/** The page of the command line. Needs dist/. */
export async function cliPage(root) {
  const { help } = await load({ help: "src/commands/help-text.ts" });
  const { summaries } = help;
  const sections = Object.keys(summaries).map((name) => `## ${name}\n\n${helpOf(root, name)}`);
  const banner =
    "<!-- Generated from the program's --help by scripts/generate-docs.mjs. Do not edit: change src/commands/. -->";
  return `${[banner, intro, helpOf(root), ...sections].join("\n\n")}\n`;
}

function helpOf(root, ...command) {
  const env = { ...process.env, NO_COLOR: "1", COLUMNS: "80" };
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(root, "dist/cli.js"), ...command, "--help"], {
    env,
    encoding: "utf8",
  });
  if (status !== 0)
    throw new Error(`'research-ralph ${[...command, "--help"].join(" ")}' ended with ${status}: ${stderr}`);
  return `\`\`\`\n${stdout.trim()}\n\`\`\``;
}
