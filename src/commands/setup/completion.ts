import type { Command, Option } from "commander";
import { ExpectedError } from "../../engine/lib/errors.js";

const shells = ["bash", "zsh", "fish"] as const;

/**
 * A shell script that completes commands, their options and the names of projects. The commands and options are read
 * from the program itself.
 * @throws ExpectedError (exit code 2) for a shell that is not supported.
 */
export function completionScript(program: Command, shell: string): string {
  const publicCommands = program.commands.filter((command) => command.name() !== "begin");
  const commands = publicCommands.map((command) => ({
    name: command.name(),
    summary: command.description(),
    flags: command.options.map(({ long }: Option) => long ?? "").filter((flag) => flag !== ""),
    hasProjectArgument: command.registeredArguments[0]?.name() === "folder",
  }));
  if (shell === "bash") return bashScript(commands);
  if (shell === "zsh")
    return `#compdef research-ralph\nautoload -U +X bashcompinit && bashcompinit\n${bashScript(commands)}`;
  if (shell === "fish") return fishScript(commands);
  throw new ExpectedError(`There are completions for ${shells.join(", ")}, not for '${shell}'.`, 2);
}

interface CompletedCommand {
  readonly name: string;
  readonly summary: string;
  readonly flags: readonly string[];
  readonly hasProjectArgument: boolean;
}

const bashScript = (commands: readonly CompletedCommand[]): string => `_research_ralph() {
  local word="\${COMP_WORDS[COMP_CWORD]}" words=""
  if [ "$COMP_CWORD" -eq 1 ]; then
    words="${commands.map(({ name }) => name).join(" ")}"
  else
    case "\${COMP_WORDS[1]}" in
${commands
  .map(
    ({ name, flags, hasProjectArgument }) =>
      `      ${name}) words="${flags.join(" ")}${hasProjectArgument ? " $(ls researches 2>/dev/null)" : ""}" ;;`,
  )
  .join("\n")}
    esac
  fi
  COMPREPLY=($(compgen -W "$words" -- "$word"))
}
complete -o default -F _research_ralph research-ralph
`;

const fishScript = (commands: readonly CompletedCommand[]): string =>
  commands
    .flatMap(({ name, summary, flags, hasProjectArgument }) => [
      `complete -c research-ralph -n __fish_use_subcommand -a ${name} -d '${summary.replaceAll("'", String.raw`\'`)}'`,
      ...flags.map((flag) => `complete -c research-ralph -n '__fish_seen_subcommand_from ${name}' -l ${flag.slice(2)}`),
      ...(hasProjectArgument
        ? [`complete -c research-ralph -n '__fish_seen_subcommand_from ${name}' -a '(ls researches 2>/dev/null)'`]
        : []),
    ])
    .map((line) => `${line}\n`)
    .join("");
