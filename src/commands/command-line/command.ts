import type { Command } from "commander";
import type { ConfigFlags } from "../../compose/config.js";
import type { Io } from "../../engine/ui/io.js";
import { type CommandName, summaries } from "../help-text.js";

/** The options that every command gets besides its own; false if the command has no such option. */
export interface CommonOptions {
  readonly json: boolean;
  readonly quiet: boolean;
  readonly verbose: boolean;
  /** The options that are settings, by their names in the configuration. */
  readonly flags: ConfigFlags;
}

/** The types of the arguments that an action gets for a string such as `<folder> [what] [words...]`. */
type WordsOf<Args extends string> = Args extends `${infer First} ${infer Rest}`
  ? [WordOf<First>, ...WordsOf<Rest>]
  : Args extends ""
    ? []
    : [WordOf<Args>];
type WordOf<Arg extends string> = Arg extends `${string}...${string}`
  ? string[]
  : Arg extends `<${string}`
    ? string
    : string | undefined;

/**
 * Adds a command to the program. `Own`: its options, by commander's names. If an option is not given, a switch is false
 * and any other option is undefined.
 */
type AddCommand = <Args extends string, Own>(
  name: CommandName,
  args: Args,
  action: (options: Own & CommonOptions, ...words: WordsOf<Args>) => Promise<number>,
) => Command;

/** The command line to which commands are added. */
export interface CommandLine {
  readonly program: Command;
  readonly add: AddCommand;
  readonly io: Io;
  readonly version: string;
  /** Runs another command line and returns its exit code. */
  run(args: readonly string[], io: Io): Promise<number>;
  /** Called with the exit code of the command that ran. */
  setExitCode(exitCode: number): void;
}

/** Returns the function that adds commands to `program`. Actions get typed options and arguments. */
export const commandAdder =
  (program: Command, done: (exitCode: number) => void): AddCommand =>
  <Args extends string, Own>(
    name: CommandName,
    args: Args,
    action: (options: Own & CommonOptions, ...words: WordsOf<Args>) => Promise<number>,
  ) => {
    const command = program.command(`${name} ${args}`.trim()).description(summaries[name]);
    return command
      .allowExcessArguments(false)
      .option("--json", "print JSON")
      .action(async (...actionArgs: unknown[]) => {
        const words = actionArgs.slice(0, command.registeredArguments.length) as WordsOf<Args>;
        done(await action(optionsOf(command) as Own & CommonOptions, ...words));
      });
  };

/** Options that are settings: commander's name of the option, and the key in the configuration. */
const settingByOption: Readonly<Record<string, keyof ConfigFlags>> = {
  agent: "agent",
  model: "model",
  papers: "papers",
  iterations: "iterations",
  jobs: "jobs",
  maxMinutes: "max_minutes",
  maxUsd: "max_usd",
  maxTokens: "max_tokens",
  iterationMinutes: "iteration_minutes",
  idleMinutes: "idle_minutes",
  patience: "patience_minutes",
  screeners: "screeners",
  screeningConflicts: "screening_conflicts",
  secondReader: "second_reader",
  unconfined: "unconfined",
  sandbox: "sandbox",
  env: "sandbox_env",
  redis: "redis",
  insecureRedis: "insecure_redis",
  accept: "worker_accepts",
  git: "git",
  otel: "otel",
  trust: "trust",
};

/** The options of the command as its action gets them: a switch that was not given is false. */
function optionsOf(command: Command): Record<string, unknown> & CommonOptions {
  const options = command.opts();
  const flags: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(options)) {
    const setting = settingByOption[name];
    // Without --no-git, commander sets `git` to true. This default must not replace the configuration.
    if (setting !== undefined && command.getOptionValueSource(name) !== "default") flags[setting] = value;
  }
  const switches = command.options.filter((option) => option.isBoolean()).map((option) => option.attributeName());
  const falseSwitches = Object.fromEntries(switches.map((name) => [name, false]));
  return { json: false, quiet: false, verbose: false, ...falseSwitches, ...options, flags };
}
