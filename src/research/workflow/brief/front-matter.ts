import type { TrustedPart } from "../../../engine/config/trust.js";

/** The lines between two rules at the top of a prompt.md. */
const frontMatter = /^---\r?\n([\s\S]*?)\r?\n---\r?\n/;

/** Whether a prompt.md asks for classic mode, for ours, or leaves it open as the original's own does. */
export function workspaceOf(prompt: string): "folder" | "fresh" | "open" {
  const said = /^workspace:\s*["']?(folder|fresh)["']?\s*$/m.exec(frontMatterOf(prompt))?.[1];
  if (said === "folder" || said === "fresh") return said;
  return prompt.includes("{{RESEARCH_DIR}}") && !/^# (COMMON|ANALYSIS)\s*$/m.test(prompt) ? "open" : "fresh";
}

/** What stands between the two rules at the top of a prompt.md; empty where they are missing. */
export const frontMatterOf = (prompt: string): string => frontMatter.exec(prompt)?.[1] ?? "";

/** The prompt alone, as agents get it. */
export const withoutFrontMatter = (prompt: string): string => prompt.replace(frontMatter, "");

/**
 * What needs trust in the prompt.md at `file`: that an agent works unconfined on the project folder, by this text.
 * Empty where it does not ask for that.
 */
export const classicPart = (prompt: string, file: string): TrustedPart[] =>
  workspaceOf(prompt) === "folder"
    ? [{ file, key: "workspace", value: "folder", text: withoutFrontMatter(prompt) }]
    : [];

/** The prompt with its choice written down; what else its front matter says stays. */
export function withWorkspace(prompt: string, workspace: string): string {
  const said = frontMatterOf(prompt)
    .replace(/^workspace:.*(?:\r?\n|$)/m, "")
    .trimEnd();
  return `---\n${said === "" ? "" : `${said}\n`}workspace: ${workspace}\n---\n${withoutFrontMatter(prompt)}`;
}
