/** What `--help` adds below the list of commands. */
export const epilogue = `
Start here:
  research-ralph demo                     a complete project on sample papers,
                                          without key or network
  research-ralph read 2401.12345          one paper: scores, and every claim
                                          checked against the text
  research-ralph new "sim2real transfer"  a new project under ./researches
  research-ralph                          run the unfinished project

A project (research project) is one folder under ./researches.

Agents: claude (default), codex, amp, ralph, baseline (no model),
acp:gemini, acp:opencode, 'acp:<command>', 'cmd:<command>', or a name from the
configuration; fleet:<agent>: on other machines, see worker.

Exit codes: 0 complete, 1 failed, 2 wrong usage, 3 limit reached, 4 stuck,
5 a person is needed, 130 interrupted (143 by SIGTERM, 129 by SIGHUP).

The original's spelling works too: --new "<topic>" --run <folder> --list
--status <folder> --reset <folder> --config key=value`;

/** One line for each command, in the order in which a new user needs them. */
export const summaries = {
  run: "run a project until its files prove that it is done",
  new: "create a project from a topic",
  begin: 'make a project of a question and run it: research-ralph "a question" --quick',
  update: "search for what was published since a finished project's last search",
  read: "read one paper: an arXiv id, a DOI, a URL or a local PDF",
  extract: "ask the papers that were read for further fields, or a second agent for all",
  add: "add papers to a project: arXiv ids, DOIs, URLs, local PDFs, exports of databases",
  ask: "ask projects a question; every sentence rests on a quote that was found",
  answers: "list a project's questions and answers, and which are out of date",
  search: "search scholarly services for papers, without an agent",
  list: "list the projects under ./researches and the tasks here",
  status: "show the progress and the cost of a project or task",
  show: "show a paper as read prints it, or an iteration's brief and answer",
  cost: "show what work cost, by phase or role, and a forecast for projects",
  watch: "live view of all projects and tasks in a folder",
  web: "serve a local page that shows projects and tasks as they grow",
  steer: "give instructions to agents, also during a run",
  screen: "decide on records one by one, a key each; it goes on where you left off",
  decide: "include or exclude papers, whatever the criteria say",
  settle: "say which of two agents counts where their values for a field differ",
  join: "make two records one work; part takes that back",
  part: "make a duplicate a work of its own again",
  duplicates: "show pairs that may be one work, and what counts as a duplicate",
  pause: "end a run before its next iteration, with the verdict blocked",
  stop: "end a run before its next iteration, as Ctrl+C does",
  resume: "allow what was paused or stopped to run again",
  approve: "let briefs use edits made while an unconfined agent ran",
  reset: "start a project, or a part of it, again; --undo takes that back",
  report: "render the report of a project or task again: no model, no network",
  validate: "check rrd.json or a task's ralph.json and print every problem",
  verify: "look for every quote again in the stored texts",
  export: "write every record of a project for reference managers, spreadsheets and R",
  replay: "replay the recorded search offline and compare the results",
  brief: "print the text for the next agent of a project or task; starts none",
  patterns: "show what agents learned; --accept moves one into AGENTS.md",
  config: "show or change settings: config, config key, config key=value",
  trust: "trust what settings of a folder start and open, or take that back",
  completion: "print a script that completes commands in bash, zsh or fish",
  init: "copy prompt.md, AGENTS.md and CLAUDE.md here for editing",
  fleet: "show workers, their agents and capacity, and the waiting jobs",
  worker: "run agents here for runs on other machines, over Redis",
  doctor: "check Node, git, agents and folders, and say how to fix problems",
  tool: "call one of the tools that agents have, or list them",
  mcp: "serve these tools and the commands to any MCP client over stdio",
  code: "repair or extend code by roles until the tests pass",
  task: "work on a task until its acceptance criteria are met",
  demo: "run a complete project on sample papers",
} as const;

export type CommandName = keyof typeof summaries;
