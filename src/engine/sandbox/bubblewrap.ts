import { existsSync, lstatSync, readdirSync, readFileSync, readlinkSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import { messageOf } from "../lib/errors.js";
import { type ProcessEnd, runProcess } from "../process/run-process.js";
import { sandboxHome } from "../process/access.js";
import { isExecutable, programIn } from "../process/search-path.js";
import { readTextSync } from "../storage/regular-file.js";
import { withheldVariables } from "./environment.js";
import { type SandboxSession, mountsOf, openSession, prepareHome, toolRelay } from "./session.js";
import { limitCommand, processGroup } from "./limits.js";
import { defaultLimits, type Limits, type Sandbox, type SandboxOptions } from "./sandbox.js";
import { systemCallFilter } from "./system-calls.js";
import { watchResources } from "./watcher.js";

/** The path of a bubblewrap that works on this machine, or the reason why none does and what the user can do. */
export type BubblewrapSearch = { readonly program: string } | { readonly problem: string; readonly fix: string };

/**
 * Looks for bubblewrap (in PATH, then in Codex's package) and starts a program with it: kernel and distribution decide
 * whether it may create namespaces.
 */
export function findBubblewrap(env: NodeJS.ProcessEnv): Promise<BubblewrapSearch> {
  const path = env["PATH"] ?? "";
  const result = searchResults.get(path) ?? searchBubblewrap(env);
  searchResults.set(path, result);
  return result;
}

/** The results of searches, by PATH: a run needs the same result twice. */
const searchResults = new Map<string, Promise<BubblewrapSearch>>();

async function searchBubblewrap(env: NodeJS.ProcessEnv): Promise<BubblewrapSearch> {
  if (process.platform !== "linux") return { problem: "bubblewrap needs Linux", fix: "Use Docker." };
  const path = env["PATH"] ?? "";
  const programs = [programIn(path, "bwrap"), codexBubblewrap(path)].filter((program) => program !== undefined);
  if (programs.length === 0)
    return { problem: "bubblewrap is not installed", fix: "Install the package bubblewrap (apt install bubblewrap)." };
  if (prlimitIn(env) === undefined)
    return {
      problem: "prlimit, which sets the limits of a sandbox, is not installed",
      fix: "Install the package util-linux.",
    };
  const problems: string[] = [];
  for (const program of programs) {
    const problem = await problemOf(program, env);
    if (problem === undefined) return { program };
    problems.push(problem);
  }
  return { problem: `bubblewrap does not work here (${problems[0] ?? ""})`, fix: fixFor(problems[0] ?? "") };
}

/** A sandbox of Linux namespaces; `program` is the path of bubblewrap. Only named files are visible inside. */
export function bubblewrap(
  program: string,
  { env, home, limits: overrides, allowedVariables = [] }: SandboxOptions,
): Sandbox {
  const limits = { ...defaultLimits, ...overrides };
  const descriptorMap = descriptorContents();
  return {
    name: "bubblewrap",
    toolRelay: toolRelay(process.execPath),
    hiddenVariables: withheldVariables(env, allowedVariables),
    async *exec(request): AsyncGenerator<string, ProcessEnd> {
      let session: SandboxSession;
      try {
        if (home !== undefined) prepareHome(home, request);
        session = await openSession(request, process.execPath, allowedVariables);
      } catch (error) {
        return { cause: "not-started", startError: { message: messageOf(error) }, stderr: "" };
      }
      const group = processGroup(limits.maxProcesses);
      const limitController = new AbortController();
      let watcher: ReturnType<typeof watchResources> | undefined;
      const command = [
        ...(group?.startCommand ?? []),
        program,
        ...viewArguments(session, home, limits),
        ...["--chdir", request.cwd, "--"],
        ...limitCommand(prlimitIn(env), limits),
        ...session.command,
      ];
      try {
        const end = yield* runProcess({
          ...request,
          command: command[0] ?? program,
          args: command.slice(1),
          env: session.env,
          descriptors: descriptorMap,
          signal: AbortSignal.any([request.signal, limitController.signal]),
          onStart: (pid) => {
            const folders = session.access.write.map((mount) => (typeof mount === "string" ? mount : mount.from));
            watcher = watchResources(pid, [...folders, ...(home === undefined ? [] : [home])], limits, (excess) =>
              limitController.abort(excess),
            );
            request.onStart?.(pid);
          },
        });
        const isLimitReached = end.cause === "aborted" && !request.signal.aborted && limitController.signal.aborted;
        return {
          ...end,
          ...(isLimitReached ? { cause: "resources" as const, resource: String(limitController.signal.reason) } : {}),
          notices: session.notices(),
        };
      } finally {
        watcher?.stop();
        group?.remove();
        await session.close();
      }
    },
    close: () => Promise.resolve(),
  };
}

/** The arguments of bubblewrap that set up what the program sees. Later mounts cover earlier ones. */
function viewArguments(session: SandboxSession, home: string | undefined, { maxTemporaryBytes }: Limits): string[] {
  const sizeArguments = ["--size", String(maxTemporaryBytes)];
  return [
    ...["--die-with-parent", "--new-session", "--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts"],
    ...["--unshare-net", "--unshare-cgroup-try", "--disable-userns", "--cap-drop", "ALL"],
    ...(callFilter === undefined ? [] : ["--seccomp", String(filterDescriptor)]),
    ...["--uid", "1000", "--gid", "1000", "--hostname", "sandbox"],
    ...systemFolderArguments(),
    ...[
      "--dev",
      "/dev",
      ...sizeArguments,
      "--tmpfs",
      "/dev/shm",
      "--remount-ro",
      "/dev",
      "--proc",
      "/proc",
      ...readOnlyProcArguments(),
    ],
    ...["--perms", "1777", ...sizeArguments, "--tmpfs", "/tmp", "--dir", "/var", "--symlink", "../tmp", "/var/tmp"],
    ...(home === undefined ? [...sizeArguments, "--tmpfs", "/home", "--dir", sandboxHome] : ["--bind", home, "/home"]),
    // The relay needs Node, which may be in /home or /tmp; the sandbox has its own folders there.
    ...(process.execPath.startsWith("/usr/") ? [] : ["--ro-bind", process.execPath, process.execPath]),
    ...mountsOf(session).flatMap(({ from, target, isWritable }) => [isWritable ? "--bind" : "--ro-bind", from, target]),
    ...["--remount-ro", "/"],
  ];
}

/** The file descriptor from which bubblewrap reads the filter of system calls. */
const filterDescriptor = 3;
const callFilter = systemCallFilter();

/**
 * The contents of a program's file descriptors besides the three standard ones: the filter, which bubblewrap closes,
 * and "nothing" for each descriptor of this process that the program would inherit. Through an inherited folder, the
 * program could read all files in it.
 */
function descriptorContents(): ReadonlyMap<number, Uint8Array | "nothing"> {
  const descriptorMap = new Map<number, Uint8Array | "nothing">();
  for (const name of readdirSync("/proc/self/fd")) {
    const flags = /^flags:\s*([0-7]+)/m.exec(readTextSync(`/proc/self/fdinfo/${name}`, maxProcBytes) ?? "")?.[1];
    if (Number(name) > 2 && flags !== undefined && (parseInt(flags, 8) & closeOnExecFlag) === 0)
      descriptorMap.set(Number(name), "nothing");
  }
  if (callFilter !== undefined) descriptorMap.set(filterDescriptor, callFilter);
  return descriptorMap;
}

/** Maximum bytes of a file in /proc. */
const maxProcBytes = 100_000;
/** The flag O_CLOEXEC: children do not inherit the descriptor. */
const closeOnExecFlag = 0o2000000;

/** The path of prlimit. /usr/bin comes first, as an agent may have put another prlimit into a folder of PATH. */
const prlimitIn = ({ PATH = "" }: NodeJS.ProcessEnv): string | undefined =>
  ["/usr/bin/prlimit", programIn(PATH, "prlimit")].find((path) => path !== undefined && isExecutable(path));

/** Folders and files of programs, libraries and certificates that are visible inside. */
const visiblePaths = [
  ...["/usr", "/nix/store", "/gnu/store", "/etc/ssl", "/etc/pki", "/etc/ca-certificates", "/etc/ca-certificates.conf"],
  ...[
    "/etc/alternatives",
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/localtime",
    "/etc/timezone",
  ],
  ...["/etc/os-release", "/etc/mime.types", "/etc/protocols", "/etc/services"],
  // Java on Debian needs its settings in these folders to start.
  ...pathsIn("/etc", /^java(?:-\d|$)/),
];
const systemLinks = ["/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"];

let cachedArguments: string[] | undefined;

function systemFolderArguments(): string[] {
  return (cachedArguments ??= [
    ...visiblePaths.filter((path) => existsSync(path)).flatMap((path) => ["--ro-bind", realpathSync(path), path]),
    ...systemLinks
      .filter((path) => existsSync(path))
      .flatMap((path) =>
        lstatSync(path).isSymbolicLink() ? ["--symlink", readlinkSync(path), path] : ["--ro-bind", path, path],
      ),
  ]);
}

/**
 * Paths in /proc that belong to the whole machine and must be read-only. If root started the sandbox, a program can
 * write root's files there without a capability: kernel.core_pattern, for example, names a program that the kernel runs
 * outside. All users can write some of these files, and bubblewrap does not protect all of them.
 */
const machineWidePaths: readonly string[] = [
  ...["sys", "fs", "irq", "bus", "acpi", "scsi", "driver", "asound", "mtrr", "pressure", "sysrq-trigger"],
].map((name) => `/proc/${name}`);

const readOnlyProcArguments = (): string[] =>
  machineWidePaths.filter((path) => existsSync(path)).flatMap((path) => ["--ro-bind", path, path]);

/** The bubblewrap in Codex's package: …/@openai/codex-linux-x64/vendor/<target>/codex-resources/bwrap. */
function codexBubblewrap(path: string): string | undefined {
  const codex = programIn(path, "codex");
  if (codex === undefined) return undefined;
  const scope = dirname(dirname(dirname(realpathSync(codex))));
  return [scope, join(scope, "codex", "node_modules", "@openai")]
    .flatMap((folder) => pathsIn(folder, /^codex-linux-/))
    .flatMap((folder) => pathsIn(join(folder, "vendor"), /./))
    .map((folder) => join(folder, "codex-resources", "bwrap"))
    .find(isExecutable);
}

function pathsIn(folder: string, pattern: RegExp): string[] {
  try {
    return readdirSync(folder)
      .filter((name) => pattern.test(name))
      .map((name) => join(folder, name));
  } catch {
    return [];
  }
}

/** The reason why this bubblewrap can't start a program with the arguments of a sandbox; undefined if it can. */
async function problemOf(program: string, env: NodeJS.ProcessEnv): Promise<string | undefined> {
  const emptySession: SandboxSession = {
    access: { read: [], write: [], hosts: [], keys: [], variables: [] },
    command: [],
    env: {},
    mounts: [],
    notices: () => [],
    close: () => Promise.resolve(),
  };
  const args = [
    ...viewArguments(emptySession, undefined, defaultLimits),
    "--",
    ...limitCommand(prlimitIn(env), defaultLimits),
    "true",
  ];
  const trial = runProcess({
    command: program,
    args,
    cwd: "/",
    env: { PATH: "/usr/bin:/bin" },
    stdin: "",
    timeoutMs: 10_000,
    idleMs: 0,
    isFinished: () => false,
    signal: new AbortController().signal,
    descriptors: descriptorContents(),
  });
  for (;;) {
    const step = await trial.next();
    if (step.done !== true) continue;
    const { exitCode, cause, stderr, startError } = step.value;
    if (exitCode === 0) return undefined;
    const lastLine = stderr.trim().split("\n").at(-1) ?? "";
    return (lastLine || startError?.message || `its test program failed: ${cause}`).slice(0, 200);
  }
}

/** What the user can do if bubblewrap can't start a program. `settings`: the folder of the kernel's settings. */
export function fixFor(problem: string, settings = "/proc/sys"): string {
  const readSetting = (name: string): string | undefined => {
    try {
      return readFileSync(join(settings, name), "utf8").trim();
    } catch {
      return undefined;
    }
  };
  if (/unknown option|disable-userns/i.test(problem)) return "Install bubblewrap 0.8 or newer.";
  if (readSetting("kernel/apparmor_restrict_unprivileged_userns") === "1")
    return "AppArmor forbids user namespaces to programs without a profile: allow them to bwrap with a profile in /etc/apparmor.d (its content: `abi <abi/4.0>, profile bwrap /usr/bin/bwrap flags=(unconfined) { userns, }`), or for all programs with `sysctl kernel.apparmor_restrict_unprivileged_userns=0`.";
  if (readSetting("kernel/unprivileged_userns_clone") === "0")
    return "Allow user namespaces with `sysctl kernel.unprivileged_userns_clone=1`.";
  if (readSetting("user/max_user_namespaces") === "0")
    return "Allow user namespaces with `sysctl user.max_user_namespaces=10000`.";
  return "Within a container, allow user namespaces (Docker: --security-opt seccomp=unconfined --security-opt systempaths=unconfined), or use Docker.";
}
