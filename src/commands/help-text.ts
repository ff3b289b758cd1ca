import { packageFile } from "../engine/lib/package-root.js";

/** Old names of commands, each with its present command and option. Only the help of all commands mentions them. */
export const oldNames: Readonly<Record<string, string>> = {
  answers: "ask --list",
  approve: "trust --edits",
  brief: "show next",
  cost: "status --cost",
  duplicates: "join",
  export: "report --as=",
  fleet: "worker --list",
  list: "status --all",
  part: "join --part",
  patterns: "show patterns",
  pause: "stop --pause",
  replay: "verify --search",
  resume: "stop --undo",
  tool: "mcp --list",
  validate: "verify --files",
  watch: "status --watch",
};
const oldNameList = Object.entries(oldNames)
  .map(([old, now]) => `${old} (${now.replace(/=$/, "")})`)
  .join(", ");

/** The usage in the help. */
export const usage = `"a question"     create a project and run it
       research-ralph papers/ "…"      of papers of yours, or of an export.ris
       research-ralph "…" --quick      a first report of eight papers
       research-ralph "…" --yes        ask nothing: for scripts
       research-ralph                  run the unfinished project
       research-ralph [command] [options]`;

/** The text that `--help` shows below the basic commands. */
export const furtherHelp = `
Without key or network: research-ralph demo, a whole project on sample papers.
A project is one folder under ./researches; its name may be cut short.
Further commands: research-ralph help all
Options of a command: research-ralph help <command>; of a question: help begin
Pages to read: ${packageFile("docs")}`;

/** The text that `help all` shows below all commands. */
export const epilogue = `
${[
  "Agents: claude (default), codex, amp, ralph, baseline (no model), acp:gemini, acp:opencode, 'acp:<command>', 'cmd:<command>', or a name from the configuration; fleet:<agent>: on other machines, see worker.",
  "Exit codes: 0 complete, 1 failed, 2 wrong usage, 3 limit reached, 4 stuck, 5 a person is needed, 6 in use by another process, 130 interrupted (143 by SIGTERM, 129 by SIGHUP).",
  `Old names go on working: ${oldNameList}; and the spelling of the first research-ralph (a script): --new "<topic>" --run <folder> --list --status <folder> --reset <folder> --config k=v`,
].join("\n\n")}

Pages to read: ${packageFile("docs")}`;

/** The keys of `screen`. */
export const screenKeys =
  "Keys: i include; x exclude, by a criterion's number or a reason, then Enter; m maybe, which is not a decision: the record comes last; s or space skip; b back; n note; a all of a long record; u undo the last decision or maybe; q quit; ? this help.";

/** The commands that `--help` lists: those that a new user needs. */
export const basicCommands: ReadonlySet<string> = new Set([
  ...["run", "new", "read", "demo", "status", "report", "ask", "add", "screen", "doctor"],
]);

/** The descriptions of the commands, in the order of the help. */
export const summaries = {
  run: "run a project until its files prove that it is done",
  new: "create a project from a topic, without running it",
  begin: "create a project from a question and run it, as research-ralph with a question does",
  read: "read one paper: an arXiv id, a DOI, a URL or a local PDF",
  update: "search for what was published since a finished project's last search",
  extract: "ask the papers that were read for further fields, or a second agent for all",
  demo: "run a complete project on sample papers",
  status: "show the progress of a project or task, of --all, live with --watch; --cost what it cost",
  show: "show a paper as read prints it, an iteration, the next brief, or what agents learned",
  web: "serve a local page that shows projects and tasks as they grow",
  report: "print the answer and findings of a project and render its report again; --as ris and others: every record",
  verify: "look for every quote again in the stored texts; --files checks rrd.json or ralph.json",
  add: "add papers to a project: arXiv ids, DOIs, URLs, local PDFs, exports of databases",
  screen: "decide on records one by one, a key each, beginning with the first open one",
  decide: "include or exclude papers, whatever the criteria say; undo takes a decision back",
  settle: "say which value of a field counts where two agents differ: first, second or own",
  join: "show pairs that may be one work, or make two records one; --part takes that back",
  steer: "give instructions to agents, also during a run",
  stop: "end a run before its next iteration, as Ctrl+C does; --undo allows it to run again",
  reset: "start a project, or a part of it, again; --undo takes that back",
  ask: "ask projects a question; every sentence rests on a quote that was found",
  search: "search scholarly services for papers, without an agent",
  mcp: "serve the tools of agents and the commands to any MCP client over stdio, or call one",
  task: "work on a task until its acceptance criteria are met",
  skill: 'list the skills of this folder, or do what one says: research-ralph skill rrd "<topic>"',
  code: "repair or extend code by roles until the tests pass",
  init: "copy prompt.md, AGENTS.md and CLAUDE.md here for editing",
  doctor: "check Node, git, agents and folders, and say how to fix problems",
  config: "show or change settings: config, config key, config key=value",
  trust: "trust what settings of a folder start and open, or --edits made during a run",
  worker: "run agents here for runs on other machines, over Redis; --list shows all workers",
  completion: "print a script that completes commands in bash, zsh or fish",
} as const;

export type CommandName = keyof typeof summaries;
