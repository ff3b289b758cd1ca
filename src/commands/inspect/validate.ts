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
 * Prints every problem of a project's or a task's files with its place and what to do. Exit code 1 only for errors: old
 * runs contradict themselves, and are read all the same.
 */
export async function validateCommand({ folder: argument, json }: FolderOptions, io: Io): Promise<number> {
  const offering = kinds.filter(({ validate }) => validate !== undefined);
  const { kind, folder } = await findWork(io.cwd, argument, offering);
  const validated = await kind.validate?.(folder);
  if (validated === undefined) return 0;
  const { file, wayBack } = validated;
  const findings = [...validated.findings, ...(await pluginFindings(io))];
  const errors = findings.filter(({ level }) => level === "error").length;
  const valid = errors === 0;
  if (json) io.stdout(`${JSON.stringify({ file, valid, findings }, null, 2)}\n`);
  else {
    for (const finding of findings) io.stdout(`${findingLine(basename(file), finding)}\n`);
    if (!valid) io.stdout(`Correct the file, ${wayBack}.\n`);
    const counts = `${quantity(errors, "error")}, ${quantity(findings.length - errors, "warning")}`;
    const bad = findings.filter(({ level }) => level === "error").map((each) => each.file ?? basename(file));
    const names = [...new Set(valid ? [basename(file)] : bad)].map((name) => displayPath(io.cwd, join(folder, name)));
    const verb = names.length === 1 ? "is" : "are";
    io.stdout(`${names.join(" and ")} ${verb} ${valid ? "valid" : "not valid"}: ${counts}\n`);
  }
  return valid ? 0 : 1;
}

/** The plugins of the folder where the person stands that can't be loaded: a run goes on without them. */
async function pluginFindings(io: Io): Promise<Finding[]> {
  const config = await configToRead(io);
  return (await addExtensions(config, io)).flatMap(({ ok, detail }) =>
    ok ? [] : [{ level: "warning" as const, pointer: "", message: detail }],
  );
}

/** "error: rrd.json:12 /papers_pool/0/status: … — what to do". */
function findingLine(name: string, { level, file = name, pointer, line, message, hint, derived }: Finding): string {
  const place = [...(line === undefined ? [] : [`${file}:${line}`]), ...(pointer === "" ? [] : [oneLine(pointer)])];
  const values = JSON.stringify(derived);
  const more = [
    ...(hint === undefined ? [] : [hint]),
    ...(derived === undefined || message.includes(values) ? [] : [`derived: ${values}`]),
  ];
  return [
    `${level}: ${place.length === 0 ? "" : `${place.join(" ")}: `}${oneLine(message)}`,
    ...(more.length === 0 ? [] : [oneLine(more.join("; "))]),
  ].join(" — ");
}
