import { formWith } from "../../research/project-files/form.js";
import { requirementsOfTopic } from "../../research/search/topic-words.js";
import { newRrd } from "../../research/workflow/new-research.js";
import { displayPath, nameFor } from "../../research/overview/find-research.js";
import { typedOptions, type ProjectOptions } from "./new.js";
import { rm } from "node:fs/promises";
import { basename, resolve } from "node:path";
import { ExpectedError } from "../../engine/lib/errors.js";
import { shellWord } from "../../engine/lib/sanitise.js";
import { withoutUndefined } from "../../engine/lib/without-undefined.js";
import type { Io } from "../../engine/ui/io.js";
import { say } from "../../engine/ui/terminal/format.js";
import { blockedNames } from "../../research/project-files/rrd-file.js";
import { targetOf } from "../../research/derived/status.js";
import type { Columns, Rrd } from "../../research/generated/rrd.js";
import { isUserSource, ownListIn } from "../../research/papers/records/own-list.js";
import { userRecordsOf } from "../../compose/library.js";
import { parseColumns } from "../../research/papers/records/csv.js";
import { editResearch } from "../../research/project-files/edit-by-command.js";
import { candidatesFile, rrdFile, searchFile } from "../../research/project-files/layout.js";
import { removeRounds } from "../../research/units/screening/reset-search.js";
import { rootOf } from "../../research/workflow/brief/prompt-file.js";
import { derive } from "../../research/workflow/derive.js";
import { namedSources } from "./typed-sources.js";

/** What the user typed for a new search. */
interface NewSources {
  readonly sources: readonly string[];
  readonly columns?: readonly string[] | undefined;
  /** Whether the user also chose the target. */
  readonly hasTarget: boolean;
}

/**
 * Changes the sources of a project. A new search starts; the papers of the project stay, and so do the user's own lists
 * and folders: their records are counted in the flow. If all records of these were wanted, so are those of a new one.
 */
export async function changeSources(
  folder: string,
  rrd: Rrd,
  { sources: typedNames, columns, hasTarget }: NewSources,
  git: boolean,
  io: Io,
): Promise<Rrd> {
  const root = rootOf(folder, io.cwd);
  const { names, notices } = namedSources(typedNames, root);
  for (const sentence of notices) say(io, sentence);
  const columnNames = columns && parseColumns(columns);
  const sources = [...earlierUserSources(rrd, names, root), ...names];
  const asWanted = (current: Rrd): Rrd => withNewSearch(current, sources, columnNames);
  const target = hasTarget ? targetOf(rrd) : await targetWith(rrd, asWanted(rrd), root);
  const paperCount = rrd.papers_pool.length;
  if (paperCount >= target)
    throw new ExpectedError(
      `${basename(folder)} already has its target of ${paperCount} papers, so other sources would change nothing; add -p ${paperCount + 20} --force to find 20 more.`,
      2,
    );
  const notify = (_: string, message: string) => say(io, message);
  const change = (current: Rrd): Rrd => {
    const changed = asWanted(current);
    return target === targetOf(rrd)
      ? changed
      : { ...changed, requirements: { ...changed.requirements, target_papers: target } };
  };
  const edited = await editResearch(folder, change, { derive, git, notify });
  for (const file of [candidatesFile, searchFile]) await rm(file(folder), { force: true });
  return edited.rrd;
}

/** The user's lists and folders of a project that these names do not name again. */
function earlierUserSources({ requirements }: Rrd, names: readonly string[], root: string): string[] {
  const placeOf = (name: string) => resolve(root, ownListIn(name)?.place ?? name);
  const places = new Set(names.map(placeOf));
  return (requirements.sources ?? []).filter((name) => isUserSource(name) && !places.has(placeOf(name)));
}

/** The target with other sources: all records of the user, if the target was all of them before. */
async function targetWith(before: Rrd, after: Rrd, root: string): Promise<number> {
  const [target, earlier, now] = [
    targetOf(before),
    await userRecordsOf(before, root),
    await userRecordsOf(after, root),
  ];
  if (earlier === undefined || now === undefined || target < earlier.records) return target;
  return Math.max(target, now.records);
}

/** The options of a new project, each with a function that returns its value in a project. */
const valuesOfOptions: readonly (readonly [
  option: string,
  property: keyof ProjectOptions,
  valueIn: (rrd: Rrd) => unknown,
])[] = [
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
 * Requires that an existing project already has the values of the typed options, because a run does not change them.
 * @throws ExpectedError (exit code 2) with the options that would have no effect.
 */
export async function requireSameWishes(folder: string, rrd: Rrd, wishes: ProjectOptions, io: Io): Promise<void> {
  const { fields, ...typedFields } = await typedOptions(wishes, io.cwd);
  const rrdOfOptions = newRrd(
    { ...typedFields, fields: formWith([], fields), papers: 1, sources: [] },
    { ...requirementsOfTopic(""), keywords: [] },
  );
  const changes = valuesOfOptions.filter(
    ([, property, valueIn]) => wishes[property] !== undefined && !isContained(valueIn(rrdOfOptions), valueIn(rrd)),
  );
  if (changes.length === 0) return;
  const name = nameFor(io.cwd, folder);
  const options = changes.map(([option]) => option);
  const otherOptions = options.filter((option) => option !== "--field").join(", ");
  const ways = [
    options.includes("--field") ? `research-ralph extract ${shellWord(name)} --field … adds a field` : "",
    otherOptions === "" ? "" : `${otherOptions} can be changed in ${displayPath(io.cwd, rrdFile(folder))}`,
  ].filter((way) => way !== "");
  throw new ExpectedError(
    `${name} already has this question, and ${options.join(", ")} would not change it: ${ways.join(", and ")}. To go on, leave ${options.length === 1 ? "it" : "them"} out; with --name and a new name it makes another project.`,
    2,
  );
}

/** Whether `whole` contains `part`: equal values, the items of a list in any order, the properties of an object. */
function isContained(part: unknown, whole: unknown): boolean {
  if (Array.isArray(part))
    return Array.isArray(whole) && part.every((item) => whole.some((other) => isContained(item, other)));
  if (typeof part !== "object" || part === null) return part === whole;
  if (typeof whole !== "object" || whole === null) return false;
  return Object.entries(part).every(([name, value]) => isContained(value, (whole as Record<string, unknown>)[name]));
}

/** The state with these sources, in which the search starts again and none of them counts as failed or blocked. */
function withNewSearch(rrd: Rrd, sources: readonly string[], columns: Columns | undefined): Rrd {
  const { statistics, blocked_sources } = rrd;
  const oldMetrics = statistics?.discovery_metrics;
  const names = blockedNames(rrd);
  const failures = Object.entries(oldMetrics?.failures_in_a_row ?? {}).filter(([name]) => !sources.includes(name));
  const discovery_metrics = {
    ...removeRounds(oldMetrics ?? {}),
    batches_without_new: 0,
    ...(oldMetrics?.failures_in_a_row === undefined ? {} : { failures_in_a_row: Object.fromEntries(failures) }),
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
