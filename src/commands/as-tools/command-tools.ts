import { isObject } from "../../engine/lib/json-fields.js";
import { checkArguments } from "../../engine/tools/check-arguments.js";
import type { CallAnswer, ServedTool } from "../../engine/tools/mcp-server.js";
import { asProblem, isProblem, type Parameter, type Problem } from "../../engine/tools/tool.js";
import { findResearch } from "../../research/overview/find-research.js";
import { ownListIn } from "../../research/papers/records/own-list.js";
import { requireInside } from "../steer/inside-folder.js";
import { answerWithText, toAnswer, type Call, callCommand, type Caller, commandLine } from "./call-command.js";
import { runInBackground, type RunBudget, problemOfBudget } from "./run-apart.js";

/** The arguments of all tools. A call has those of its tool, checked against the tool's parameters. */
interface ToolArguments extends RunBudget {
  readonly project?: string;
  readonly projects?: readonly string[];
  readonly paper?: string;
  readonly topic?: string;
  readonly sources?: readonly string[];
  readonly criteria?: readonly string[];
  readonly keywords?: readonly string[];
  readonly name?: string;
  readonly papers?: number;
  readonly from?: string;
  readonly until?: string;
  readonly question?: string;
  readonly references?: readonly string[];
  readonly text?: string;
  readonly clear?: boolean;
  readonly wait?: boolean;
}

/** A tool that runs one or two commands. */
interface CommandTool {
  readonly name: string;
  readonly description: string;
  readonly parameters: Readonly<Partial<Record<keyof ToolArguments, Parameter>>>;
  /** The parameters that a call must have. */
  readonly required?: readonly (keyof ToolArguments)[];
  /** The JSON Schema types of the fields that each answer has. An answer may have more fields. */
  readonly outputFields: Readonly<Record<string, object>>;
  /** `reads`: the tool changes nothing. `changes`: it changes files of a project. `spends`: it also starts an agent. */
  readonly effect: "reads" | "changes" | "spends";
  call(given: ToolArguments, caller: Caller, call: Call): Promise<CallAnswer | Problem>;
}

const textParameter = (description: string): Parameter => ({ type: "string", description, maxLength: 2_000 });
const textListParameter = (description: string): Parameter => ({
  type: "array",
  description,
  maxItems: 50,
  items: { type: "string", maxLength: 2_000 },
});
const amountParameter = (description: string): Parameter => ({ type: "number", description, exclusiveMinimum: 0 });
const countParameter = (description: string): Parameter => ({
  type: "integer",
  description,
  minimum: 1,
  maximum: 10_000,
});
const flagParameter = (description: string): Parameter => ({ type: "boolean", description });

const projectParameter = textParameter("the project's name, as list shows it, or the beginning of the name");
const optionalProject = textParameter(
  "the project's name, or the beginning of the name; may be left out if there is only one project",
);
const runParameters = {
  max_usd: amountParameter("maximum cost of the run in US dollars"),
  max_tokens: amountParameter("maximum number of tokens of the run, input and output"),
  max_minutes: amountParameter("maximum duration of the run in minutes"),
  iterations: countParameter("maximum number of iterations of the run"),
  wait: flagParameter("true: the answer comes at the end of the run, after minutes or hours, with progress until then"),
};

const listType = { type: "array" };
const objectType = { type: "object" };
const textType = { type: "string" };
const pageType = { type: ["string", "null"], description: "absolute path of its report.html" };
const answerOfRun = {
  project: textType,
  folder: textType,
  running: { type: "boolean" },
  budget: objectType,
  forecast: objectType,
  report: pageType,
  next: { type: "string", description: "how to follow it" },
};

/**
 * The `call` of a tool that runs one command line, such as "status --all", and answers with its output. `words`: the
 * arguments of the command. `items`: if the output is an array, the name of the field that contains it.
 */
const callOf =
  (
    commandAndOption: string,
    words: (given: ToolArguments) => readonly (string | undefined)[],
    items?: string,
  ): CommandTool["call"] =>
  async (given, caller, call) => {
    const [command = "", option] = commandAndOption.split(" --");
    const options = option === undefined ? {} : { [option]: true };
    return toAnswer(await callCommand(commandLine(command, options, words(given)), caller, call), items);
  };

/** All tools; those that only read come first. */
const commandTools: readonly CommandTool[] = [
  {
    name: "list",
    description: "Lists the projects (literature reviews) and tasks of this folder, and the progress of each.",
    parameters: {},
    outputFields: { work: listType },
    effect: "reads",
    call: callOf("status --all", () => [], "work"),
  },
  {
    name: "status",
    description:
      "Shows the state of a project: phase, papers, cost, running iterations, how its last run ended, path of its report.",
    parameters: { project: optionalProject },
    outputFields: { folder: textType, phase: textType, progress: objectType, pool: listType, report: pageType },
    effect: "reads",
    call: callOf("status", (given) => [given.project]),
  },
  {
    name: "show",
    description: "Shows what was read in one paper: claims with their quotes, points, decision and reason.",
    parameters: { project: projectParameter, paper: textParameter("its key, its id or words of its title") },
    required: ["project", "paper"],
    outputFields: {},
    effect: "reads",
    call: callOf("show", (given) => [given.project, given.paper]),
  },
  {
    name: "report",
    description:
      "Shows the answer of a project's report, how sure it is, which sentences were not supported, and the path of its page.",
    parameters: { project: optionalProject },
    outputFields: {
      question: textType,
      answer: { type: ["string", "null"] },
      sureness: { type: ["string", "null"] },
      report: pageType,
    },
    effect: "reads",
    async call(given, caller, call) {
      return toAnswer(await callCommand(commandLine("report", { check: true }, [given.project]), caller, call));
    },
  },
  {
    name: "answers",
    description:
      "Lists the questions that a project was asked, with their answers, and tells which answers are out of date.",
    parameters: { project: optionalProject },
    outputFields: { answers: listType },
    effect: "reads",
    call: callOf("ask --list", (given) => [given.project], "answers"),
  },
  {
    name: "start",
    description:
      "Makes a project for a topic and starts its run in the background, within the budget that you name. It costs money: tell the person the forecast. If you name no sources, an agent chooses them first.",
    parameters: {
      topic: textParameter("the question that the review should answer"),
      sources: textListParameter("where to search: arxiv, openalex, folder:papers, export.ris"),
      criteria: textListParameter("eligibility criteria, each 'include: …' or 'exclude: …'"),
      keywords: textListParameter("more words to search for"),
      name: textParameter("a short name for the project and its folder"),
      papers: countParameter("number of papers in the project"),
      from: textParameter("earliest date of publication: 2024 or 2024-06-30"),
      until: textParameter("latest date of publication"),
      ...runParameters,
    },
    required: ["topic"],
    outputFields: answerOfRun,
    effect: "spends",
    call: start,
  },
  {
    name: "run",
    description: "Continues a project in the background, within the budget that you name.",
    parameters: { project: projectParameter, ...runParameters },
    required: ["project"],
    outputFields: answerOfRun,
    effect: "spends",
    async call({ project: projectName, wait = false, ...budget }, caller, call) {
      const budgetProblem = problemOfBudget(budget);
      if (budgetProblem !== undefined) return budgetProblem;
      return runInBackground(await findResearch(caller.io.cwd, projectName), budget, wait, caller, call);
    },
  },
  {
    name: "ask",
    description:
      "Answers a question from the papers of one or more projects. Each sentence of the answer cites quotes that were found in the papers. It may take a minute, and costs an iteration.",
    parameters: {
      question: textParameter("the question"),
      projects: textListParameter("names of projects; may be left out if there is only one"),
      max_usd: amountParameter("maximum cost in US dollars"),
    },
    required: ["question"],
    outputFields: { question: textType, statements: listType, quotes: listType },
    effect: "spends",
    call: ask,
  },
  {
    name: "add",
    description:
      "Adds papers to a project: arXiv ids, DOIs, addresses, or files of this folder. The next run reads them.",
    parameters: { project: projectParameter, references: textListParameter("papers, or files that list papers") },
    required: ["project", "references"],
    outputFields: { papers: listType },
    effect: "changes",
    async call({ project: projectName, references = [] }, caller, call) {
      for (const reference of references) requireInside(reference, caller.io.cwd, "the server");
      return toAnswer(await callCommand(commandLine("add", {}, [projectName, ...references]), caller, call));
    },
  },
  {
    name: "steer",
    description: "Gives the agents of a project an instruction in the person's words, also during a run.",
    parameters: {
      project: projectParameter,
      text: textParameter("the instruction"),
      clear: flagParameter("true: earlier instructions are removed"),
    },
    required: ["project"],
    outputFields: { steering: listType },
    effect: "changes",
    async call({ project: projectName, text: instruction, clear = false }, caller, call) {
      return toAnswer(await callCommand(commandLine("steer", { clear }, [projectName, instruction]), caller, call));
    },
  },
  {
    name: "stop",
    description: "Ends the run of a project before its next iteration; resume lets it run again.",
    parameters: { project: projectParameter },
    required: ["project"],
    outputFields: { running: { type: "boolean" } },
    effect: "changes",
    call: callOf("stop", (given) => [given.project]),
  },
  {
    name: "resume",
    description: "Allows a project that was stopped or paused to run again; run then continues it.",
    parameters: { project: projectParameter },
    required: ["project"],
    outputFields: {},
    effect: "changes",
    call: callOf("stop --undo", (given) => [given.project]),
  },
];

async function start(given: ToolArguments, caller: Caller, call: Call): Promise<CallAnswer | Problem> {
  const { topic, sources, criteria: criterion, keywords: keyword, name, papers, from, until, wait = false } = given;
  const { max_usd, max_tokens, max_minutes, iterations } = given;
  const budget = { max_usd, max_tokens, max_minutes, iterations };
  const budgetProblem = problemOfBudget(budget);
  if (budgetProblem !== undefined) return budgetProblem;
  for (const source of sources ?? []) {
    const path = /^folder:\s*(\S.*)$/i.exec(source)?.[1] ?? ownListIn(source)?.place;
    if (path !== undefined) requireInside(path, caller.io.cwd, "the server");
  }
  // Papers get points only if the user asks for them, as in `begin`.
  const options = { source: sources, criterion, keyword, name, papers, from, until, rubric: "none" };
  const created = toAnswer(await callCommand(commandLine("new", options, [topic]), caller, call));
  if (isProblem(created)) return created;
  const { type, folder, verdict } = created.structured ?? {};
  if (type !== "created" || typeof folder !== "string")
    return { problem: isObject(verdict) ? String(verdict["reason"]) : "No project was made." };
  return runInBackground(await findResearch(caller.io.cwd, folder), budget, wait, caller, call);
}

async function ask(given: ToolArguments, caller: Caller, call: Call): Promise<CallAnswer | Problem> {
  const { question, projects = [], max_usd } = given;
  const output = await callCommand(commandLine("ask", { "max-usd": max_usd }, [...projects, question]), caller, call);
  // A check of the sentences prints the answer again, with the verdicts.
  const answerValue = output.values.findLast((value) => isObject(value) && value["type"] === "answer");
  if (isObject(answerValue)) return answerWithText({ ...answerValue, type: undefined });
  const endOfRun = output.values.findLast((value) => isObject(value) && value["type"] === "run-ended");
  if (isObject(endOfRun) && isObject(endOfRun["verdict"])) return { problem: String(endOfRun["verdict"]["reason"]) };
  return toAnswer(output);
}

/** The commands as tools for a client that works for the user, in the folder of `caller`. */
export const toolsOfCommands = (caller: Caller): ServedTool[] =>
  commandTools.map(({ name, description, parameters: properties, required = [], outputFields, effect, call }) => {
    const parameters = { type: "object", properties, required } as const;
    return {
      name,
      description,
      parameters,
      answerSchema: { type: "object", properties: outputFields },
      annotations: { readOnlyHint: effect === "reads", destructiveHint: false, openWorldHint: effect === "spends" },
      async call(given, signal, progress) {
        const checkedArguments = checkArguments(name, parameters, given);
        if (isProblem(checkedArguments)) return checkedArguments;
        return await call(checkedArguments as ToolArguments, caller, { signal, progress }).catch(asProblem);
      },
    };
  });
