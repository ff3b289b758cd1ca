import { lessonsName, missionName } from "../../../engine/lib/layout.js";
import { join } from "node:path";
import { skillFilePaths } from "../../../engine/config/skill-files.js";
import { fittingSections, instructionsIn } from "../../../engine/config/folder-instructions.js";
import { clip, fit } from "../../../engine/lib/tokens.js";
import { withoutFrontMatter } from "./front-matter.js";
import type { Rrd } from "../../generated/rrd.js";
import { waitingEdit } from "../../../engine/storage/guard/held-edits.js";

/** The topic of the project: requirements, mission and glossary, with a limited length. */
export function aboutResearch(rrd: Rrd): string {
  const { requirements, mission } = rrd;
  const lines = [
    `Project: ${clip(rrd.project, 40)}`,
    rrd.question ? `Asked: ${clip(rrd.question, 120)}` : "",
    rrd.description && rrd.description !== rrd.question ? `Sought: ${clip(rrd.description, 220)}` : "",
    requirements.focus_area ? `Field: ${clip(requirements.focus_area, 30)}` : "",
    requirements.keywords ? `Keywords: ${clip(requirements.keywords.join("; "), 120)}` : "",
    requirements.time_window_days ? `Recent means: the last ${requirements.time_window_days} days` : "",
    requirements.historical_lookback_days
      ? `Older work counts back to: ${requirements.historical_lookback_days} days`
      : "",
    requirements.published_from || requirements.published_until
      ? `Published: ${requirements.published_from ?? "any time"} to ${requirements.published_until ?? "today"}`
      : "",
    mission?.strategic_focus && mission.strategic_focus !== "balanced"
      ? `Strategic focus: ${mission.strategic_focus}`
      : "",
    ...openQuestions(rrd),
  ].filter((line) => line !== "");
  const terms = rrd.domain_glossary?.enabled === true ? Object.entries(rrd.domain_glossary.terms ?? {}) : [];
  const glossary = fit(terms, 250, ([term, meaning]) => `- ${term}: ${meaning}`).lines;
  return [...lines, ...(glossary.length > 0 ? ["Terms:", ...glossary] : [])].join("\n");
}

function openQuestions(rrd: Rrd): string[] {
  const questions = (rrd.open_questions ?? []).filter((question) => typeof question !== "string");
  return fit(
    questions,
    150,
    (question) => `Assumed: ${question.question} ${String(question.current_default ?? "open")}`,
  ).lines;
}

/**
 * At most `tokens` tokens of AGENTS.md in the version that the user approved: complete sections from the beginning, and
 * the names of the omitted ones. Empty if it is missing, or a pipe or a device.
 * @throws ExpectedError if it can't be read or is not UTF-8, so that instructions are not lost silently.
 */
export const agentsFile = (root: string, stateDir: string, tokens: number): Promise<string> =>
  agreedFile(lessonsName, root, stateDir, tokens);

/** Like agentsFile, for MISSION.md of the original tool. */
export const missionFile = (root: string, stateDir: string, tokens: number): Promise<string> =>
  agreedFile(missionName, root, stateDir, tokens);

/** Like agentsFile, for the user's skill for making requirements. */
export async function requirementsSkill(root: string, stateDir: string, tokens: number): Promise<string> {
  for (const place of skillFilePaths("rrd")) {
    const text = await agreedFile(place, root, stateDir, tokens);
    if (text !== "") return text;
  }
  return "";
}

async function agreedFile(name: string, root: string, stateDir: string, tokens: number): Promise<string> {
  const path = join(root, name);
  const waiting = await waitingEdit(stateDir, path);
  const text = waiting === undefined ? await instructionsIn(path) : (waiting.before ?? "");
  return fittingSections(withoutFrontMatter(text), tokens, name);
}
