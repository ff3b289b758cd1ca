import type { Command } from "commander";
import type { ConfigFlags } from "../../compose/config.js";
import type { Io } from "../../engine/ui/io.js";
import { type CommandName, summaries } from "../help-text.js";

/** What every command is given beside the options of its own: false where it has no such option. */
export interface Common {
  readonly json: boolean;
  readonly quiet: boolean;
  readonly verbose: boolean;
  /** The options that are settings, by their names in the configuration. */
  readonly flags: ConfigFlags;
}

/** What a command's action is given for `<folder> [what] [words...]`. */
type Words<Args extends string> = Args extends `${infer First} ${infer Rest}`
  ? [Word<First>, ...Words<Rest>]
  : Args extends ""
    ? []
    : [Word<Args>];
type Word<Arg extends string> = Arg extends `${string}...${string}`
  ? string[]
  : Arg extends `<${string}`
    ? string
    : string | undefined;

/**
 * Adds a command to the program. `Own`: its options by commander's names. A switch that was not given is false, any
 * other absent.
 */
type Add = <Args extends string, Own>(
  name: CommandName,
  args: Args,
  action: (options: Own & Common, ...words: Words<Args>) => Promise<number>,
) => Command;

/** What commands are added to. */
export interface CommandLine {
  readonly program: Command;
  readonly add: Add;
  readonly io: Io;
  readonly version: string;
  /** Runs another command line; answers with its exit code. */
  run(args: readonly string[], io: Io): Promise<number>;
  /** Told the exit code of the command that ran. */
  done(exitCode: number): void;
}

/** Adds commands to this program, whose actions are given their options and words in our own terms. */
export const adding =
  (program: Command, done: (exitCode: number) => void): Add =>
  <Args extends string, Own>(
    name: CommandName,
    args: Args,
    action: (options: Own & Common, ...words: Words<Args>) => Promise<number>,
  ) => {
    const command = program.command(`${name} ${args}`.trim()).description(summaries[name]);
    return command
      .allowExcessArguments(false)
      .option("--json", "print JSON")
      .action(async (...given: unknown[]) => {
        const words = given.slice(0, command.registeredArguments.length) as Words<Args>;
        done(await action(optionsOf(command) as Own & Common, ...words));
      });
  };

/** The settings that an option gives, by commander's names. */
const settings: Readonly<Record<string, keyof ConfigFlags>> = {
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

/** What was given of the command's options: its switches are false where they were not. */
function optionsOf(command: Command): Record<string, unknown> & Common {
  const options = command.opts();
  const flags: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(options)) {
    const setting = settings[name];
    // The `true` that commander gives `git` where --no-git was not typed must not beat the configuration.
    if (setting !== undefined && command.getOptionValueSource(name) !== "default") flags[setting] = value;
  }
  const switches = command.options.filter((option) => option.isBoolean()).map((option) => option.attributeName());
  const off = Object.fromEntries(switches.map((name) => [name, false]));
  return { json: false, quiet: false, verbose: false, ...off, ...options, flags };
}
