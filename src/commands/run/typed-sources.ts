import { existsSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { ExpectedError } from "../../engine/lib/errors.js";
import { webAddressFrom } from "../../engine/lib/json-fields.js";
import { nearestCandidate } from "../../engine/lib/nearest.js";
import { readStats } from "../../engine/storage/regular-file.js";
import { ownListIn } from "../../research/papers/records/own-list.js";
import { namedServices, sourceNamed, substituteFor, substitutes } from "../../research/sources/registry.js";

/**
 * Sources other than services: the agent's web search, a folder with documents, the packaged samples, lists of works.
 */
const otherSources = ["web", "folder:<path>", "samples", "an export such as embase.ris", "zotero:"] as const;

/**
 * The names of sources in the form for a project, and a notice for each source that is replaced by another one. `root`:
 * the folder to which paths are relative.
 * @throws ExpectedError (exit code 2) for an unknown name, or a folder or file that does not exist.
 */
export function namedSources(
  names: readonly string[],
  root: string,
): { readonly names: string[]; readonly notices: readonly string[] } {
  const sourceNames = names.map((name) => name.trim()).filter((name) => name !== "");
  if (sourceNames.length === 0) throw new ExpectedError("--source names no source.", 2);
  for (const name of sourceNames) requireSource(name, root);
  const notices = sourceNames.flatMap((name) =>
    sourceNamed(name, root) === undefined ? (substituteFor(name)?.reason ?? []) : [],
  );
  // A source may be typed in lower case or by another of its names.
  const canonicalName = (name: string) => namedServices().find((source) => source === sourceNamed(name, root))?.name;
  return { names: [...new Set(sourceNames.map((name) => canonicalName(name) ?? name))], notices };
}

function requireSource(name: string, root: string): void {
  if (name === "web" || name === "samples") return;
  const folder = /^folder:\s*(\S.*)$/i.exec(name)?.[1];
  if (folder !== undefined) {
    const path = resolve(root, folder);
    if (existsSync(path) && statSync(path).isDirectory()) return;
    throw new ExpectedError(`--source ${name}: there is no folder ${path}.`, 2);
  }
  const list = ownListIn(name);
  if (list !== undefined && webAddressFrom(list.place) === undefined) {
    const path = resolve(root, list.place);
    if (readStats(path)?.isFile() === true) return;
    throw new ExpectedError(`--source ${name}: there is no file ${path}.`, 2);
  }
  if (sourceNamed(name, root) !== undefined || substituteFor(name) !== undefined) return;
  const names = [...namedServices(), ...substitutes].map((candidate) => candidate.name);
  const nearestLowerName = nearestCandidate(
    name.toLowerCase(),
    names.map((candidate) => candidate.toLowerCase()),
  );
  const nearestName = names.find((candidate) => candidate.toLowerCase() === nearestLowerName);
  throw new ExpectedError(
    `There is no source '${name}'; ${nearestName === undefined ? `there are ${[...names, ...otherSources].join(", ")}` : `the nearest one is '${nearestName}'`}.`,
    2,
  );
}

/**
 * The first and the last day of a period, from dates such as 2024, 2024-06 or 2024-06-30.
 * @throws ExpectedError (exit code 2) for an invalid date, or if the first day is after the last one.
 */
export function datesOf(from: string | undefined, until: string | undefined): { from?: string; until?: string } {
  const days = { ...dayOf("--from", from, "first"), ...dayOf("--until", until, "last") };
  if (days.from !== undefined && days.until !== undefined && days.from > days.until)
    throw new ExpectedError(`--from (${days.from}) is after --until (${days.until}).`, 2);
  return days;
}

/** The first or last day of a year, a month or a day. */
function dayOf(
  flag: "--from" | "--until",
  value: string | undefined,
  which: "first" | "last",
): { from?: string; until?: string } {
  if (value === undefined) return {};
  const [, year = "", month, day] = /^(\d{4})(?:-(\d{2})(?:-(\d{2}))?)?$/.exec(value) ?? [];
  const fullMonth = month ?? (which === "first" ? "01" : "12");
  const lastDay = new Date(Date.UTC(Number(year), Number(fullMonth), 0)).getUTCDate();
  const date = `${year}-${fullMonth}-${day ?? (which === "first" ? "01" : String(lastDay).padStart(2, "0"))}`;
  const time = Date.parse(`${date}T00:00:00Z`);
  // 2024-02-30 is read as the first of March.
  if (year === "" || Number.isNaN(time) || !new Date(time).toISOString().startsWith(date))
    throw new ExpectedError(`${flag} is '${value}'; it must be a date such as 2024, 2024-06 or 2024-06-30.`, 2);
  return which === "first" ? { from: date } : { until: date };
}
