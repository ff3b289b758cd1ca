import { packageFile } from "../engine/lib/package-root.js";

/** How the program is called. */
export const usage = `"a question" [--quick]   create a project and run it
       research-ralph papers/ | export.ris     the same, with papers of yours
       research-ralph                          run the unfinished project
       research-ralph [command] [options]`;

/** What `--help` adds below the commands of a first week. */
export const further = `
Without key or network: research-ralph demo, a whole project on sample papers.
A project is one folder under ./researches; its name may be cut short.
Further commands: research-ralph help all
Options of a command: research-ralph help <command>
Pages to read: ${packageFile("docs")}`;

/** What `help all` adds below the list of commands. */
export const epilogue = `
Agents: claude (default), codex, amp, ralph, baseline (no model),
acp:gemini, acp:opencode, 'acp:<command>', 'cmd:<command>', or a name from the
configuration; fleet:<agent>: on other machines, see worker.

Exit codes: 0 complete, 1 failed, 2 wrong usage, 3 limit reached, 4 stuck,
5 a person is needed, 130 interrupted (143 by SIGTERM, 129 by SIGHUP).

Names of before go on working: answers (ask --list), brief (show next),
cost (status --cost), watch (status --watch), replay (verify --search),
export (report --as), duplicates (join), part (join --part), pause
(stop --pause), tool (mcp <tool>), fleet (worker --list), and the original's
spelling: --new "<topic>" --run <folder> --list --status <folder>
--reset <folder> --config k=v

Pages to read: ${packageFile("docs")}`;

/** Commands of a first week: those that `--help` lists. */
export const firstWeek: ReadonlySet<string> = new Set([
  ...["run", "new", "read", "demo", "status", "report", "ask", "add", "screen", "doctor"],
]);

/** Commands that are options of others now. They go on working and are listed nowhere. */
export const oldNames: ReadonlySet<string> = new Set([
  ...["answers", "brief", "cost", "watch", "replay", "export", "duplicates", "part", "pause", "tool", "fleet", "begin"],
]);

/** One line for each command, in the order of the help. */
export const summaries = {
  run: "run a project until its files prove that it is done",
  new: "create a project from a topic, without running it",
  begin: "create a project from a question and run it, as research-ralph with a question does",
  read: "read one paper: an arXiv id, a DOI, a URL or a local PDF",
  update: "search for what was published since a finished project's last search",
  extract: "ask the papers that were read for further fields, or a second agent for all",
  demo: "run a complete project on sample papers",
  list: "list the projects under ./researches and the tasks here",
  status: "show the progress of a project or task; --cost what it cost, --watch a live view of all",
  show: "show a paper as read prints it, an iteration, or what the next agent would get",
  brief: "the same as show [folder] next",
  cost: "the same as status --cost",
  watch: "the same as status --watch",
  web: "serve a local page that shows projects and tasks as they grow",
  report: "render the report again, or write every record for other programs: --as ris",
  export: "the same as report --as",
  verify: "look for every quote again in the stored texts; --search replays the search offline",
  validate: "check rrd.json or a task's ralph.json and print every problem",
  replay: "the same as verify --search",
  patterns: "show what agents learned; --accept moves one into AGENTS.md",
  add: "add papers to a project: arXiv ids, DOIs, URLs, local PDFs, exports of databases",
  screen: "decide on records one by one, a key each; it goes on where you left off",
  decide: "include or exclude papers, whatever the criteria say",
  settle: "say which value of a field counts where two agents differ: first, second or own",
  join: "show pairs that may be one work, or make two records one; --part takes that back",
  duplicates: "the same as join without a paper",
  part: "the same as join --part",
  steer: "give instructions to agents, also during a run",
  stop: "end a run before its next iteration, as Ctrl+C does, or with --pause as blocked",
  pause: "the same as stop --pause",
  resume: "allow what was paused or stopped to run again",
  approve: "let briefs use edits made while an unconfined agent ran",
  reset: "start a project, or a part of it, again; --undo takes that back",
  ask: "ask projects a question; every sentence rests on a quote that was found",
  answers: "the same as ask --list",
  search: "search scholarly services for papers, without an agent",
  mcp: "serve the tools of agents and the commands to any MCP client over stdio, or call one",
  tool: "the same as mcp <tool> and mcp --list",
  task: "work on a task until its acceptance criteria are met",
  skill: 'list the skills of this folder, or do what one says: research-ralph skill rrd "<topic>"',
  code: "repair or extend code by roles until the tests pass",
  init: "copy prompt.md, AGENTS.md and CLAUDE.md here for editing",
  doctor: "check Node, git, agents and folders, and say how to fix problems",
  config: "show or change settings: config, config key, config key=value",
  trust: "trust what settings of a folder start and open, or take that back",
  worker: "run agents here for runs on other machines, over Redis; --list shows all workers",
  fleet: "the same as worker --list",
  completion: "print a script that completes commands in bash, zsh or fish",
} as const;

export type CommandName = keyof typeof summaries;
