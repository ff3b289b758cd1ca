import { linesOf, repeatedName } from "../../engine/storage/json-syntax.js";
import { readRegularText } from "../../engine/storage/regular-file.js";
import { readLedger } from "../../engine/storage/state/ledger.js";
import { restoreHint } from "../../engine/storage/state/state-file.js";
import { rrdFile } from "../../research/project-files/layout.js";
import { laterFormatIn } from "../../research/project-files/research.js";
import { readRrdFile, researchFormat } from "../../research/project-files/rrd-file.js";
import { inconsistencies } from "../../research/derived/inconsistencies.js";
import type { Finding, Validated } from "./kind.js";

/** Everything that is wrong with a project's rrd.json and ledger. */
export async function validateProject(folder: string): Promise<Validated> {
  const file = rrdFile(folder);
  const findings = await findingsOf(folder, file);
  const isPlaced = findings.some(({ pointer }) => pointer !== "");
  return {
    file,
    findings: isPlaced ? placed(await readRegularText(file), findings) : findings,
    wayBack: await restoreHint(folder, researchFormat),
  };
}

/** Findings in the order of the text, with the lines of what their pointers name in it. */
export function placed(text: string, findings: readonly Finding[]): Finding[] {
  const lines = linesOf(
    text,
    findings.map(({ pointer }) => pointer),
  );
  const withLine = findings.map((each, index) => {
    const line = lines[index];
    return each.pointer === "" || line === undefined ? each : { ...each, line };
  });
  return withLine.toSorted((one, other) => (one.line ?? 0) - (other.line ?? 0));
}

async function findingsOf(folder: string, path: string): Promise<Finding[]> {
  const parsed = await readRrdFile(path);
  const twice = parsed.ok === undefined ? undefined : repeatedName(await readRegularText(path));
  const repeated: Finding[] =
    twice === undefined
      ? []
      : [{ level: "warning", pointer: "", message: `${twice} stands twice in one object, and the last one counts` }];
  const ledger = (await readLedger(folder)).notices.map((message): Finding => ({
    level: "warning",
    pointer: "",
    message,
  }));
  const rrd =
    parsed.ok === undefined
      ? parsed.problems.map((problem): Finding => ({ level: "error", ...problem }))
      : inconsistencies(parsed.ok).map((warning): Finding => ({ level: "warning", ...warning }));
  const later = await laterFormatIn(folder);
  const news: Finding[] = later === undefined ? [] : [{ level: "warning", pointer: "", message: later }];
  const read = parsed.changes.map((change): Finding => ({ level: "warning", ...change }));
  return [...news, ...repeated, ...rrd, ...read, ...ledger];
}
