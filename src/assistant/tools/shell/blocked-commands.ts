import { homedir } from "node:os";
import { posix } from "node:path";
import { isWithin, realPathOf } from "../../../engine/process/search-path.js";
import { fieldsOf, isPattern, type ShellContext, type SimpleCommand, simpleCommands, textOf } from "./shell-words.js";

/** Where a command would run. */
export interface Where {
  /** Absolute path of the folder. */
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
}

/** What a line has said so far. */
interface State {
  cwd: string;
  readonly variables: Map<string, readonly string[]>;
}

/** Where everybody puts what may go. */
const temporary = ["/tmp", "/var/tmp", "/dev/shm"];
/** Folders whose parts the system, or another user, can't do without. */
const ofSystem = /^\/(?:usr|home|boot|lib\w*|var\/lib)\/[^/]+$|^\/(?:proc|sys)\//;

/** Disks as devices, and not /dev/null or a terminal. */
const disk = /^\/dev\/(?:sd|hd|vd|xvd|nvme|mmcblk|disk|mapper\/|md)/;

const baseOf = (program: string): string => (/\s/.test(program) ? "" : program.replace(/^.*[\\/]/, "").toLowerCase());
const operands = (args: readonly string[]): string[] => {
  const end = args.indexOf("--");
  const before = end === -1 ? args : args.slice(0, end);
  return [...before.filter((arg) => !arg.startsWith("-")), ...(end === -1 ? [] : args.slice(end + 1))];
};
/** Long options may be shortened. */
const has = (args: readonly string[], letter: RegExp, long: string): boolean =>
  args.some((arg) =>
    /^--./.test(arg) ? long.startsWith(arg.replace(/=.*/s, "")) : /^-\w/.test(arg) && letter.test(arg),
  );

/** A program that can do what nobody means: what it is named for that, and which of its arguments it does it to. */
interface Destroyer {
  readonly why: string;
  /** The paths, none where the arguments ask for something else. `undefined`: whatever the paths are. */
  targets(args: readonly string[]): readonly string[] | undefined;
}

const deletes = "it deletes everything";
const recursively = (why: string): Destroyer => ({
  why,
  targets: (args) => (has(args, /[rR]/, "--recursive") ? operands(args) : []),
});
const everyOperand: Destroyer = { why: deletes, targets: operands };
const anything = (why: string): Destroyer => ({ why, targets: () => undefined });
const onDisks: Destroyer = { why: "it overwrites a disk", targets: (args) => args.filter((arg) => disk.test(arg)) };
const onWindows: Destroyer = {
  why: deletes,
  targets: (args) =>
    args.some((arg) => /^\/s$/i.test(arg)) && args.some((arg) => /^[a-z]:[\\/]*\*?$/i.test(arg)) ? undefined : [],
};

const pathsOfFind = (args: readonly string[]): string[] => {
  const end = args.findIndex((arg) => /^[-(!]/.test(arg));
  const paths = end === -1 ? args : args.slice(0, end);
  return paths.length === 0 ? ["."] : [...paths];
};

const destroyers: Readonly<Record<string, Destroyer>> = {
  rm: recursively(deletes),
  ...Object.fromEntries(["rimraf", "srm"].map((name) => [name, everyOperand])),
  find: {
    why: deletes,
    targets: (args) => (args.some((arg) => arg === "-delete" || /^-(?:exec|ok)/.test(arg)) ? pathsOfFind(args) : []),
  },
  mv: {
    why: "it moves everything away",
    targets: (args) => operands(args).slice(0, has(args, /t/, "--target") ? undefined : -1),
  },
  rsync: {
    why: deletes,
    targets: (args) => (args.some((arg) => arg.startsWith("--del")) ? operands(args).slice(-1) : []),
  },
  ...Object.fromEntries(
    ["chmod", "chown", "chgrp"].map((name) => [name, recursively("it changes who may open every file of the system")]),
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
    ["mkfs", "mke2fs", "format", "format.com"].map((name) => [name, anything("it formats a disk")]),
  ),
  ...Object.fromEntries(["rd", "rmdir", "del", "erase"].map((name) => [name, onWindows])),
};

/** Programs that take a script as an argument or on their standard input. */
const shells: ReadonlySet<string> = new Set([
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
/** Of other languages: what they run is looked through for commands and for calls that delete. */
const interpreters = /^(?:python[\d.]*|node|perl|ruby|php|deno|bun)$/;
const callsThatDelete = /rmtree|rmSync|rmdirSync|\brm\(|rm_rf|rm_r\b|remove_tree|remove_dir_all/;
/** Words that stand before a command and are not commands. */
const keywords: ReadonlySet<string> = new Set(
  "if then else elif fi do done while until case esac in ! { } time function".split(" "),
);
/** Programs that start the one named behind them. */
const starters: ReadonlySet<string> = new Set(
  "sudo doas env nice ionice timeout stdbuf xargs nohup time command builtin exec setsid busybox npx chroot flock".split(
    " ",
  ),
);
/** Programs that only say their arguments. */
const says: ReadonlySet<string> = new Set(["echo", "printf"]);

/** Whether a function starts itself twice, whatever it is called: `:(){ :|:& };:` */
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
 * Why a command is not run, or undefined where nothing speaks against it. The line is taken apart as a shell does, and
 * what its programs would delete, move or open is looked up from the folder it has come to, with variables, braces and
 * patterns as they would become. This is against accidents: a program that wants to do harm finds a way around, and
 * only a sandbox stops that.
 */
export function whyBlocked(
  line: string,
  { cwd, env }: Where = { cwd: process.cwd(), env: process.env },
): string | undefined {
  if (isForkBomb(line)) return "it starts itself without end";
  return judge(line, { cwd, variables: new Map() }, { cwd, env, home: env["HOME"] ?? homedir() }, 0);
}

interface Fixed extends Where {
  readonly home: string;
}

function judge(line: string, begun: State, fixed: Fixed, depth: number): string | undefined {
  if (depth > 6) return undefined;
  const states: State[] = [begun];
  let before: readonly string[] = [];
  for (const command of simpleCommands(line)) {
    // What a subshell changes is forgotten behind it.
    while (states.length > command.level + 1) states.pop();
    while (states.length <= command.level) states.push(copyOf(states.at(-1) ?? begun));
    const state = states.at(-1) ?? begun;
    const known = knownIn(state, fixed);
    const scripts = command.words.flat().filter(({ quote }) => quote === "command");
    for (const { text } of scripts) {
      const why = judge(text, copyOf(state), fixed, depth + 1);
      if (why !== undefined) return why;
    }
    const fields = programIn(command, state, known);
    const disks = command.writesTo.flatMap((word) => fieldsOf(word, known)).some((path) => disk.test(path));
    const within = (script: string) => judge(script, copyOf(state), fixed, depth + 1);
    const input = command.isPiped ? before : [];
    const why = disks ? onDisks.why : (whyNot(fields, input, state, fixed) ?? whyNotScript(fields, input, within));
    if (why !== undefined) return why;
    if (["cd", "pushd"].includes(baseOf(fields[0] ?? "")))
      state.cwd = posix.resolve(state.cwd, operands(fields.slice(1))[0] ?? fixed.home);
    before = fields;
  }
  return undefined;
}

const copyOf = ({ cwd, variables }: State): State => ({ cwd, variables: new Map(variables) });

const knownIn = (state: State, { home, env }: Fixed): ShellContext => {
  const known: ShellContext = {
    home,
    variable: (name) => {
      if (name === "HOME") return state.variables.get(name) ?? [home];
      if (name === "PWD") return [state.cwd];
      return state.variables.get(name) ?? [env[name] ?? ""];
    },
    output(script) {
      const [only, ...others] = simpleCommands(script);
      const [program = "", ...args] = only === undefined ? [] : only.words.flatMap((word) => fieldsOf(word, known));
      if (others.length === 0 && program === "pwd") return [state.cwd];
      if (others.length === 0 && says.has(program)) return [args.filter((arg) => !arg.startsWith("-")).join(" ")];
      // Not known; it may be empty, and it may be any name.
      return ["", "unknown"];
    },
  };
  return known;
};

/** The program and its arguments, behind keywords and assignments, which are remembered. */
function programIn({ words }: SimpleCommand, { variables }: State, known: ShellContext): string[] {
  const assigned = /^([A-Za-z_]\w*)\+?=(.*)$/s;
  let rest = words;
  for (; rest[0] !== undefined; rest = rest.slice(1)) {
    const text = textOf(rest[0]);
    const isPlain = rest[0].every(({ quote }) => quote === "none");
    const [, name] = assigned.exec(text) ?? [];
    if (name !== undefined && rest[0][0]?.quote === "none") {
      const value = rest[0].slice(rest[0].findIndex((sign) => sign.text === "=") + 1);
      variables.set(name, fieldsOf(value, known));
    } else if (!isPlain || !keywords.has(text)) break;
  }
  const fields = rest.flatMap((word) => fieldsOf(word, known));
  const [first = "", name = "", ...values] = fields;
  if (["for", "select"].includes(first)) {
    variables.set(name, values.slice(1));
    return [];
  }
  if (/^(?:export|declare|local|readonly|typeset)$/.test(first))
    for (const field of fields) {
      const [, key, value = ""] = assigned.exec(field) ?? [];
      if (key !== undefined) variables.set(key, [value]);
    }
  return fields;
}

/** Each program that is named in a command may be started by the one before it, as by sudo, env or xargs. */
function whyNot(fields: readonly string[], input: readonly string[], state: State, fixed: Fixed): string | undefined {
  if (says.has(baseOf(fields[0] ?? ""))) return undefined;
  for (const [at, field] of fields.entries()) {
    const program = baseOf(field).replace(/^mkfs\..*/, "mkfs");
    const known = Object.hasOwn(destroyers, program) ? destroyers[program] : undefined;
    if (known === undefined) continue;
    const targets = known.targets(fields.slice(at + 1));
    // Where no path of everything has to be named, a name among arguments may be any word: `man mkfs`.
    if ((targets === undefined || known === onDisks) && at > 0 && !starters.has(baseOf(fields[0] ?? ""))) continue;
    if (targets === undefined) return known.why;
    const read = fields.slice(0, at).some((each) => ["xargs", "parallel"].includes(baseOf(each)))
      ? targetsOf(input)
      : [];
    if (known === onDisks ? targets.length > 0 : [...targets, ...read].some((path) => isEverything(path, state, fixed)))
      return known.why;
  }
  return undefined;
}

/** What a command before a pipe names: `find / | xargs rm -rf`. */
const targetsOf = ([program = "", ...args]: readonly string[]): string[] =>
  baseOf(program) === "find"
    ? pathsOfFind(args)
    : ["ls", "echo", "printf"].includes(baseOf(program))
      ? operands(args).flatMap((arg) => arg.split(/\s+/))
      : [];

/** Scripts for another shell or language: as an argument, or from the command before a pipe. */
function whyNotScript(
  fields: readonly string[],
  input: readonly string[],
  within: (script: string) => string | undefined,
): string | undefined {
  const at = fields.findIndex((field) => shells.has(baseOf(field)) || interpreters.test(baseOf(field)));
  if (at === -1 || says.has(baseOf(fields[0] ?? ""))) return undefined;
  const args = fields.slice(at + 1);
  if (!shells.has(baseOf(fields[at] ?? ""))) {
    const script = args[args.findIndex((arg) => /^-\w*[ecr]$|^--eval$/.test(arg)) + 1] ?? "";
    const texts = [...script.matchAll(/(["'`])((?:(?!\1).)*)\1/gs)].map(([, , text = ""]) => text);
    const asRm = callsThatDelete.test(script) ? texts.map((text) => `rm -rf '${text}'`) : [];
    return [...texts, ...asRm].map(within).find((why) => why !== undefined);
  }
  const piped = args.length === 0 && says.has(baseOf(input[0] ?? "")) ? [input.slice(1).join(" ")] : [];
  const whole = baseOf(fields[at] ?? "") === "eval" ? [args.join(" ")] : args.filter((arg) => /\s/.test(arg));
  return [...piped, ...whole].map(within).find((why) => why !== undefined);
}

/** Whether what nobody means to lose is among the files that a path, or a pattern of paths, names. */
function isEverything(path: string, { cwd }: State, { cwd: root, home }: Fixed): boolean {
  if (/^[a-z]:[\\/]*\*?$/i.test(path)) return true;
  const parts = posix.resolve(cwd, path).split("/");
  const at = parts.findIndex(isPattern);
  const folder = realPathOf(parts.slice(0, at === -1 ? undefined : at).join("/") || "/");
  if (temporary.includes(folder)) return false;
  const isWhole = at === -1 || folder === "/" || coversAll(parts[at] ?? "");
  const isOne = (each: string): boolean =>
    each.split("/").length <= 2 ||
    ofSystem.test(each) ||
    [home, realPathOf(home)].some((own) => isWithin(own, each)) ||
    (each !== realPathOf(root) && isWithin(realPathOf(root), each));
  return isWhole && isOne(folder);
}

/** Whether a pattern fits names of any kind, or hidden ones of any kind. */
function coversAll(pattern: string): boolean {
  const source = pattern
    .replace(/[.+^${}()|\\]/g, "\\$&")
    .replace(/\*/g, ".*")
    .replace(/\?/g, ".")
    .replace(/\[!/g, "[^");
  const fits = (name: string): boolean => {
    try {
      return new RegExp(`^${source}$`).test(name);
    } catch {
      // An open bracket is a bracket.
      return false;
    }
  };
  return ["bin", "work-1", "x9"].every(fits) || (pattern.startsWith(".") && [".ssh", ".config"].every(fits));
}
