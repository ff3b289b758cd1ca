import { fieldsOf } from "../../engine/lib/json-fields.js";
import { nearestCandidate } from "../../engine/lib/nearest.js";
import { packageFile } from "../../engine/lib/package-root.js";
import type { Problem } from "../../engine/storage/problem-messages.js";
import { linesOf, findRepeatedName } from "../../engine/storage/json-syntax.js";
import { readRegularText } from "../../engine/storage/regular-file.js";
import { readLedger } from "../../engine/storage/state/ledger.js";
import { restoreHint } from "../../engine/storage/state/state-file.js";
import { rrdFile } from "../../research/project-files/layout.js";
import { laterFormatIn } from "../../research/project-files/research.js";
import { readRrdFile, researchFormat } from "../../research/project-files/rrd-file.js";
import { inconsistencies } from "../../research/derived/inconsistencies.js";
import type { Rrd } from "../../research/generated/rrd.js";
import type { Finding, Validation } from "./kind.js";

/** The parts of the schema of rrd.json that are used here. */
interface Schema {
  readonly properties: object;
  readonly $defs: Readonly<Record<"requirements" | "mission", { readonly properties: object }>>;
}

/** All problems in a project's rrd.json and ledger. */
export async function validateProject(folder: string): Promise<Validation> {
  const file = rrdFile(folder);
  const findings = await findingsOf(folder, file);
  const hasPointer = findings.some(({ pointer }) => pointer !== "");
  return {
    file,
    findings: hasPointer ? withLines(await readRegularText(file), findings) : findings,
    repairHint: await restoreHint(folder, researchFormat),
  };
}

/** The findings with the lines in `text` to which their pointers lead, sorted by line. */
export function withLines(text: string, findings: readonly Finding[]): Finding[] {
  const lines = linesOf(
    text,
    findings.map(({ pointer }) => pointer),
  );
  const locatedFindings = findings.map((finding, index) => {
    const line = lines[index];
    return finding.pointer === "" || line === undefined ? finding : { ...finding, line };
  });
  return locatedFindings.toSorted((a, b) => (a.line ?? 0) - (b.line ?? 0));
}

/**
 * The unknown fields of a project, its requirements and its mission whose names are nearly those of known ones. Other
 * unknown fields belong to somebody else and are kept.
 */
async function mistypedFields(rrd: Rrd): Promise<Problem[]> {
  const { properties, $defs } = JSON.parse(await readRegularText(packageFile("schemas", "rrd.schema.json"))) as Schema;
  const nearTo = (pointer: string, value: unknown, known: readonly string[]) =>
    Object.keys(fieldsOf(value)).flatMap((name) => {
      const nearest = known.includes(name) ? undefined : nearestCandidate(name, known);
      if (nearest === undefined || Math.abs(nearest.length - name.length) > 2) return [];
      return [
        { pointer: `${pointer}/${name}`, message: `is not a known field and has no effect; "${nearest}" is near` },
      ];
    });
  return [
    ...nearTo("", rrd, Object.keys(properties)),
    ...(["requirements", "mission"] as const).flatMap((name) =>
      nearTo(`/${name}`, rrd[name], Object.keys($defs[name].properties)),
    ),
  ];
}

async function findingsOf(folder: string, path: string): Promise<Finding[]> {
  const parsed = await readRrdFile(path);
  const repeatedKey = parsed.ok === undefined ? undefined : findRepeatedName(await readRegularText(path));
  const repeatedFindings: Finding[] =
    repeatedKey === undefined
      ? []
      : [
          {
            level: "warning",
            pointer: "",
            message: `${repeatedKey} occurs twice in one object; the last value counts`,
          },
        ];
  const ledgerFindings = (await readLedger(folder)).notices.map((message): Finding => ({
    level: "warning",
    pointer: "",
    message,
  }));
  const rrdFindings =
    parsed.ok === undefined
      ? parsed.problems.map((problem): Finding => ({ level: "error", ...problem }))
      : [...inconsistencies(parsed.ok), ...(await mistypedFields(parsed.ok))].map((warning): Finding => ({
          level: "warning",
          ...warning,
        }));
  const laterFormat = await laterFormatIn(folder);
  const formatFindings: Finding[] =
    laterFormat === undefined ? [] : [{ level: "warning", pointer: "", message: laterFormat }];
  const readingFindings = parsed.changes.map((change): Finding => ({ level: "warning", ...change }));
  return [...formatFindings, ...repeatedFindings, ...rrdFindings, ...readingFindings, ...ledgerFindings];
}
