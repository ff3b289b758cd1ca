import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { packageFile } from "../../src/engine/lib/package-root.js";

/**
 * Each promise of docs/threat-model.md, in words of the page; the file of a test that fails where nobody keeps it; and
 * words of that test's name or of the attempt that it makes.
 */
const promises: readonly (readonly [promise: string, file: string, test: string])[] = [
  // Who can write what.
  [
    "its workspace; the orchestrator takes one file from it",
    "system/hostile/tamper.test.ts",
    "a link in place of its workspace",
  ],
  ["are compared before and after, and put back", "system/hostile/tamper.test.ts", "another project is put back"],
  ["wait for your approval", "system/hostile/tamper.test.ts", "stay, and wait for a yes"],
  ["read-only for the project; they add lines", "research/tools/all-tools.test.ts", "throw only what is a bug of ours"],
  ["A server for one paper reads only that paper", "research/tools/all-tools.test.ts", "reads no other paper"],
  ["their text is fenced as data", "research/tools/all-tools.test.ts", "no paper can close its fence"],
  [
    "instructions in it are detected and reported",
    "system/hostile/instructions.test.ts",
    "a warning that names the order",
  ],
  ["from your own configuration only", "system/commands/trust.test.ts", "starts nothing of its own"],
  [
    "it reads the project and its own module, changes no file",
    "system/plugins/hostile.test.ts",
    "get nothing, stop nothing",
  ],
  ["what it answers is bounded and checked", "system/plugins/hostile.test.ts", "megabyte"],
  [
    "on the host with your rights where there is no bubblewrap",
    "system/plugins/work.test.ts",
    "unless --unconfined was typed",
  ],
  ["texts of files that an agent had changed", "system/plugins/work.test.ts", "and nothing else"],
  ["files change during a run is left out", "system/plugins/work.test.ts", "that an agent rewrites in its folder"],
  ["at hosts that its entry allows", "system/plugins/source.test.ts", "at a host that is not allowed"],
  ["counts in a file of a folder only once you [trust]", "system/commands/trust.test.ts", "until the user trusts it"],
  ["it is validated, limited in size and depth", "research/project-files/rrd-file.test.ts", "refuses more than 200 MB"],
  ["bounded in size, checked when parsed", "net/polite-http.test.ts", "is refused before it fills the memory"],
  ["redirects to private addresses are refused", "net/http.test.ts", "is refused where a page redirects to it"],
  // In a task or a coding run.
  [
    "but not `ralph.json`, the state, `.ralph`",
    "system/tasks/put-back.test.ts",
    "puts back the task, its state, its journal",
  ],
  [
    "write a folder of their own; the project is read-only",
    "system/code/hostile.test.ts",
    "gain nothing by deleting the test",
  ],
  ["no hook, and no filter but Git LFS", "system/tasks/planted.test.ts", "starts no filter of the user's"],
  // How each boundary is kept.
  [
    "It has a size limit (5 MB)",
    "engine/storage/result-file.test.ts",
    "may have 5 MB; of more only its size is looked at",
  ],
  ["a depth limit (100 levels)", "engine/storage/result-file.test.ts", "is nested deeper than 100 levels"],
  [
    "Links, FIFOs and folders in its place are refused",
    "engine/storage/result-file.test.ts",
    "for everything that is no such file",
  ],
  ["Quotes are looked up by code", "system/hostile/results.test.ts", "half fabricated: accepted"],
  [
    "A report leads only where research-ralph leads",
    "research/report/links-of-report.property.test.ts",
    "no link of a report is made by a record",
  ],
  ["a machine or container of the same name is another one", "engine/storage/lock.test.ts", "of another container"],
  ["ends without writing where it is not", "engine/storage/state/fold.test.ts", "where another has it by now"],
  ["A worker's words are shown as its words", "fleet/talk.test.ts", "is shown as its words, never as ours"],
  ["A paper cannot raise its own total", "research/papers/rubric/rubric.test.ts", "totals and decisions"],
  ["Sentences that address AI readers", "system/hostile/instructions.test.ts", "a warning that names the order"],
  [
    "A learned pattern becomes a standing instruction only when you accept it",
    "commands/inspect/patterns.test.ts",
    "only --accept makes a standing order of it",
  ],
  ["by the form of keys", "engine/lib/redact.test.ts", "a token by its form"],
  ["the values of variables named KEY", "engine/lib/redact.test.ts", "goes in every form that a program writes it in"],
  ["the passwords of addresses", "engine/lib/redact.test.ts", "the password of any address goes"],
  ["A value of less than", "engine/lib/redact.test.ts", "Of five characters"],
  ["digits and ordinary words of less than twelve", "engine/lib/redact.test.ts", "holds no secret"],
  [
    "Secrets are removed** from results, transcripts",
    "system/secrets/secrets.test.ts",
    "stand in nothing that a run prints or keeps",
  ],
  ["Messages are signed by the command", "system/hostile/tamper.test.ts", "a message in the inbox reaches no brief"],
  [
    "steering commands refuse an agent's environment",
    "commands/steer/steer.test.ts",
    "steers nothing, a hook that a person wrote does",
  ],
  [
    "that change while an unconfined agent works go back",
    "system/hostile/tamper.test.ts",
    "thresholds, budgets and addresses",
  ],
  ["Nothing behind a link is removed", "system/hostile/tamper.test.ts", "nothing behind it is removed"],
  ["are never fetched on behalf of a paper", "net/http.test.ts", "and nothing is asked of it"],
  ["only addresses that you typed or configured", "net/http.test.ts", "is read where a person named it"],
  ["Git runs no hooks", "system/storage/git-hang.test.ts", "run none of the repository's hooks"],
  ["no file monitor", "system/storage/checkpoints.test.ts", "a monitor of files is never started"],
  ["no transport", "engine/storage/git-command.test.ts", "uses no transport"],
  [
    "no filter that appeared while an unconfined agent worked",
    "system/storage/checkpoints.test.ts",
    "what was planted in one run",
  ],
  [
    "Processes are ended with their group",
    "system/processes/run-process.test.ts",
    "ends the children of the group that ignore SIGTERM",
  ],
  ["found by a mark in their environment", "system/hostile/processes.test.ts", "what an agent leaves running is ended"],
  // Agents on other machines.
  [
    "its events pass a schema (no use below nothing)",
    "fleet/talk.test.ts",
    "items that the schema of events does not know",
  ],
  ["texts are bounded and without control characters", "fleet/talk.test.ts", "control characters go and texts are cut"],
  ["whose quotes are looked for in our own text", "system/fleet/security.test.ts", "beside one who lies"],
  ["jobs are signed", "fleet/job.test.ts", "as its coordinator has signed it"],
  [
    "End a run by a limit that only it has reached",
    "system/fleet/talk.test.ts",
    "a limit rests the worker that met it",
  ],
  ["Under the ACL of the page", "system/fleet/security.test.ts", "can do nothing else"],
  ["which gets numbered texts alone", "fleet/job.test.ts", "what workers refuse is not sent"],
  ["fill the memory or the disk beyond 64 MB a job", "system/fleet/job.test.ts", "what unpacks to more than 64 MB"],
  [
    "it is not signed by a key that the worker accepts",
    "system/fleet/talk.test.ts",
    "a coordinator that a worker does not know",
  ],
  ["nothing with `rediss://`", "system/fleet/security.test.ts", "a certificate that is not known is refused"],
  // In a sandbox.
  ["to read `~/.ssh`, another project, your home", "system/real-agents/escapes/attempts.sh", "a key in ~/.ssh"],
  ["to write outside: by a path", "system/real-agents/escapes/attempts.sh", "writing by a symbolic link"],
  ["`/`, `/usr` and `/dev` are read-only", "system/sandbox/bubblewrap.test.ts", "changes nothing of it"],
  ["to change git's hooks", "system/real-agents/escapes/attempts.sh", "a git hook"],
  [
    "by a git filter of yours, a repository within the folder",
    "system/tasks/planted.test.ts",
    "stays with the repository around a folder",
  ],
  ["to hold the run up by a pipe or a device", "system/tasks/planted.test.ts", "a pipe that an agent leaves"],
  ["a folder that was left open", "system/sandbox/command.test.ts", "a folder that was left open"],
  ["the keyring of your session, `io_uring`", "system/real-agents/escapes/attempts.sh", "a key of the session"],
  ["`/proc/sys`, other files of the machine", "system/sandbox/bubblewrap.test.ts", "may make no namespace of its own"],
  ["to signal or trace processes of the host", "system/real-agents/escapes/attempts.sh", "ptrace of the host"],
  ["its only interface is its own loopback", "system/sandbox/bubblewrap.test.ts", "reaches nothing of this machine"],
  [
    "refuses names that lead to this machine",
    "engine/sandbox/proxy.test.ts",
    "does not lead to this machine by a name",
  ],
  ["unix sockets, by path and abstract", "system/real-agents/escapes/attempts.sh", "an abstract unix socket"],
  ["what it holds is a placeholder", "engine/sandbox/proxy.test.ts", "in place of whatever the program sends for one"],
  [
    "only variables that are named go in",
    "engine/sandbox/environment.test.ts",
    "and no other variable, whatever it is called",
  ],
  ["to leave a process behind", "system/sandbox/bubblewrap.test.ts", "is ended with everything it started"],
  ["a fork bomb, a memory hog, a disk filler", "engine/sandbox/watcher.test.ts", "adds up their memory"],
  [
    "of yours nothing but the tokens is ever renewed",
    "system/sandbox/bubblewrap.test.ts",
    "is not changed in anything else",
  ],
  // The assistant.
  [
    "the question before each tool that writes or runs",
    "system/assistant/shell.test.ts",
    "is asked each time after a yes",
  ],
  [
    "a yes counts only after the last",
    "assistant/dialogue/dialogue.test.ts",
    "lets no command run whose end was not shown",
  ],
  ["would delete, move or open the system", "system/assistant/shell.test.ts", "a command that is not run"],
  ["File tools open real paths inside the folder", "assistant/tools/files.test.ts", "a path that leads out"],
  [
    "a server gets `PATH`, `HOME` and its own `env`",
    "system/assistant/mcp-servers.test.ts",
    "get PATH, HOME and their own variables, and no key",
  ],
  ["are for your user alone (mode 600)", "assistant/dialogue/dialogue.test.ts", "0o600"],
  ["keys and tokens are taken out of them by their form", "assistant/tools/memory.test.ts", "hold no key"],
  [
    "sends nothing to an\naddress of its own before you",
    "system/assistant/main.test.ts",
    "sends nothing to an address of its own choice",
  ],
  [
    "Each key goes to its maker or this machine alone",
    "system/assistant/main.test.ts",
    "a key of the user's file does not go to its address",
  ],
  // The local page.
  ["which no other machine reaches", "web/guard.test.ts", "a name that somebody points at this machine is not ours"],
  ["only where the folder is trusted", "web/screening.test.ts", "counts only once it is trusted, also for the page"],
  [
    "reads files below the folder where the command was started",
    "web/screening.test.ts",
    "a paper is added by what a person names",
  ],
  [
    "a name on the web that is pointed at 127.0.0.1",
    "web/guard.test.ts",
    "a name that somebody points at this machine is not ours",
  ],
  ["a page of the web that sends a form here", "web/guard.test.ts", "only our own pages change something"],
  ["a cookie that no script reads", "web/guard.test.ts", "the token goes into a cookie that no script reads"],
  ["lets no second browser in", "web/guard.test.ts", "a token lets one browser in"],
  [
    "names are looked up in the list of projects",
    "web/guard.test.ts",
    "names lead to the projects of the list and to nothing else",
  ],
  ["escaped where it is written", "web/live.test.ts", "a title is text wherever it stands"],
  ["a frame around the page, a copy in a cache", "web/guard.test.ts", "is not kept, not guessed, not framed"],
  ["what the page shows of them is looked through once more", "web/live.test.ts", "without secrets"],
  [
    "An agent's environment is refused\nthe command",
    "commands/steer/steer.test.ts",
    "steers nothing, a hook that a person wrote does",
  ],
  // What a project can tell others.
  ["secrets are removed from them", "system/secrets/secrets.test.ts", "stand in nothing that a run prints or keeps"],
];

/** Sections whose every row and bullet is a promise. */
const promising = ["How each boundary is kept", "Agents on other machines", "In a sandbox", "The local page"];
/** Rows that say what is not kept, and heads of tables. */
const noPromise = /^\| (?:---|who|against|the agent tries|\*\*other users\*\*)/;

const page = readFileSync(packageFile("docs/threat-model.md"), "utf8");

test.each(promises)("the threat model's “%s” is held by %s", (promise, file, name) => {
  expect(page).toContain(promise);
  expect(readFileSync(packageFile(`tests/${file}`), "utf8")).toContain(name);
});

test.each(promising)("each row and bullet of “%s” has a test", (section) => {
  const text = page.split(/^## /m).find((each) => each.startsWith(`${section}\n`)) ?? "";
  const lines = text.split(/\n(?=[-|])/).filter((line) => /^[-|]/.test(line) && !noPromise.test(line));
  expect(lines.length).toBeGreaterThan(2);
  expect(lines.filter((line) => promises.every(([promise]) => !line.includes(promise)))).toEqual([]);
});
