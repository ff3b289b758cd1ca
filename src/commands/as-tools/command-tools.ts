import { ExpectedError } from "../../engine/lib/errors.js";
import { isObject } from "../../engine/lib/json-fields.js";
import { checkArguments } from "../../engine/tools/check-arguments.js";
import type { CallAnswer, ServedTool } from "../../engine/tools/mcp-server.js";
import { isProblem, type Parameter, type Problem } from "../../engine/tools/tool.js";
import { findResearch } from "../../research/overview/find-research.js";
import { ownListIn } from "../../research/papers/records/own-list.js";
import { requireInside } from "../steer/inside-folder.js";
import { answer, answerOf, type Call, callCommand, type Caller, commandLine } from "./call-command.js";
import { runApart, type RunBudget, withoutBudget } from "./run-apart.js";

/** The arguments of clients, checked against the parameters of the tool. */
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

/** One or two commands of the terminal as a tool. */
interface CommandTool {
  readonly name: string;
  readonly description: string;
  readonly takes: Readonly<Partial<Record<keyof ToolArguments, Parameter>>>;
  readonly needs?: readonly (keyof ToolArguments)[];
  /** The fields of the answer on which clients can rely. */
  readonly answers: Readonly<Record<string, object>>;
  /** `reads`: changes nothing. `changes`: changes files of a project. `spends`: also starts an agent. */
  readonly does: "reads" | "changes" | "spends";
  call(given: ToolArguments, caller: Caller, call: Call): Promise<CallAnswer | Problem>;
}

const text = (description: string): Parameter => ({ type: "string", description, maxLength: 2_000 });
const texts = (description: string): Parameter => ({
  type: "array",
  description,
  maxItems: 50,
  items: { type: "string", maxLength: 2_000 },
});
const amount = (description: string): Parameter => ({ type: "number", description, exclusiveMinimum: 0 });
const wholeNumber = (description: string): Parameter => ({ type: "integer", description, minimum: 1, maximum: 10_000 });
const yesOrNo = (description: string): Parameter => ({ type: "boolean", description });

const project = text("its name as list gives it, or the beginning of it");
const onlyProject = text("its name, or the beginning of it; left out: the only project");
const runParameters = {
  max_usd: amount("most US dollars of the run"),
  max_tokens: amount("most tokens of the run, in and out"),
  max_minutes: amount("most minutes of the run"),
  iterations: wholeNumber("most iterations of the run"),
  wait: yesOrNo("answer at the end of the run, with progress until then: minutes or hours"),
};

const list = { type: "array" };
const object = { type: "object" };
const textType = { type: "string" };
const pageType = { type: ["string", "null"], description: "absolute path of its report.html" };
const startedRun = {
  project: textType,
  folder: textType,
  running: { type: "boolean" },
  budget: object,
  forecast: object,
  report: pageType,
  next: { type: "string", description: "how to follow it" },
};

/**
 * A tool that is one command line, such as "status --all". It answers with the command's output. `items`: the name of
 * an array in the answer.
 */
const commandOf =
  (
    typed: string,
    line: (given: ToolArguments) => readonly (string | undefined)[],
    items?: string,
  ): CommandTool["call"] =>
  async (given, caller, call) => {
    const [command = "", option] = typed.split(" --");
    const options = option === undefined ? {} : { [option]: true };
    return answerOf(await callCommand(commandLine(command, options, line(given)), caller, call), items);
  };

/** The commands that are tools, those that only read first. To remove a tool, delete its entry. */
const commandTools: readonly CommandTool[] = [
  {
    name: "list",
    description: "Lists the projects (literature reviews) and tasks of this folder, and how far each is.",
    takes: {},
    answers: { work: list },
    does: "reads",
    call: commandOf("status --all", () => [], "work"),
  },
  {
    name: "status",
    description:
      "Says how a project stands: phase, papers, cost, what is under way, how it ended, where its report is.",
    takes: { project: onlyProject },
    answers: { folder: textType, phase: textType, progress: object, pool: list, report: pageType },
    does: "reads",
    call: commandOf("status", (given) => [given.project]),
  },
  {
    name: "show",
    description: "Shows what was read in one paper: claims with their quotes, points, decision and reason.",
    takes: { project, paper: text("its key, its id or words of its title") },
    needs: ["project", "paper"],
    answers: {},
    does: "reads",
    call: commandOf("show", (given) => [given.project, given.paper]),
  },
  {
    name: "report",
    description:
      "Gives the answer of a project's report, how sure it is, what was not borne out, and the path of its page.",
    takes: { project: onlyProject },
    answers: {
      question: textType,
      answer: { type: ["string", "null"] },
      sureness: { type: ["string", "null"] },
      report: pageType,
    },
    does: "reads",
    async call(given, caller, call) {
      return answerOf(await callCommand(commandLine("report", { check: true }, [given.project]), caller, call));
    },
  },
  {
    name: "answers",
    description: "Lists the questions that were put to a project, with their answers, and whether these still stand.",
    takes: { project: onlyProject },
    answers: { answers: list },
    does: "reads",
    call: commandOf("ask --list", (given) => [given.project], "answers"),
  },
  {
    name: "start",
    description:
      "Makes a project of a topic and starts its run in the background, within the budget that you name. It costs money: tell the person the forecast. Where no sources are named an agent is asked for them first.",
    takes: {
      topic: text("the question that the review is to answer"),
      sources: texts("where to search: arxiv, openalex, folder:papers, export.ris"),
      criteria: texts("eligibility criteria, each 'include: …' or 'exclude: …'"),
      keywords: texts("words to search for, too"),
      name: text("a few words for its folder"),
      papers: wholeNumber("papers in the pool"),
      from: text("earliest date of publication: 2024 or 2024-06-30"),
      until: text("latest date of publication"),
      ...runParameters,
    },
    needs: ["topic"],
    answers: startedRun,
    does: "spends",
    call: start,
  },
  {
    name: "run",
    description: "Goes on with a project in the background, within the budget that you name.",
    takes: { project, ...runParameters },
    needs: ["project"],
    answers: startedRun,
    does: "spends",
    async call({ project: named, wait = false, ...budget }, caller, call) {
      const limitless = withoutBudget(budget);
      if (limitless !== undefined) return limitless;
      return runApart(await findResearch(caller.io.cwd, named), budget, wait, caller, call);
    },
  },
  {
    name: "ask",
    description:
      "Puts a question to the papers of one or more projects. Each sentence of the answer rests on quotes that were found; it may take a minute and costs an iteration.",
    takes: {
      question: text("the question"),
      projects: texts("names of projects; left out: the only one"),
      max_usd: amount("most US dollars"),
    },
    needs: ["question"],
    answers: { question: textType, statements: list, quotes: list },
    does: "spends",
    call: ask,
  },
  {
    name: "add",
    description: "Adds papers to a project: arXiv ids, DOIs, addresses, or files of this folder. They are read next.",
    takes: { project, references: texts("each one paper, or a file that lists papers") },
    needs: ["project", "references"],
    answers: { papers: list },
    does: "changes",
    async call({ project: named, references = [] }, caller, call) {
      for (const each of references) requireInside(each, caller.io.cwd, "the server");
      return answerOf(await callCommand(commandLine("add", {}, [named, ...references]), caller, call));
    },
  },
  {
    name: "steer",
    description: "Tells the agents of a project something, in the person's words, also while it runs.",
    takes: { project, text: text("what they are to do"), clear: yesOrNo("take back what was said before") },
    needs: ["project"],
    answers: { steering: list },
    does: "changes",
    async call({ project: named, text: said, clear = false }, caller, call) {
      return answerOf(await callCommand(commandLine("steer", { clear }, [named, said]), caller, call));
    },
  },
  {
    name: "stop",
    description: "Ends the run of a project before its next iteration; resume lets it run again.",
    takes: { project },
    needs: ["project"],
    answers: { running: { type: "boolean" } },
    does: "changes",
    call: commandOf("stop", (given) => [given.project]),
  },
  {
    name: "resume",
    description: "Lets a project that was stopped or paused run again; run then goes on with it.",
    takes: { project },
    needs: ["project"],
    answers: {},
    does: "changes",
    call: commandOf("stop --undo", (given) => [given.project]),
  },
];

async function start(given: ToolArguments, caller: Caller, call: Call): Promise<CallAnswer | Problem> {
  const { topic, sources, criteria: criterion, keywords: keyword, name, papers, from, until, wait = false } = given;
  const { max_usd, max_tokens, max_minutes, iterations } = given;
  const budget = { max_usd, max_tokens, max_minutes, iterations };
  const problem = withoutBudget(budget);
  if (problem !== undefined) return problem;
  for (const source of sources ?? []) {
    const place = /^folder:\s*(\S.*)$/i.exec(source)?.[1] ?? ownListIn(source)?.place;
    if (place !== undefined) requireInside(place, caller.io.cwd, "the server");
  }
  // As for a question in a terminal: points only where a person asks for them.
  const options = { source: sources, criterion, keyword, name, papers, from, until, rubric: "none" };
  const created = answerOf(await callCommand(commandLine("new", options, [topic]), caller, call));
  if (isProblem(created)) return created;
  const { type, folder, verdict } = created.structured ?? {};
  if (type !== "created" || typeof folder !== "string")
    return { problem: isObject(verdict) ? String(verdict["reason"]) : "No project was made." };
  return runApart(await findResearch(caller.io.cwd, folder), budget, wait, caller, call);
}

async function ask(given: ToolArguments, caller: Caller, call: Call): Promise<CallAnswer | Problem> {
  const { question, projects = [], max_usd } = given;
  const printed = await callCommand(commandLine("ask", { "max-usd": max_usd }, [...projects, question]), caller, call);
  // A check of the sentences prints the answer again, with the verdicts.
  const answerValue = printed.values.findLast((value) => isObject(value) && value["type"] === "answer");
  if (isObject(answerValue)) return answer({ ...answerValue, type: undefined });
  const endOfRun = printed.values.findLast((value) => isObject(value) && value["type"] === "run-ended");
  if (isObject(endOfRun) && isObject(endOfRun["verdict"])) return { problem: String(endOfRun["verdict"]["reason"]) };
  return answerOf(printed);
}

/** The tools for a person's own client in the folder of `caller`. */
export const toolsOfCommands = (caller: Caller): ServedTool[] =>
  commandTools.map(({ name, description, takes, needs = [], answers, does, call }) => {
    const parameters = { type: "object", properties: takes, required: needs } as const;
    return {
      name,
      description,
      parameters,
      answers: { type: "object", properties: answers },
      hints: { readOnlyHint: does === "reads", destructiveHint: false, openWorldHint: does === "spends" },
      async call(given, signal, progress) {
        const checked = checkArguments(name, parameters, given);
        if (isProblem(checked)) return checked;
        return await call(checked as ToolArguments, caller, { signal, progress }).catch(toProblem);
      },
    };
  });

function toProblem(error: unknown): Problem {
  if (error instanceof ExpectedError) return { problem: error.message };
  throw error;
}
