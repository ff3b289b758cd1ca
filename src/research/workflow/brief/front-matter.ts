import type { TrustedPart } from "../../../engine/config/trust.js";

/** The lines between two `---` lines at the beginning of a prompt.md. */
const frontMatter = /^---\r?\n([\s\S]*?)\r?\n---\r?\n/;

/** The mode of a prompt.md: `folder` is classic mode; `open`: a prompt of the original tool without a choice. */
export function workspaceOf(prompt: string): "folder" | "fresh" | "open" {
  const choice = /^workspace:\s*["']?(folder|fresh)["']?\s*$/m.exec(frontMatterOf(prompt))?.[1];
  if (choice === "folder" || choice === "fresh") return choice;
  return prompt.includes("{{RESEARCH_DIR}}") && !/^# (COMMON|ANALYSIS)\s*$/m.test(prompt) ? "open" : "fresh";
}

/** The front matter of a prompt.md; empty if it has no front matter. */
export const frontMatterOf = (prompt: string): string => frontMatter.exec(prompt)?.[1] ?? "";

/** The prompt without front matter, as agents get it. */
export const withoutFrontMatter = (prompt: string): string => prompt.replace(frontMatter, "");

/**
 * The part of a prompt.md that needs trust: that an agent works unconfined in the project folder with this text. Empty
 * if it does not ask for classic mode.
 */
export const classicPart = (prompt: string, file: string): TrustedPart[] =>
  workspaceOf(prompt) === "folder"
    ? [{ file, key: "workspace", value: "folder", text: withoutFrontMatter(prompt) }]
    : [];

/** The prompt with this mode in its front matter. Other lines of the front matter stay. */
export function withWorkspace(prompt: string, workspace: string): string {
  const lines = frontMatterOf(prompt)
    .replace(/^workspace:.*(?:\r?\n|$)/m, "")
    .trimEnd();
  return `---\n${lines === "" ? "" : `${lines}\n`}workspace: ${workspace}\n---\n${withoutFrontMatter(prompt)}`;
}
