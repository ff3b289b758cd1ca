import { type SimpleCommand, simpleCommands } from "./shell-words.js";

/** A kind of command that is not run, even where a person allows it. */
interface Rule {
  readonly why: string;
  fits(program: string, args: readonly string[]): boolean;
}

/** `/`, `/*`, `//.`, a home, a drive of Windows: what nobody means to lose. */
const isEverything = (path: string): boolean =>
  /^(?:\/[/.]*(?:\*|\{,?\.?\*?\})?|~\/?\*?|\$\{?HOME\}?\/?\*?|\/(?:home|root|usr|etc|var|bin|lib|boot|dev|sys|proc)\/?\*?|[a-z]:[\\/]?\*?)$/i.test(
    path,
  );

const has = (args: readonly string[], letter: RegExp, long: string): boolean =>
  args.some((arg) => (arg.startsWith("--") ? arg === long : arg.startsWith("-") && letter.test(arg)));

const operands = (args: readonly string[]): readonly string[] => args.filter((arg) => !arg.startsWith("-"));

const rules: readonly Rule[] = [
  {
    why: "it deletes everything",
    fits: (program, args) =>
      program === "rm" && has(args, /[rR]/, "--recursive") && operands(args).some((path) => isEverything(path)),
  },
  {
    why: "it deletes everything",
    fits: (program, args) =>
      program === "find" && isEverything(args[0] ?? "") && args.some((arg) => arg === "-delete" || arg === "-exec"),
  },
  { why: "it formats a disk", fits: (program) => /^(?:mkfs(?:\..+)?|mke2fs|format(?:\.com)?)$/.test(program) },
  { why: "it copies disks", fits: (program, args) => program === "dd" && args.some((arg) => arg.startsWith("if=")) },
  {
    why: "it changes who may open every file of the system",
    fits: (program, args) =>
      ["chmod", "chown", "chgrp"].includes(program) &&
      has(args, /R/, "--recursive") &&
      operands(args).some((path) => isEverything(path)),
  },
  {
    why: "it deletes everything",
    fits: (program, args) =>
      ["rd", "rmdir", "del", "erase"].includes(program) &&
      args.some((arg) => /^\/s$/i.test(arg)) &&
      args.some((arg) => /^[a-z]:[\\/]?\*?$/i.test(arg)),
  },
];

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

/** Disks as devices, and not /dev/null or a terminal. */
const disk = /^\/dev\/(?:sd|hd|vd|xvd|nvme|mmcblk|disk|mapper\/|md)/;

/**
 * Why a command is not run, or undefined where nothing speaks against it. It is told by its words as the shell takes
 * them, so spaces, quotes and the order of options make no difference. This is against accidents: a program that wants
 * to do harm finds a way around, and only a sandbox stops that.
 */
export function whyBlocked(line: string): string | undefined {
  if (isForkBomb(line)) return "it starts itself without end";
  for (const { words, writesTo } of simpleCommands(line)) {
    const why = whyNot(words) ?? (writesTo.some((path) => disk.test(path)) ? "it overwrites a disk" : undefined);
    if (why !== undefined) return why;
  }
  return undefined;
}

function whyNot([first = "", ...args]: SimpleCommand["words"]): string | undefined {
  const program = first.replace(/^.*[\\/]/, "").toLowerCase();
  return rules.find(({ fits }) => fits(program, args))?.why;
}
