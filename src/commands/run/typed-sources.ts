import { existsSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { ExpectedError } from "../../engine/lib/errors.js";
import { webAddressFrom } from "../../engine/lib/json-fields.js";
import { nearestCandidate } from "../../engine/lib/nearest.js";
import { statsAt } from "../../engine/storage/regular-file.js";
import { ownListIn } from "../../research/papers/records/own-list.js";
import { namedServices, sourceNamed, substituteFor, substitutes } from "../../research/sources/registry.js";

/** Sources that are not a service: the agent's own search, the documents of a folder, the packaged samples. */
const others = ["web", "folder:<path>", "samples", "an export such as embase.ris", "zotero:"] as const;

/**
 * Sources as a project names them, and a sentence for each that another one stands in for. `root`: the folder that
 * paths start from.
 * @throws ExpectedError (exit code 2) for a name of nothing, and a folder that is not there.
 */
export function namedSources(
  names: readonly string[],
  root: string,
): { readonly named: string[]; readonly said: readonly string[] } {
  const named = names.map((name) => name.trim()).filter((name) => name !== "");
  if (named.length === 0) throw new ExpectedError("--source names no source.", 2);
  for (const name of named) requireSource(name, root);
  const said = named.flatMap((name) =>
    sourceNamed(name, root) === undefined ? (substituteFor(name)?.reason ?? []) : [],
  );
  // In small letters or under another of its names it is the same source.
  const own = (name: string) => namedServices().find((source) => source === sourceNamed(name, root))?.name;
  return { named: [...new Set(named.map((name) => own(name) ?? name))], said };
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
    if (statsAt(path)?.isFile() === true) return;
    throw new ExpectedError(`--source ${name}: there is no file ${path}.`, 2);
  }
  if (sourceNamed(name, root) !== undefined || substituteFor(name) !== undefined) return;
  const names = [...namedServices(), ...substitutes].map((each) => each.name);
  const near = nearestCandidate(
    name.toLowerCase(),
    names.map((each) => each.toLowerCase()),
  );
  const meant = names.find((each) => each.toLowerCase() === near);
  throw new ExpectedError(
    `There is no source '${name}'; ${meant === undefined ? `there are ${[...names, ...others].join(", ")}` : `the nearest one is '${meant}'`}.`,
    2,
  );
}

/**
 * The days that two dates of one, two or three parts mean, in order. @throws ExpectedError (exit code 2) where one is
 * no date.
 */
export function datesOf(from: string | undefined, until: string | undefined): { from?: string; until?: string } {
  const days = { ...dayOf("--from", from, "first"), ...dayOf("--until", until, "last") };
  if (days.from !== undefined && days.until !== undefined && days.from > days.until)
    throw new ExpectedError(`--from (${days.from}) is after --until (${days.until}).`, 2);
  return days;
}

/** The first or last day that a date of one, two or three parts means. */
function dayOf(
  flag: "--from" | "--until",
  value: string | undefined,
  which: "first" | "last",
): { from?: string; until?: string } {
  if (value === undefined) return {};
  const [, year = "", month, day] = /^(\d{4})(?:-(\d{2})(?:-(\d{2}))?)?$/.exec(value) ?? [];
  const inMonth = month ?? (which === "first" ? "01" : "12");
  const last = new Date(Date.UTC(Number(year), Number(inMonth), 0)).getUTCDate();
  const date = `${year}-${inMonth}-${day ?? (which === "first" ? "01" : String(last).padStart(2, "0"))}`;
  const time = Date.parse(`${date}T00:00:00Z`);
  // 2024-02-30 is read as the first of March.
  if (year === "" || Number.isNaN(time) || !new Date(time).toISOString().startsWith(date))
    throw new ExpectedError(`${flag} is '${value}'; it must be a date such as 2024, 2024-06 or 2024-06-30.`, 2);
  return which === "first" ? { from: date } : { until: date };
}
