import { formWith } from "../../research/project-files/form.js";
import { requirementsOfTopic } from "../../research/search/topic-words.js";
import { newRrd } from "../../research/workflow/new-research.js";
import { nameFor } from "../../research/overview/find-research.js";
import { typedOptions, type ProjectOptions } from "./new.js";
import { rm } from "node:fs/promises";
import { basename } from "node:path";
import { ExpectedError } from "../../engine/lib/errors.js";
import { withoutUndefined } from "../../engine/lib/without-undefined.js";
import type { Io } from "../../engine/ui/io.js";
import { say } from "../../engine/ui/terminal/format.js";
import { blockedNames } from "../../research/project-files/rrd-file.js";
import { targetOf } from "../../research/derived/status.js";
import type { Columns, Rrd } from "../../research/generated/rrd.js";
import { parseColumns } from "../../research/papers/records/csv.js";
import { editResearch } from "../../research/project-files/edit-by-command.js";
import { candidatesFile, searchFile } from "../../research/project-files/layout.js";
import { removeRounds } from "../../research/units/screening/reset-search.js";
import { rootOf } from "../../research/workflow/brief/prompt-file.js";
import { derive } from "../../research/workflow/derive.js";
import { namedSources } from "./typed-sources.js";

/** Searches these sources from now on: another search begins, and papers that are there stay. */
export async function withSources(
  folder: string,
  rrd: Rrd,
  sources: readonly string[],
  columns: readonly string[] | undefined,
  git: boolean,
  io: Io,
): Promise<Rrd> {
  const { named, said } = namedSources(sources, rootOf(folder, io.cwd));
  const chosen = columns && parseColumns(columns);
  for (const sentence of said) say(io, sentence);
  const held = rrd.papers_pool.length;
  if (held >= targetOf(rrd))
    throw new ExpectedError(
      `${basename(folder)} holds the ${held} papers that it was to find, so other sources would bring nothing; add -p ${held + 20} --force to take in 20 more.`,
      2,
    );
  const notify = (_: string, message: string) => say(io, message);
  const edited = await editResearch(folder, (current) => searchingIn(current, named, chosen), { derive, git, notify });
  for (const file of [candidatesFile, searchFile]) await rm(file(folder), { force: true });
  return edited.rrd;
}

/** Where an option of a new project leaves its mark. */
const marks: readonly (readonly [option: string, of: keyof ProjectOptions, read: (rrd: Rrd) => unknown])[] = [
  ["--name", "name", ({ project }) => project],
  ["--rubric", "rubric", ({ rubric }) => rubric],
  ["--criterion", "criteria", ({ requirements }) => requirements.criteria],
  ["--field", "fields", ({ requirements }) => requirements.fields],
  ["--keyword", "keywords", ({ requirements }) => requirements.keywords],
  ["--seed", "seeds", ({ seeds }) => seeds],
  ["--from", "from", ({ requirements }) => requirements.published_from],
  ["--until", "until", ({ requirements }) => requirements.published_until],
  ["--recall", "recall", ({ requirements }) => requirements.screening?.target_recall],
  ["--confidence", "confidence", ({ requirements }) => requirements.screening?.confidence],
  ["--column", "columns", ({ requirements }) => requirements.columns],
];

/**
 * Requires that what was typed of a project that is there already holds in it: a run would not change that.
 * @throws ExpectedError (exit code 2) that names the options which would have no effect.
 */
export async function requireSameWishes(folder: string, rrd: Rrd, wishes: ProjectOptions, io: Io): Promise<void> {
  const { fields, ...typed } = await typedOptions(wishes, io.cwd);
  const made = { ...requirementsOfTopic(""), keywords: [], ...withoutUndefined({ name: typed.name }) };
  const wished = newRrd({ ...typed, fields: formWith([], fields), papers: 1, sources: [] }, made);
  const idle = marks.filter(([, of, read]) => wishes[of] !== undefined && !isWithin(read(wished), read(rrd)));
  if (idle.length === 0) return;
  const options = idle.map(([option]) => option).join(", ");
  throw new ExpectedError(
    `${nameFor(io.cwd, folder)} asks this question already, and ${options} would not change it; leave ${idle.length === 1 ? "it" : "them"} out, edit its rrd.json, or make another project with research-ralph new.`,
    2,
  );
}

/** Whether all that one value says stands in the other. */
function isWithin(some: unknown, whole: unknown): boolean {
  if (Array.isArray(some))
    return Array.isArray(whole) && some.every((each) => whole.some((other) => isWithin(each, other)));
  if (typeof some !== "object" || some === null) return some === whole;
  if (typeof whole !== "object" || whole === null) return false;
  return Object.entries(some).every(([name, value]) => isWithin(value, (whole as Record<string, unknown>)[name]));
}

/** The state in which these sources are asked, whatever became of the search before, and of them in it. */
function searchingIn(rrd: Rrd, sources: readonly string[], columns: Columns | undefined): Rrd {
  const { statistics, blocked_sources } = rrd;
  const before = statistics?.discovery_metrics;
  const names = blockedNames(rrd);
  const failures = Object.entries(before?.failures_in_a_row ?? {}).filter(([name]) => !sources.includes(name));
  const discovery_metrics = {
    ...removeRounds(before ?? {}),
    batches_without_new: 0,
    ...(before?.failures_in_a_row === undefined ? {} : { failures_in_a_row: Object.fromEntries(failures) }),
  };
  return {
    ...rrd,
    phase: "DISCOVERY",
    requirements: { ...rrd.requirements, sources: [...sources], ...withoutUndefined({ columns }) },
    ...withoutUndefined({
      blocked_sources: blocked_sources?.filter((_, index) => !sources.includes(names[index] ?? "")),
    }),
    statistics: { ...statistics, discovery_metrics },
  };
}
