import { requireAgents, withLastAgent } from "../../compose/agents.js";
import { type ConfigFlags, type ResolvedConfig, resolveConfig } from "../../compose/config.js";
import { forecastOfSize } from "../../compose/forecast-basis.js";
import { roleNamesOf } from "../../compose/sharing.js";
import { ExpectedError } from "../../engine/lib/errors.js";
import { shellWord } from "../../engine/lib/sanitise.js";
import { estimateTokens } from "../../engine/lib/tokens.js";
import { quantity } from "../../engine/lib/words.js";
import type { Io } from "../../engine/ui/io.js";
import { say } from "../../engine/ui/terminal/format.js";
import { forecastText } from "../../engine/ui/terminal/tally.js";
import { lastCachedText } from "../../research/full-text/text-cache.js";
import { updateReport } from "../../research/report/documents/show-in-report.js";
import type { LedgerLine } from "../../engine/generated/ledger.js";
import type { Rrd } from "../../research/generated/rrd.js";
import { findResearch, nameFor } from "../../research/overview/find-research.js";
import { editResearch } from "../../research/project-files/edit-by-command.js";
import { fieldNamed, formOf, formWith, type NewField } from "../../research/project-files/form.js";
import { textsFolder } from "../../research/project-files/layout.js";
import { signState } from "../../research/project-files/guarded/signed-state.js";
import { readResearch } from "../../research/project-files/research.js";
import { extract } from "../../research/units/form/kind.js";
import {
  fieldsToFill,
  type Filler,
  openForms,
  type OpenForm,
  reopenForms,
} from "../../research/units/form/open-forms.js";
import { formInstructions } from "../../research/units/form/section.js";
import { derive } from "../../research/workflow/derive.js";
import { statusOf } from "../../research/workflow/next-unit.js";
import { requirePerson } from "./require-person.js";
import { requireConsent } from "../run/ask-person.js";
import { work } from "../run/run.js";
import { requireForm, typedForm } from "../run/typed-form.js";

interface ExtractArguments {
  readonly folder?: string;
  /** Fields to add or change, in the form of `new --field`. */
  readonly fields: readonly string[];
  /** Names or ids of fields to remove from the form. */
  readonly without: readonly string[];
  /** True to start without asking for consent. */
  readonly yes: boolean;
  readonly flags: ConfigFlags;
  readonly quiet: boolean;
  readonly verbose?: boolean;
  readonly json: boolean;
}

/**
 * Adds, changes or removes fields of a project's form. If the user agrees to the cost, agents then look for missing
 * values in the papers that were read. The exit code is that of the run.
 * @throws ExpectedError (exit code 2) for an invalid field, or if the user does not agree.
 */
export async function extractCommand(args: ExtractArguments, io: Io): Promise<number> {
  requirePerson(io.env);
  const folder = await findResearch(io.cwd, args.folder);
  const config = await withLastAgent(await resolveConfig(io, args.flags), folder, io);
  const addedFields = await typedForm(args.fields, io.cwd);
  const { rrd, ledger } = await readResearch(folder);
  const fillers: readonly Filler[] = config.secondReader === undefined ? ["first"] : ["first", "second"];
  const changeForm = (current: Rrd) => reopenForms(withForm(current, addedFields, args.without), fillers);
  const newRrd = changeForm(rrd);
  if (formOf(newRrd).length === 0 && args.without.length === 0)
    throw new ExpectedError(
      "The project has no fields to extract; add one with --field 'sample size: how many participants, per arm'.",
      2,
    );
  const name = nameFor(io.cwd, folder);
  const storeForm = async () => {
    const edited = await editResearch(folder, changeForm, {
      derive,
      git: config.git,
      notify: (_, message) => say(io, message),
    });
    await signState(folder, config.stateDir);
    return edited.rrd;
  };
  const formsToFill = openForms(newRrd);
  const isReportWritten = statusOf(rrd, ledger).done.includes("report");
  if (formsToFill.length === 0 || !isReportWritten) {
    await storeForm();
    if (isReportWritten)
      await updateReport(folder, {
        git: config.git,
        stateDir: config.stateDir,
        now: io.clock.now,
        notify: (message) => say(io, message),
      });
    say(
      io,
      isReportWritten
        ? "No agent is needed: all fields have answers for all papers that were read."
        : `The fields are stored. No agent was started, because ${name} is not finished: 'research-ralph run ${shellWord(name)}' looks for them, first in the papers that were not read yet, then in the others.`,
    );
    return 0;
  }
  await requireAgents(config, io, false, roleNamesOf(config));
  const costs = await costLines(folder, { rrd: newRrd, ledger }, formsToFill, config, io);
  if (!args.json || io.canAsk) for (const line of costs) say(io, line);
  await requireConsent(io, {
    yes: args.yes,
    toBegin: "Yes, look for them",
    otherwise: "Nothing was changed and no agent was started",
    cost: args.json ? costs.join(" ").replace(/\.$/, "") : undefined,
  });
  return work(folder, await storeForm(), config, io, { ...args, forecast: false });
}

/** The state with the changed form. @throws ExpectedError (exit code 2) if the form is invalid. */
function withForm(rrd: Rrd, addedFields: readonly NewField[], removedFields: readonly string[]): Rrd {
  const form = formOf(rrd);
  const fieldsToRemove = removedFields.map((typed) => fieldNamed(form, typed));
  const fields = formWith(
    form.filter((field) => !fieldsToRemove.includes(field)),
    addedFields,
  );
  requireForm(fields);
  return { ...rrd, requirements: { ...rrd.requirements, fields } };
}

/** One sentence for each agent with the forecast of its cost, from the sizes of the stored texts. */
async function costLines(
  folder: string,
  state: { readonly rrd: Rrd; readonly ledger: readonly LedgerLine[] },
  formsToFill: readonly OpenForm[],
  config: ResolvedConfig,
  io: Io,
): Promise<string[]> {
  const { rrd } = state;
  const lines: string[] = [];
  for (const filler of ["first", "second"] as const) {
    const formsOfAgent = formsToFill.filter((form) => form.filler === filler);
    if (formsOfAgent.length === 0) continue;
    let inputTokens = 0;
    let storedCount = 0;
    for (const { paper } of formsOfAgent) {
      const text = await lastCachedText(textsFolder(folder), paper.id);
      if (text !== undefined) storedCount += 1;
      const formTokens = estimateTokens(formInstructions(fieldsToFill(rrd, paper, filler)));
      inputTokens += text === undefined ? extract.estimate.input : otherTokens + formTokens + estimateTokens(text.text);
    }
    const figure = { ...extract.estimate, input: Math.round(inputTokens / formsOfAgent.length) };
    const agent = filler === "first" ? config.agent : (config.secondReader ?? config.agent);
    const forecast = forecastOfSize(config, io, agent, state, {
      kind: extract.name,
      figure,
      units: formsOfAgent.length,
    });
    const fields = new Set(formsOfAgent.flatMap(({ paper }) => fieldsToFill(rrd, paper, filler).map(({ id }) => id)));
    lines.push(
      `${agent} looks for ${quantity(fields.size, "field")} in ${quantity(formsOfAgent.length, "paper")}${forecast === undefined ? "" : `: ${forecastText(forecast)}`}; estimated from ${storedCount === formsOfAgent.length ? "the stored texts" : `${quantity(storedCount, "stored text")} and a usual length for the others`}.`,
    );
  }
  return lines;
}

/** Tokens of a brief in addition to the paper's text and the form, with those that an agent's CLI adds. */
const otherTokens = 3_000;
