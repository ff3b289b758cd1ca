import { homedir } from "node:os";
import { posix } from "node:path";
import { isWithin, realPathOf } from "../../../engine/process/search-path.js";
import { fieldsOf, isPattern, type ShellContext, type SimpleCommand, splitCommands, textOf } from "./shell-words.js";

/** The folder and environment of a command. */
export interface CommandPlace {
  /** Absolute path of the folder. */
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
}

/** The state of the shell before a command of the line. */
interface ShellState {
  cwd: string;
  readonly variables: Map<string, readonly string[]>;
}

/** Folders for temporary files. */
const temporaryFolders = ["/tmp", "/var/tmp", "/dev/shm"];
/** Matches folders that the system or other users need. */
const systemFolders = /^\/(?:usr|home|boot|lib\w*|var\/lib)\/[^/]+$|^\/(?:proc|sys)\//;

/** Matches disk devices, but not /dev/null or a terminal. */
const diskDevice = /^\/dev\/(?:sd|hd|vd|xvd|nvme|mmcblk|disk|mapper\/|md)/;

const programName = (program: string): string =>
  /\s/.test(program) ? "" : program.replace(/^.*[\\/]/, "").toLowerCase();
const operands = (args: readonly string[]): string[] => {
  const end = args.indexOf("--");
  const argsBefore = end === -1 ? args : args.slice(0, end);
  return [...argsBefore.filter((arg) => !arg.startsWith("-")), ...(end === -1 ? [] : args.slice(end + 1))];
};
/** Whether the arguments contain an option. A long option may be shortened. */
const hasOption = (args: readonly string[], letter: RegExp, long: string): boolean =>
  args.some((arg) =>
    /^--./.test(arg) ? long.startsWith(arg.replace(/=.*/s, "")) : /^-\w/.test(arg) && letter.test(arg),
  );

/** A program that can cause damage. */
interface Destroyer {
  /** The damage, as the end of the message to the model. */
  readonly damage: string;
  /** The paths that it damages; empty if these arguments are harmless; undefined if it is dangerous with every path. */
  targets(args: readonly string[]): readonly string[] | undefined;
}

const deletesText = "it deletes everything";
const ifRecursive = (damage: string): Destroyer => ({
  damage,
  targets: (args) => (hasOption(args, /[rR]/, "--recursive") ? operands(args) : []),
});
const onEveryOperand: Destroyer = { damage: deletesText, targets: operands };
const onAnyPath = (damage: string): Destroyer => ({ damage, targets: () => undefined });
const onDisks: Destroyer = {
  damage: "it overwrites a disk",
  targets: (args) => args.filter((arg) => diskDevice.test(arg)),
};
const onWindows: Destroyer = {
  damage: deletesText,
  targets: (args) =>
    args.some((arg) => /^\/s$/i.test(arg)) && args.some((arg) => /^[a-z]:[\\/]*\*?$/i.test(arg)) ? undefined : [],
};

const pathsOfFind = (args: readonly string[]): string[] => {
  const end = args.findIndex((arg) => /^[-(!]/.test(arg));
  const paths = end === -1 ? args : args.slice(0, end);
  return paths.length === 0 ? ["."] : [...paths];
};

const destroyers: Readonly<Record<string, Destroyer>> = {
  rm: ifRecursive(deletesText),
  ...Object.fromEntries(["rimraf", "srm"].map((name) => [name, onEveryOperand])),
  find: {
    damage: deletesText,
    targets: (args) => (args.some((arg) => arg === "-delete" || /^-(?:exec|ok)/.test(arg)) ? pathsOfFind(args) : []),
  },
  mv: {
    damage: "it moves everything away",
    targets: (args) => operands(args).slice(0, hasOption(args, /t/, "--target") ? undefined : -1),
  },
  rsync: {
    damage: deletesText,
    targets: (args) => (args.some((arg) => arg.startsWith("--del")) ? operands(args).slice(-1) : []),
  },
  ...Object.fromEntries(
    ["chmod", "chown", "chgrp"].map((name) => [name, ifRecursive("it changes who may open every file of the system")]),
  ),
  dd: {
    damage: "it copies disks",
    targets: (args) => (args.some((arg) => arg.startsWith("if=") || /^of=\/dev\/(?!null)/.test(arg)) ? undefined : []),
  },
  ...Object.fromEntries(
    ["tee", "cp", "shred", "wipefs", "fdisk", "sfdisk", "sgdisk", "parted", "blkdiscard", "badblocks", "mkswap"].map(
      (name) => [name, onDisks],
    ),
  ),
  ...Object.fromEntries(
    ["mkfs", "mke2fs", "format", "format.com"].map((name) => [name, onAnyPath("it formats a disk")]),
  ),
  ...Object.fromEntries(["rd", "rmdir", "del", "erase"].map((name) => [name, onWindows])),
};

/** Programs that run a script from an argument or from their standard input. */
const shellPrograms: ReadonlySet<string> = new Set([
  "sh",
  "bash",
  "dash",
  "zsh",
  "ksh",
  "ash",
  "eval",
  "su",
  "runuser",
  "watch",
  "ssh",
  "trap",
  "parallel",
  "script",
]);
/** Interpreters of other languages. Their scripts are searched for commands and for calls that delete. */
const interpreterPrograms = /^(?:python[\d.]*|node|perl|ruby|php|deno|bun)$/;
const callsThatDelete = /rmtree|rmSync|rmdirSync|\brm\(|rm_rf|rm_r\b|remove_tree|remove_dir_all/;
/** Words before a command that are not commands. */
const keywords: ReadonlySet<string> = new Set(
  "if then else elif fi do done while until case esac in ! { } time function".split(" "),
);
/** Programs that start the program in their arguments. */
const starterPrograms: ReadonlySet<string> = new Set(
  "sudo doas env nice ionice timeout stdbuf xargs nohup time command builtin exec setsid busybox npx chroot flock".split(
    " ",
  ),
);
/** Programs that only print their arguments. */
const printingPrograms: ReadonlySet<string> = new Set(["echo", "printf"]);

/** Whether a function starts itself twice: `:(){ :|:& };:`, with any name. */
function isForkBomb(line: string): boolean {
  const compactLine = line.replace(/\s/g, "");
  const stages = compactLine.split(/[(){};&|]/);
  return stages.some(
    (name, index) =>
      name !== "" &&
      name === stages[index + 1] &&
      compactLine.includes(`${name}|${name}&`) &&
      (compactLine.includes(`${name}(){`) || compactLine.includes(`function${name}{`)),
  );
}

/**
 * Why a command is blocked; undefined if it is not. The line is split like in a shell. For each program, the paths that
 * it would delete, move or open are computed from the current folder, with variables, braces and patterns expanded.
 * This prevents accidents only: a malicious program finds other ways, and only a sandbox stops it.
 */
export function blockReason(
  line: string,
  { cwd, env }: CommandPlace = { cwd: process.cwd(), env: process.env },
): string | undefined {
  if (isForkBomb(line)) return "it starts itself without end";
  return findReason(line, { cwd, variables: new Map() }, { cwd, env, home: env["HOME"] ?? homedir() }, 0);
}

interface FixedPlace extends CommandPlace {
  readonly home: string;
}

function findReason(line: string, startState: ShellState, fixedPlace: FixedPlace, depth: number): string | undefined {
  if (depth > 6) return undefined;
  const states: ShellState[] = [startState];
  let previousFields: readonly string[] = [];
  for (const command of splitCommands(line)) {
    // When a subshell ends, its changes are lost.
    while (states.length > command.level + 1) states.pop();
    while (states.length <= command.level) states.push(copyState(states.at(-1) ?? startState));
    const state = states.at(-1) ?? startState;
    const context = contextOf(state, fixedPlace);
    const scripts = command.words.flat().filter(({ quote }) => quote === "command");
    for (const { text } of scripts) {
      const reason = findReason(text, copyState(state), fixedPlace, depth + 1);
      if (reason !== undefined) return reason;
    }
    const fields = readProgram(command, state, context);
    const writesToDisk = command.outputFiles
      .flatMap((word) => fieldsOf(word, context))
      .some((path) => diskDevice.test(path));
    const judgeScript = (script: string) => findReason(script, copyState(state), fixedPlace, depth + 1);
    const input = command.isPiped ? previousFields : [];
    const why = writesToDisk
      ? onDisks.damage
      : (reasonAgainst(fields, input, state, fixedPlace) ?? reasonAgainstScript(fields, input, judgeScript));
    if (why !== undefined) return why;
    if (["cd", "pushd"].includes(programName(fields[0] ?? "")))
      state.cwd = posix.resolve(state.cwd, operands(fields.slice(1))[0] ?? fixedPlace.home);
    previousFields = fields;
  }
  return undefined;
}

const copyState = ({ cwd, variables }: ShellState): ShellState => ({ cwd, variables: new Map(variables) });

const contextOf = (state: ShellState, { home, env }: FixedPlace): ShellContext => {
  const context: ShellContext = {
    home,
    variable: (name) => {
      if (name === "HOME") return state.variables.get(name) ?? [home];
      if (name === "PWD") return [state.cwd];
      return state.variables.get(name) ?? [env[name] ?? ""];
    },
    output(script) {
      const [firstCommand, ...others] = splitCommands(script);
      const [program = "", ...args] =
        firstCommand === undefined ? [] : firstCommand.words.flatMap((word) => fieldsOf(word, context));
      if (others.length === 0 && program === "pwd") return [state.cwd];
      if (others.length === 0 && printingPrograms.has(program))
        return [args.filter((arg) => !arg.startsWith("-")).join(" ")];
      // The output is not known: it may be empty or any name.
      return ["", "unknown"];
    },
  };
  return context;
};

/** The program and its arguments, without keywords and assignments. Assignments change `variables`. */
function readProgram({ words }: SimpleCommand, { variables }: ShellState, context: ShellContext): string[] {
  const assignment = /^([A-Za-z_]\w*)\+?=(.*)$/s;
  let remainingWords = words;
  for (; remainingWords[0] !== undefined; remainingWords = remainingWords.slice(1)) {
    const text = textOf(remainingWords[0]);
    const isPlain = remainingWords[0].every(({ quote }) => quote === "none");
    const [, name] = assignment.exec(text) ?? [];
    if (name !== undefined && remainingWords[0][0]?.quote === "none") {
      const value = remainingWords[0].slice(remainingWords[0].findIndex((quotedChar) => quotedChar.text === "=") + 1);
      variables.set(name, fieldsOf(value, context));
    } else if (!isPlain || !keywords.has(text)) break;
  }
  const fields = remainingWords.flatMap((word) => fieldsOf(word, context));
  const [first = "", name = "", ...values] = fields;
  if (["for", "select"].includes(first)) {
    variables.set(name, values.slice(1));
    return [];
  }
  if (/^(?:export|declare|local|readonly|typeset)$/.test(first))
    for (const field of fields) {
      const [, key, value = ""] = assignment.exec(field) ?? [];
      if (key !== undefined) variables.set(key, [value]);
    }
  return fields;
}

/** Checks each word of a command as if it were a program, because sudo, env or xargs may start it. */
function reasonAgainst(
  fields: readonly string[],
  input: readonly string[],
  state: ShellState,
  fixedPlace: FixedPlace,
): string | undefined {
  if (printingPrograms.has(programName(fields[0] ?? ""))) return undefined;
  for (const [index, field] of fields.entries()) {
    const program = programName(field).replace(/^mkfs\..*/, "mkfs");
    const destroyer = Object.hasOwn(destroyers, program) ? destroyers[program] : undefined;
    if (destroyer === undefined) continue;
    const targets = destroyer.targets(fields.slice(index + 1));
    // Such a name may also be an ordinary argument, as in `man mkfs`, so it counts only as the program itself or after
    // a starter.
    if (
      (targets === undefined || destroyer === onDisks) &&
      index > 0 &&
      !starterPrograms.has(programName(fields[0] ?? ""))
    )
      continue;
    if (targets === undefined) return destroyer.damage;
    const pipedTargets = fields.slice(0, index).some((field) => ["xargs", "parallel"].includes(programName(field)))
      ? targetsOf(input)
      : [];
    if (
      destroyer === onDisks
        ? targets.length > 0
        : [...targets, ...pipedTargets].some((path) => isImportantPath(path, state, fixedPlace))
    )
      return destroyer.damage;
  }
  return undefined;
}

/** The paths that a command prints as input of the next command, as in `find / | xargs rm -rf`. */
const targetsOf = ([program = "", ...args]: readonly string[]): string[] =>
  programName(program) === "find"
    ? pathsOfFind(args)
    : ["ls", "echo", "printf"].includes(programName(program))
      ? operands(args).flatMap((arg) => arg.split(/\s+/))
      : [];

/** Checks scripts for another shell or language, from an argument or from the previous command. */
function reasonAgainstScript(
  fields: readonly string[],
  input: readonly string[],
  judgeScript: (script: string) => string | undefined,
): string | undefined {
  const shellIndex = fields.findIndex(
    (field) => shellPrograms.has(programName(field)) || interpreterPrograms.test(programName(field)),
  );
  if (shellIndex === -1 || printingPrograms.has(programName(fields[0] ?? ""))) return undefined;
  const args = fields.slice(shellIndex + 1);
  if (!shellPrograms.has(programName(fields[shellIndex] ?? ""))) {
    const script = args[args.findIndex((arg) => /^-\w*[ecr]$|^--eval$/.test(arg)) + 1] ?? "";
    const texts = [...script.matchAll(/(["'`])((?:(?!\1).)*)\1/gs)].map(([, , text = ""]) => text);
    const deleteCommands = callsThatDelete.test(script) ? texts.map((text) => `rm -rf '${text}'`) : [];
    return [...texts, ...deleteCommands].map(judgeScript).find((reason) => reason !== undefined);
  }
  const printedScripts =
    args.length === 0 && printingPrograms.has(programName(input[0] ?? "")) ? [input.slice(1).join(" ")] : [];
  const scriptArguments =
    programName(fields[shellIndex] ?? "") === "eval" ? [args.join(" ")] : args.filter((arg) => /\s/.test(arg));
  return [...printedScripts, ...scriptArguments].map(judgeScript).find((reason) => reason !== undefined);
}

/** Whether a path or pattern includes a whole folder that nobody wants to lose. */
function isImportantPath(path: string, { cwd }: ShellState, { cwd: root, home }: FixedPlace): boolean {
  if (/^[a-z]:[\\/]*\*?$/i.test(path)) return true;
  const parts = posix.resolve(cwd, path).split("/");
  const patternIndex = parts.findIndex(isPattern);
  const folder = realPathOf(parts.slice(0, patternIndex === -1 ? undefined : patternIndex).join("/") || "/");
  if (temporaryFolders.includes(folder)) return false;
  const includesAll = patternIndex === -1 || folder === "/" || matchesAllNames(parts[patternIndex] ?? "");
  const isImportant = (folderPath: string): boolean =>
    folderPath.split("/").length <= 2 ||
    systemFolders.test(folderPath) ||
    [home, realPathOf(home)].some((homePath) => isWithin(homePath, folderPath)) ||
    (folderPath !== realPathOf(root) && isWithin(realPathOf(root), folderPath));
  return includesAll && isImportant(folder);
}

/** Whether a pattern matches all names, or all hidden names. */
function matchesAllNames(pattern: string): boolean {
  const source = pattern
    .replace(/[.+^${}()|\\]/g, "\\$&")
    .replace(/\*/g, ".*")
    .replace(/\?/g, ".")
    .replace(/\[!/g, "[^");
  const matches = (name: string): boolean => {
    try {
      return new RegExp(`^${source}$`).test(name);
    } catch {
      // An opening bracket without a closing one has no special meaning.
      return false;
    }
  };
  return ["bin", "work-1", "x9"].every(matches) || (pattern.startsWith(".") && [".ssh", ".config"].every(matches));
}
