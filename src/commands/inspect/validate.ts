import { basename, join } from "node:path";
import { configToRead } from "../../compose/config.js";
import { addExtensions } from "../../compose/extensions/extensions.js";
import { oneLine } from "../../engine/lib/sanitise.js";
import { quantity } from "../../engine/lib/words.js";
import type { Io } from "../../engine/ui/io.js";
import { type FolderOptions, displayPath } from "../../research/overview/find-research.js";
import { findWork, kinds } from "../kinds/find-work.js";
import type { Finding } from "../kinds/kind.js";

/**
 * Prints every problem in the files of a project or a task, with its location and what to do. The exit code is 1 for
 * errors, not for warnings: files of old runs contain contradictions, but can be used.
 */
export async function validateCommand({ folder: argument, json }: FolderOptions, io: Io): Promise<number> {
  const kindsWithValidation = kinds.filter(({ validate }) => validate !== undefined);
  const { kind, folder } = await findWork(io.cwd, argument, kindsWithValidation);
  const validation = await kind.validate?.(folder);
  if (validation === undefined) return 0;
  const { file, repairHint } = validation;
  const findings = [...validation.findings, ...(await pluginFindings(io))];
  const errors = findings.filter(({ level }) => level === "error").length;
  const isValid = errors === 0;
  if (json) io.stdout(`${JSON.stringify({ file, valid: isValid, findings }, null, 2)}\n`);
  else {
    for (const finding of findings) io.stdout(`${findingLine(basename(file), finding)}\n`);
    if (!isValid) io.stdout(`Correct the file, ${repairHint}.\n`);
    const counts = `${quantity(errors, "error")}, ${quantity(findings.length - errors, "warning")}`;
    const invalidFiles = findings
      .filter(({ level }) => level === "error")
      .map((finding) => finding.file ?? basename(file));
    const names = [...new Set(isValid ? [basename(file)] : invalidFiles)].map((name) =>
      displayPath(io.cwd, join(folder, name)),
    );
    const verb = names.length === 1 ? "is" : "are";
    io.stdout(`${names.join(" and ")} ${verb} ${isValid ? "valid" : "not valid"}: ${counts}\n`);
  }
  return isValid ? 0 : 1;
}

/** A warning for each plugin of the current folder that can't be loaded. A run continues without it. */
async function pluginFindings(io: Io): Promise<Finding[]> {
  const config = await configToRead(io);
  return (await addExtensions(config, io)).flatMap(({ ok, detail }) =>
    ok ? [] : [{ level: "warning" as const, pointer: "", message: detail }],
  );
}

/** "error: rrd.json:12 /papers_pool/0/status: … — what to do". */
function findingLine(name: string, { level, file = name, pointer, line, message, hint, derived }: Finding): string {
  const location = [...(line === undefined ? [] : [`${file}:${line}`]), ...(pointer === "" ? [] : [oneLine(pointer)])];
  const values = JSON.stringify(derived);
  const details = [
    ...(hint === undefined ? [] : [hint]),
    ...(derived === undefined || message.includes(values) ? [] : [`derived: ${values}`]),
  ];
  return [
    `${level}: ${location.length === 0 ? "" : `${location.join(" ")}: `}${oneLine(message)}`,
    ...(details.length === 0 ? [] : [oneLine(details.join("; "))]),
  ].join(" — ");
}
