/** Commands by what the original called them, where it differs. */
const flagCommands = ["--new", "--run", "--list", "--status", "--reset", "--config"] as const;

export interface Surroundings {
  readonly commands: readonly string[];
  /** Whether a word is the path or the name of a folder. */
  isFolder(word: string): boolean;
}

/**
 * Arguments with the command in front, whatever way they were spelt: scripts written for the original say
 * `--new "<topic>"`, `--run <folder> -p 30`, `<folder> 20`; nothing at all means `run`.
 */
export function withCommandFirst(args: readonly string[], { commands, isFolder }: Surroundings): string[] {
  const [first, second, ...rest] = args;
  if (first === undefined) return ["run"];
  if (commands.includes(first)) return [...args];

  const at = args.findIndex((arg) => flagCommands.some((flag) => arg === flag || arg.startsWith(`${flag}=`)));
  if (at >= 0) {
    const [flag = "", ...inline] = args[at]?.split("=") ?? [];
    const before = args.slice(0, at);
    const after = args.slice(at + 1);
    const command = flag.slice(2);
    if (inline.length > 0)
      return [command, ...(inline.join("=") === "" ? [] : [inline.join("=")]), ...before, ...after];
    return [command, ...after, ...before];
  }

  if (first === "-h" || first === "--help") return ["--help"];
  if (first.startsWith("-")) return ["run", ...args];
  if (!isFolder(first)) return [...args];
  // ralph.sh <folder> <iterations>
  if (second !== undefined && /^\d+$/.test(second)) return ["run", first, "-i", second, ...rest];
  return ["run", ...args];
}
