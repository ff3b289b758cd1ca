import { type ConfigFlags, configToRead } from "../../compose/config.js";
import { ExpectedError } from "../../engine/lib/errors.js";
import { oneLine } from "../../engine/lib/sanitise.js";
import type { Io } from "../../engine/ui/io.js";
import { say } from "../../engine/ui/terminal/format.js";
import type { Paper, Rrd, Settled } from "../../research/generated/rrd.js";
import { findResearch, nameFor } from "../../research/overview/find-research.js";
import { recordNamed } from "../../research/overview/which-record.js";
import { nameOf } from "../../research/papers/paper-keys.js";
import { editResearch } from "../../research/project-files/edit-by-command.js";
import { fieldNamed, formOf } from "../../research/project-files/form.js";
import { signState } from "../../research/project-files/guarded/signed-state.js";
import { readResearch } from "../../research/project-files/research.js";
import { renderProject } from "../../research/report/documents/render-project.js";
import { answeredFor } from "../../research/units/form/agreement.js";
import { textOf } from "../../research/units/form/check-values.js";
import { readNarrative } from "../../research/units/narrative/kept-narrative.js";
import { derive } from "../../research/workflow/derive.js";
import { requirePerson } from "./require-person.js";

interface SettleArguments {
  readonly folder: string;
  readonly paper: string;
  readonly field: string;
  /** "first" or "second". */
  readonly take: string;
  readonly why?: string | undefined;
  readonly flags: ConfigFlags;
  readonly json: boolean;
}

/**
 * Writes which of two agents a person follows for a field on which they differ; the documents show it at once.
 * @throws ExpectedError (exit code 2) for another word than first or second, and where they do not differ.
 */
export async function settleCommand(
  { folder: argument, paper: typed, field: named, take, why, flags, json }: SettleArguments,
  io: Io,
): Promise<number> {
  requirePerson(io.env);
  if (take !== "first" && take !== "second")
    throw new ExpectedError(`'${oneLine(take)}' is neither first nor second; name the agent whose value counts.`, 2);
  const folder = await findResearch(io.cwd, argument);
  const { git, stateDir } = await configToRead(io, flags, ["state_dir"]);
  const { rrd } = await readResearch(folder);
  const field = fieldNamed(formOf(rrd), named);
  const { id } = recordNamed(rrd, typed, nameFor(io.cwd, folder));
  const paper = rrd.papers_pool.find((each) => each.id === id);
  const answered = paper === undefined ? undefined : answeredFor(paper, field);
  if (paper === undefined || answered?.agree !== false)
    throw new ExpectedError(
      `On ${field.name} of ${oneLine(paper === undefined ? typed : nameOf(paper))} no two agents differ, so there is nothing to settle.`,
      2,
    );
  const reason = why === undefined ? {} : { why: oneLine(why).trim() };
  const one: Settled = { field: field.id, take, ...reason, at: new Date(io.clock.now()).toISOString() };
  const notify = (message: string) => say(io, message);
  await editResearch(folder, (current) => withSettled(current, id, one), {
    ...{ derive, git },
    notify: (_, message) => notify(message),
  });
  if ((await readNarrative(folder)) !== undefined) await renderProject(folder, { git, now: io.clock.now, notify });
  await signState(folder, stateDir);
  const { value } = answered[take] ?? {};
  const counts = value === undefined ? "not reported" : textOf(value);
  if (json) io.stdout(`${JSON.stringify({ folder, paper: id, ...one, value: value ?? null })}\n`);
  else io.stdout(`${oneLine(nameOf(paper))}, ${field.name}: ${oneLine(counts)} counts.\n`);
  return 0;
}

const withSettled = (rrd: Rrd, id: string, one: Settled): Rrd => ({
  ...rrd,
  papers_pool: rrd.papers_pool.map((paper): Paper => {
    if (paper.id !== id) return paper;
    return { ...paper, settled: [...(paper.settled ?? []).filter(({ field }) => field !== one.field), one] };
  }),
});
