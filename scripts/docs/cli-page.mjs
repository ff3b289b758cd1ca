// The command line as a page: what each command's --help prints.
import { fileURLToPath } from "node:url";
import { load } from "../bundle.mjs";

const root = fileURLToPath(new URL("../..", import.meta.url)).replace(/\/$/, "");

const intro = `# CLI

What \`research-ralph <command> --help\` prints. Without a command, \`research-ralph\` runs the unfinished project under \`./researches\`. If there are
several, it asks on a terminal and lists them otherwise.

A folder argument is a path, or a name under \`./researches\`. Results go to stdout, everything else to stderr. \`NO_COLOR\` is respected, and \`COLUMNS\` off a terminal.
Each [setting](configuration.md#every-setting) with one value can also be given as an environment variable, such as \`RESEARCH_RALPH_AGENT=codex\`.`;

/** The page of the command line. */
export async function cliPage() {
  const { text, command, assistant, ui } = await load({
    text: "src/commands/help-text.ts",
    command: "src/commands/main.ts",
    assistant: "src/assistant/main.ts",
    ui: "src/engine/ui/io.ts",
  });
  // Whatever terminal this runs in, the page is the same.
  process.stdout.columns = 80;
  const surroundings = { ...ui.processIo(), color: false };
  const printed = async (words, run) => {
    let said = "";
    const exitCode = await run({ ...surroundings, stdout: (part) => (said += part) });
    if (exitCode !== 0) throw new Error(`'${words.join(" ")} --help' ended with ${exitCode}`);
    return `\`\`\`\n${said.trim().replaceAll(root, "<package>")}\n\`\`\``;
  };
  const helpOf = (...words) =>
    printed(["research-ralph", ...words], (io) => command.main([...words, "--help"], io, ""));
  const parts = [await printed(["research-ralph"], (io) => command.main(["help", "all"], io, ""))];
  for (const name of Object.keys(text.summaries)) parts.push(`## ${name}\n\n${await helpOf(name)}`);
  const ofRalph = await printed(["ralph"], (io) => assistant.main(["--help"], io, { version: "" }, {}));
  parts.push(`## The program ralph\n\n[The assistant](assistant.md) is a program of its own.\n\n${ofRalph}`);
  const banner =
    "<!-- Generated from the program's --help by scripts/generate-docs.mjs. Do not edit: change the options of its commands. -->";
  return `${[banner, intro, ...parts].join("\n\n")}\n`;
}
