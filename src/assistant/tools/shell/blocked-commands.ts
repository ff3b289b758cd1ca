import { homedir } from "node:os";
import { posix } from "node:path";
import { isWithin, realPathOf } from "../../../engine/process/search-path.js";
import { fieldsOf, isPattern, type ShellContext, type SimpleCommand, simpleCommands, textOf } from "./shell-words.js";

/** The folder and environment of a command. */
export interface CommandPlace {
  /** Absolute path of the folder. */
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
}

/** The state of the shell at a point of the line. */
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
  const before = end === -1 ? args : args.slice(0, end);
  return [...before.filter((arg) => !arg.startsWith("-")), ...(end === -1 ? [] : args.slice(end + 1))];
};
/** Whether an option is given. Long options may be shortened. */
const hasOption = (args: readonly string[], letter: RegExp, long: string): boolean =>
  args.some((arg) =>
    /^--./.test(arg) ? long.startsWith(arg.replace(/=.*/s, "")) : /^-\w/.test(arg) && letter.test(arg),
  );

/** A program that can cause damage: the damage, and the paths among its arguments. */
interface Destroyer {
  readonly why: string;
  /** The paths; empty if the arguments ask for something harmless; `undefined` if it is dangerous with every path. */
  targets(args: readonly string[]): readonly string[] | undefined;
}

const deletesText = "it deletes everything";
const whenRecursive = (why: string): Destroyer => ({
  why,
  targets: (args) => (hasOption(args, /[rR]/, "--recursive") ? operands(args) : []),
});
const onEveryOperand: Destroyer = { why: deletesText, targets: operands };
const onAnyPath = (why: string): Destroyer => ({ why, targets: () => undefined });
const onDisks: Destroyer = {
  why: "it overwrites a disk",
  targets: (args) => args.filter((arg) => diskDevice.test(arg)),
};
const onWindows: Destroyer = {
  why: deletesText,
  targets: (args) =>
    args.some((arg) => /^\/s$/i.test(arg)) && args.some((arg) => /^[a-z]:[\\/]*\*?$/i.test(arg)) ? undefined : [],
};

const pathsOfFind = (args: readonly string[]): string[] => {
  const end = args.findIndex((arg) => /^[-(!]/.test(arg));
  const paths = end === -1 ? args : args.slice(0, end);
  return paths.length === 0 ? ["."] : [...paths];
};

const destroyers: Readonly<Record<string, Destroyer>> = {
  rm: whenRecursive(deletesText),
  ...Object.fromEntries(["rimraf", "srm"].map((name) => [name, onEveryOperand])),
  find: {
    why: deletesText,
    targets: (args) => (args.some((arg) => arg === "-delete" || /^-(?:exec|ok)/.test(arg)) ? pathsOfFind(args) : []),
  },
  mv: {
    why: "it moves everything away",
    targets: (args) => operands(args).slice(0, hasOption(args, /t/, "--target") ? undefined : -1),
  },
  rsync: {
    why: deletesText,
    targets: (args) => (args.some((arg) => arg.startsWith("--del")) ? operands(args).slice(-1) : []),
  },
  ...Object.fromEntries(
    ["chmod", "chown", "chgrp"].map((name) => [
      name,
      whenRecursive("it changes who may open every file of the system"),
    ]),
  ),
  dd: {
    why: "it copies disks",
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
  const dense = line.replace(/\s/g, "");
  const stages = dense.split(/[(){};&|]/);
  return stages.some(
    (name, place) =>
      name !== "" &&
      name === stages[place + 1] &&
      dense.includes(`${name}|${name}&`) &&
      (dense.includes(`${name}(){`) || dense.includes(`function${name}{`)),
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
  for (const command of simpleCommands(line)) {
    // Changes in a subshell end with it.
    while (states.length > command.level + 1) states.pop();
    while (states.length <= command.level) states.push(copyState(states.at(-1) ?? startState));
    const state = states.at(-1) ?? startState;
    const context = contextOf(state, fixedPlace);
    const scripts = command.words.flat().filter(({ quote }) => quote === "command");
    for (const { text } of scripts) {
      const reason = findReason(text, copyState(state), fixedPlace, depth + 1);
      if (reason !== undefined) return reason;
    }
    const fields = programIn(command, state, context);
    const writesToDisk = command.writesTo
      .flatMap((word) => fieldsOf(word, context))
      .some((path) => diskDevice.test(path));
    const judgeScript = (script: string) => findReason(script, copyState(state), fixedPlace, depth + 1);
    const input = command.isPiped ? previousFields : [];
    const why = writesToDisk
      ? onDisks.why
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
  const known: ShellContext = {
    home,
    variable: (name) => {
      if (name === "HOME") return state.variables.get(name) ?? [home];
      if (name === "PWD") return [state.cwd];
      return state.variables.get(name) ?? [env[name] ?? ""];
    },
    output(script) {
      const [firstCommand, ...others] = simpleCommands(script);
      const [program = "", ...args] =
        firstCommand === undefined ? [] : firstCommand.words.flatMap((word) => fieldsOf(word, known));
      if (others.length === 0 && program === "pwd") return [state.cwd];
      if (others.length === 0 && printingPrograms.has(program))
        return [args.filter((arg) => !arg.startsWith("-")).join(" ")];
      // The output is not known: it may be empty or any name.
      return ["", "unknown"];
    },
  };
  return known;
};

/** The program and its arguments, without keywords and assignments. Assignments change `variables`. */
function programIn({ words }: SimpleCommand, { variables }: ShellState, context: ShellContext): string[] {
  const assignment = /^([A-Za-z_]\w*)\+?=(.*)$/s;
  let remainingWords = words;
  for (; remainingWords[0] !== undefined; remainingWords = remainingWords.slice(1)) {
    const text = textOf(remainingWords[0]);
    const isPlain = remainingWords[0].every(({ quote }) => quote === "none");
    const [, name] = assignment.exec(text) ?? [];
    if (name !== undefined && remainingWords[0][0]?.quote === "none") {
      const value = remainingWords[0].slice(remainingWords[0].findIndex((sign) => sign.text === "=") + 1);
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

/** Checks each word of a command as a program, because a program such as sudo, env or xargs may start it. */
function reasonAgainst(
  fields: readonly string[],
  input: readonly string[],
  state: ShellState,
  fixedPlace: FixedPlace,
): string | undefined {
  if (printingPrograms.has(programName(fields[0] ?? ""))) return undefined;
  for (const [at, field] of fields.entries()) {
    const program = programName(field).replace(/^mkfs\..*/, "mkfs");
    const known = Object.hasOwn(destroyers, program) ? destroyers[program] : undefined;
    if (known === undefined) continue;
    const targets = known.targets(fields.slice(at + 1));
    // Such a name may also be an ordinary argument, as in `man mkfs`, so it counts only as the program itself or after
    // a starter.
    if ((targets === undefined || known === onDisks) && at > 0 && !starterPrograms.has(programName(fields[0] ?? "")))
      continue;
    if (targets === undefined) return known.why;
    const pipedTargets = fields.slice(0, at).some((field) => ["xargs", "parallel"].includes(programName(field)))
      ? targetsOf(input)
      : [];
    if (
      known === onDisks
        ? targets.length > 0
        : [...targets, ...pipedTargets].some((path) => isEverything(path, state, fixedPlace))
    )
      return known.why;
  }
  return undefined;
}

/** The paths that a command prints for the next one: `find / | xargs rm -rf`. */
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
    return [...texts, ...deleteCommands].map(judgeScript).find((why) => why !== undefined);
  }
  const printedScripts =
    args.length === 0 && printingPrograms.has(programName(input[0] ?? "")) ? [input.slice(1).join(" ")] : [];
  const scriptArguments =
    programName(fields[shellIndex] ?? "") === "eval" ? [args.join(" ")] : args.filter((arg) => /\s/.test(arg));
  return [...printedScripts, ...scriptArguments].map(judgeScript).find((why) => why !== undefined);
}

/** Whether a path or pattern includes files that nobody wants to lose. */
function isEverything(path: string, { cwd }: ShellState, { cwd: root, home }: FixedPlace): boolean {
  if (/^[a-z]:[\\/]*\*?$/i.test(path)) return true;
  const parts = posix.resolve(cwd, path).split("/");
  const patternIndex = parts.findIndex(isPattern);
  const folder = realPathOf(parts.slice(0, patternIndex === -1 ? undefined : patternIndex).join("/") || "/");
  if (temporaryFolders.includes(folder)) return false;
  const includesAll = patternIndex === -1 || folder === "/" || coversAll(parts[patternIndex] ?? "");
  const isImportant = (folderPath: string): boolean =>
    folderPath.split("/").length <= 2 ||
    systemFolders.test(folderPath) ||
    [home, realPathOf(home)].some((homePath) => isWithin(homePath, folderPath)) ||
    (folderPath !== realPathOf(root) && isWithin(realPathOf(root), folderPath));
  return includesAll && isImportant(folder);
}

/** Whether a pattern matches all names, or all hidden names. */
function coversAll(pattern: string): boolean {
  const source = pattern
    .replace(/[.+^${}()|\\]/g, "\\$&")
    .replace(/\*/g, ".*")
    .replace(/\?/g, ".")
    .replace(/\[!/g, "[^");
  const matches = (name: string): boolean => {
    try {
      return new RegExp(`^${source}$`).test(name);
    } catch {
      // An open bracket is a bracket.
      return false;
    }
  };
  return ["bin", "work-1", "x9"].every(matches) || (pattern.startsWith(".") && [".ssh", ".config"].every(matches));
}
