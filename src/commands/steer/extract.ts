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
  withFormsOpen,
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
  /** Fields to add or to change, as `new --field` takes them. */
  readonly fields: readonly string[];
  /** Names or ids of fields to take out of the form. */
  readonly without: readonly string[];
  /** Begin without asking. */
  readonly yes: boolean;
  readonly flags: ConfigFlags;
  readonly quiet: boolean;
  readonly verbose?: boolean;
  readonly json: boolean;
}

/**
 * Adds, changes or takes out fields of a project's form, and has what is missing looked for in the texts of the papers
 * that were read, once the person has agreed to what that costs. The exit code is that of the run.
 * @throws ExpectedError (exit code 2) for a field that can't be used, and where nobody agrees.
 */
export async function extractCommand(args: ExtractArguments, io: Io): Promise<number> {
  requirePerson(io.env);
  const folder = await findResearch(io.cwd, args.folder);
  const config = await withLastAgent(await resolveConfig(io, args.flags), folder, io);
  const added = await typedForm(args.fields, io.cwd);
  const { rrd, ledger } = await readResearch(folder);
  const fillers: readonly Filler[] = config.secondReader === undefined ? ["first"] : ["first", "second"];
  const change = (current: Rrd) => withFormsOpen(withForm(current, added, args.without), fillers);
  const changed = change(rrd);
  if (formOf(changed).length === 0 && args.without.length === 0)
    throw new ExpectedError(
      "The project has no fields to extract; add one with --field 'sample size: how many participants, per arm'.",
      2,
    );
  const name = nameFor(io.cwd, folder);
  const edit = async () => {
    const edited = await editResearch(folder, change, {
      derive,
      git: config.git,
      notify: (_, message) => say(io, message),
    });
    await signState(folder, config.stateDir);
    return edited.rrd;
  };
  const open = openForms(changed);
  const isDone = statusOf(rrd, ledger).done.includes("report");
  if (open.length === 0 || !isDone) {
    await edit();
    if (isDone)
      await updateReport(folder, {
        git: config.git,
        stateDir: config.stateDir,
        now: io.clock.now,
        notify: (message) => say(io, message),
      });
    say(
      io,
      isDone
        ? "No agent is needed: every field is answered for every paper that was read."
        : `The fields are kept, and no agent was started: ${name} is not finished. 'research-ralph run ${shellWord(name)}' asks for them of the papers that are still to be read, and then of the others.`,
    );
    return 0;
  }
  await requireAgents(config, io, false, roleNamesOf(config));
  for (const line of await costLines(folder, changed, open, config, io)) say(io, line);
  await requireConsent(io, {
    yes: args.yes,
    toBegin: "Yes, look for them",
    otherwise: "Nothing was changed and no agent was started",
  });
  return work(folder, await edit(), config, io, { ...args, forecast: false });
}

/** The state with another form. @throws ExpectedError (exit code 2) where it can't be used. */
function withForm(rrd: Rrd, added: readonly NewField[], without: readonly string[]): Rrd {
  const form = formOf(rrd);
  const gone = without.map((typed) => fieldNamed(form, typed));
  const fields = formWith(
    form.filter((field) => !gone.includes(field)),
    added,
  );
  requireForm(fields);
  return { ...rrd, requirements: { ...rrd.requirements, fields } };
}

/** What the forms take, by the agent that fills them in: the sizes of the stored texts, at the price of its model. */
async function costLines(
  folder: string,
  rrd: Rrd,
  open: readonly OpenForm[],
  config: ResolvedConfig,
  io: Io,
): Promise<string[]> {
  const lines: string[] = [];
  for (const filler of ["first", "second"] as const) {
    const mine = open.filter((form) => form.filler === filler);
    if (mine.length === 0) continue;
    let input = 0;
    let stored = 0;
    for (const { paper } of mine) {
      const text = await lastCachedText(textsFolder(folder), paper.id);
      if (text !== undefined) stored += 1;
      const form = estimateTokens(formInstructions(fieldsToFill(rrd, paper, filler)));
      input += text === undefined ? extract.figure.input : ownTokens + form + estimateTokens(text.text);
    }
    const figure = { ...extract.figure, input: Math.round(input / mine.length) };
    const agent = filler === "first" ? config.agent : (config.secondReader ?? config.agent);
    const forecast = forecastOfSize(config, io, agent, rrd, { kind: extract.name, figure, units: mine.length });
    const fields = new Set(mine.flatMap(({ paper }) => fieldsToFill(rrd, paper, filler).map(({ id }) => id)));
    lines.push(
      `${agent} looks for ${quantity(fields.size, "field")} in ${quantity(mine.length, "paper")}${forecast === undefined ? "" : `: ${forecastText(forecast)}`}; estimated from ${stored === mine.length ? "the stored texts" : `${quantity(stored, "stored text")} and a usual length for the others`}.`,
    );
  }
  return lines;
}

/** Tokens of a brief besides its text and its form, and those that an agent's CLI adds. */
const ownTokens = 3_000;
