/** What `--help` adds below the list of commands. */
export const epilogue = `
Start here:
  research-ralph demo                     a whole research on sample papers,
                                          without key or network
  research-ralph read 2401.12345          one paper: scores, and every claim
                                          checked against the text
  research-ralph new "sim2real transfer"  a new research under ./researches
  research-ralph                          run the unfinished research

Agents: claude (default), codex, amp, baseline (no model), 'cmd:<command>', or
a name from the config.

Exit codes: 0 complete, 1 failed, 2 wrong usage, 3 limit reached, 4 stuck,
5 a person is needed, 130 interrupted (143 by SIGTERM, 129 by SIGHUP).

The original's spelling works too: --new "<topic>" --run <folder> --list
--status <folder> --reset <folder> --config key=value`;

/** One line for each command, in the order of a first day with it. */
export const summaries = {
  run: "run a research until the files prove that it is done",
  new: "make a new research from a topic",
  read: "read one paper: an arXiv id, a DOI, a URL or a local PDF",
  search: "search scholarly services for papers, without an agent",
  list: "list the researches under ./researches",
  status: "show where a research stands and what it cost",
  cost: "show what researches cost, what for, and what the rest will",
  watch: "follow all researches under a folder live, whoever runs them",
  steer: "tell the agents of a research something, also while it runs",
  pause: "end a research's run before its next iteration, as blocked",
  stop: "end a research's run before its next iteration, as Ctrl+C would",
  resume: "let a paused or stopped research be run again",
  reset: "start a research, or a part of it, again; a backup is kept",
  validate: "check a research and print every problem",
  replay: "make a research's search again from what was kept, and compare",
  brief: "print what the next iteration's agent would be given; runs nothing",
  patterns: "show what agents learned; --accept moves one into AGENTS.md",
  config: "show or change settings: config, config key, config key=value",
  init: "copy prompt.md, AGENTS.md and CLAUDE.md here for editing",
  doctor: "check Node, git, agents and folders, and say how to fix each",
  tool: "call one of the tools that agents have, or list them",
  mcp: "serve those tools over stdio to any MCP client",
  demo: "run a whole research on sample papers",
} as const;

export type CommandName = keyof typeof summaries;
