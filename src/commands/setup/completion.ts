import type { Command, Option } from "commander";
import { ExpectedError } from "../../engine/lib/errors.js";

const shells = ["bash", "zsh", "fish"] as const;

/**
 * A script that completes commands, their options and the names of projects in a shell. One table is made from the
 * program itself, and each shell gets the words around it.
 * @throws ExpectedError (exit code 2) for another shell.
 */
export function completionScript(program: Command, shell: string): string {
  const offered = program.commands.filter((command) => command.name() !== "begin");
  const commands = offered.map((command) => ({
    name: command.name(),
    summary: command.description(),
    flags: command.options.map(({ long }: Option) => long ?? "").filter((flag) => flag !== ""),
    takesProject: command.registeredArguments[0]?.name() === "folder",
  }));
  if (shell === "bash") return bash(commands);
  if (shell === "zsh") return `#compdef research-ralph\nautoload -U +X bashcompinit && bashcompinit\n${bash(commands)}`;
  if (shell === "fish") return fish(commands);
  throw new ExpectedError(`There are completions for ${shells.join(", ")}, not for '${shell}'.`, 2);
}

interface Completed {
  readonly name: string;
  readonly summary: string;
  readonly flags: readonly string[];
  readonly takesProject: boolean;
}

const bash = (commands: readonly Completed[]): string => `_research_ralph() {
  local word="\${COMP_WORDS[COMP_CWORD]}" words=""
  if [ "$COMP_CWORD" -eq 1 ]; then
    words="${commands.map(({ name }) => name).join(" ")}"
  else
    case "\${COMP_WORDS[1]}" in
${commands
  .map(
    ({ name, flags, takesProject }) =>
      `      ${name}) words="${flags.join(" ")}${takesProject ? " $(ls researches 2>/dev/null)" : ""}" ;;`,
  )
  .join("\n")}
    esac
  fi
  COMPREPLY=($(compgen -W "$words" -- "$word"))
}
complete -o default -F _research_ralph research-ralph
`;

const fish = (commands: readonly Completed[]): string =>
  commands
    .flatMap(({ name, summary, flags, takesProject }) => [
      `complete -c research-ralph -n __fish_use_subcommand -a ${name} -d '${summary.replaceAll("'", String.raw`\'`)}'`,
      ...flags.map((flag) => `complete -c research-ralph -n '__fish_seen_subcommand_from ${name}' -l ${flag.slice(2)}`),
      ...(takesProject
        ? [`complete -c research-ralph -n '__fish_seen_subcommand_from ${name}' -a '(ls researches 2>/dev/null)'`]
        : []),
    ])
    .map((line) => `${line}\n`)
    .join("");
