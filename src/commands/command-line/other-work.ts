import type { CodeArguments } from "../code/code.js";
import type { TaskArguments } from "../task/task.js";
import type { CommandLine, CommonOptions } from "./command.js";
import {
  withRunOptions,
  withLimitOptions,
  withTaskOptions,
  parseNumber,
  appendValue,
  parseWholeNumber,
} from "./shared-options.js";

/** Adds the commands for work other than research. */
export function addOtherWorkCommands({ add, io }: CommandLine): void {
  type TaskOptions = Pick<TaskArguments, "goal" | "testCommand" | "undo" | "branch" | "target"> &
    Pick<TaskArguments, "tests" | "save" | "dryRun" | "worktree" | "force" | "team" | "keepTests"> & {
      check?: string[];
    };
  const task = add("task", "[task]", async ({ check: checks, ...options }: TaskOptions & CommonOptions, taskName) => {
    const { taskCommand } = await import("../task/task.js");
    return taskCommand({ task: taskName, ...options, checks }, io);
  });
  withTaskOptions(task)
    .option("--team", "roles share each attempt: librarian, artisan, critic, adversary")
    .option("--save", "write the task to ./ralph.json")
    .option("-i, --iterations <N>", "maximum iterations of this run", parseNumber);
  withRunOptions(withLimitOptions(task));

  type SkillOptions = TaskOptions & { list: boolean };
  const skill = add("skill", "[name] [words...]", async (options: SkillOptions & CommonOptions, name, words) => {
    const { check: checks, list, ...others } = options;
    const { skillCommand } = await import("../task/skill.js");
    return skillCommand({ ...others, checks, name: list ? undefined : name, words: words.join(" ") }, io);
  })
    .option("--list", "list the skills, as without a name")
    .option("--check <command>", "a command that must succeed; again for more", appendValue)
    .option("--tests", "the project's tests must pass")
    .option("-i, --iterations <N>", "maximum iterations of this run", parseNumber);
  withRunOptions(withLimitOptions(skill));

  type CodeOptions = Omit<CodeArguments, keyof CommonOptions | "text" | "flags" | "checks"> & { check?: string[] };
  const code = add(
    "code",
    "[text] [more...]",
    async ({ check: checks, ...options }: CodeOptions & CommonOptions, text, more) => {
      if (text === "memory") return (await import("../code/memory.js")).memoryCommand(more, io, options.json);
      const { codeCommand } = await import("../code/code.js");
      const words = text === undefined ? undefined : [text, ...more].join(" ");
      return codeCommand({ text: words, ...options, checks }, io);
    },
  );
  withTaskOptions(code)
    .option(
      "--rounds <N>",
      "maximum rounds: librarian, artisan, critic, tests, adversary (default: 10)",
      parseWholeNumber,
    )
    .option("--graph", "only show the files that the librarian would be shown, with their tokens; starts no agent")
    .option("-i, --iterations <N>", "maximum runs of agents in this run", parseNumber);
  withRunOptions(withLimitOptions(code));
}
