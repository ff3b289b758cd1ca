import { existsSync, lstatSync, readdirSync, readFileSync, readlinkSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import { messageOf } from "../lib/errors.js";
import { type ProcessEnd, runProcess } from "../process/run-process.js";
import { sandboxHome } from "../process/reach.js";
import { isExecutable, programIn } from "../process/search-path.js";
import { keptOutside } from "./environment.js";
import { type Inside, mountsOf, openInside, prepareHome, toolRelay } from "./inside.js";
import { limited, processGroup } from "./limits.js";
import { defaultLimits, type Limits, type Sandbox, type SandboxOptions } from "./sandbox.js";
import { systemCallFilter } from "./system-calls.js";
import { watchResources } from "./watcher.js";

/** A bubblewrap that works here, or why it is missing and what to do about it. */
export type FoundBubblewrap = { readonly program: string } | { readonly problem: string; readonly fix: string };

/**
 * Looks for a bubblewrap (the system's, else the one in Codex's package) and tries it: whether it may make namespaces
 * depends on kernel and distribution.
 */
export function findBubblewrap(env: NodeJS.ProcessEnv): Promise<FoundBubblewrap> {
  const path = env["PATH"] ?? "";
  const known = tried.get(path) ?? look(env);
  tried.set(path, known);
  return known;
}

/** What was found, by the PATH: a run asks twice. */
const tried = new Map<string, Promise<FoundBubblewrap>>();

async function look(env: NodeJS.ProcessEnv): Promise<FoundBubblewrap> {
  if (process.platform !== "linux") return { problem: "bubblewrap needs Linux", fix: "Use Docker." };
  const path = env["PATH"] ?? "";
  const programs = [programIn(path, "bwrap"), codexsOwn(path)].filter((program) => program !== undefined);
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

/** A sandbox of Linux namespaces: `program` is bubblewrap's path. Visible is what is named, and nothing else. */
export function bubblewrap(program: string, { env, home, limits: own, passes = [] }: SandboxOptions): Sandbox {
  const limits = { ...defaultLimits, ...own };
  const covered = coveredDescriptors();
  return {
    name: "bubblewrap",
    toolRelay: toolRelay(process.execPath),
    outside: keptOutside(env, passes),
    async *exec(request): AsyncGenerator<string, ProcessEnd> {
      let inside: Inside;
      try {
        if (home !== undefined) prepareHome(home, request);
        inside = await openInside(request, process.execPath, passes);
      } catch (error) {
        return { cause: "not-started", startError: { message: messageOf(error) }, stderr: "" };
      }
      const group = processGroup(limits.processes);
      const tooMuch = new AbortController();
      let watcher: ReturnType<typeof watchResources> | undefined;
      const command = [
        ...(group?.join ?? []),
        program,
        ...view(inside, home, limits),
        ...["--chdir", request.cwd, "--"],
        ...limited(prlimitIn(env), limits),
        ...inside.command,
      ];
      try {
        const end = yield* runProcess({
          ...request,
          command: command[0] ?? program,
          args: command.slice(1),
          env: inside.env,
          descriptors: covered,
          signal: AbortSignal.any([request.signal, tooMuch.signal]),
          started: (pid) => {
            const folders = inside.reach.write.map((mount) => (typeof mount === "string" ? mount : mount.from));
            watcher = watchResources(pid, [...folders, ...(home === undefined ? [] : [home])], limits, (what) =>
              tooMuch.abort(what),
            );
            request.started?.(pid);
          },
        });
        const isTooMuch = end.cause === "aborted" && !request.signal.aborted && tooMuch.signal.aborted;
        return {
          ...end,
          ...(isTooMuch ? { cause: "resources" as const, resource: String(tooMuch.signal.reason) } : {}),
          notices: inside.notices(),
        };
      } finally {
        watcher?.stop();
        group?.remove();
        await inside.close();
      }
    },
    close: () => Promise.resolve(),
  };
}

/** Bubblewrap's own arguments: what the program sees, in the order in which it is laid over each other. */
function view(inside: Inside, home: string | undefined, { temporary }: Limits): string[] {
  const sized = ["--size", String(temporary)];
  return [
    ...["--die-with-parent", "--new-session", "--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts"],
    ...["--unshare-net", "--unshare-cgroup-try", "--disable-userns", "--cap-drop", "ALL"],
    ...(filter === undefined ? [] : ["--seccomp", String(filterAt)]),
    ...["--uid", "1000", "--gid", "1000", "--hostname", "sandbox"],
    ...systemFolders(),
    ...["--dev", "/dev", ...sized, "--tmpfs", "/dev/shm", "--remount-ro", "/dev", "--proc", "/proc", ...coveredProc()],
    ...["--perms", "1777", ...sized, "--tmpfs", "/tmp", "--dir", "/var", "--symlink", "../tmp", "/var/tmp"],
    ...(home === undefined ? [...sized, "--tmpfs", "/home", "--dir", sandboxHome] : ["--bind", home, "/home"]),
    // Node may be the user's own, below /home or /tmp, which are new inside; the relay needs it.
    ...(process.execPath.startsWith("/usr/") ? [] : ["--ro-bind", process.execPath, process.execPath]),
    ...mountsOf(inside).flatMap(({ from, at, isWritable }) => [isWritable ? "--bind" : "--ro-bind", from, at]),
    ...["--remount-ro", "/"],
  ];
}

/** Where bubblewrap finds the filter of system calls. */
const filterAt = 3;
const filter = systemCallFilter();

/**
 * What stands at the descriptors of a program besides its three: the filter, which bubblewrap takes away, and nothing
 * where we ourselves were started with one that children inherit. Of an open folder all that lies below it could be
 * read.
 */
function coveredDescriptors(): ReadonlyMap<number, Uint8Array | "nothing"> {
  const covered = new Map<number, Uint8Array | "nothing">();
  for (const name of readdirSync("/proc/self/fd")) {
    const flags = textOf(`/proc/self/fdinfo/${name}`).match(/^flags:\s*([0-7]+)/m)?.[1];
    if (Number(name) > 2 && flags !== undefined && (parseInt(flags, 8) & closedInChildren) === 0)
      covered.set(Number(name), "nothing");
  }
  if (filter !== undefined) covered.set(filterAt, filter);
  return covered;
}

/** O_CLOEXEC */
const closedInChildren = 0o2000000;

function textOf(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

/** The program that sets limits, by its own path: an agent may have left another of its name in the user's PATH. */
const prlimitIn = ({ PATH = "" }: NodeJS.ProcessEnv): string | undefined =>
  ["/usr/bin/prlimit", programIn(PATH, "prlimit")].find((path) => path !== undefined && isExecutable(path));

/** Programs, libraries and certificates. */
const shown = [
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
  // Java of Debian keeps the settings that it can't start without there.
  ...namesIn("/etc", /^java(?:-\d|$)/),
];
const linked = ["/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"];

let system: string[] | undefined;

function systemFolders(): string[] {
  return (system ??= [
    ...shown.filter((path) => existsSync(path)).flatMap((path) => ["--ro-bind", realpathSync(path), path]),
    ...linked
      .filter((path) => existsSync(path))
      .flatMap((path) =>
        lstatSync(path).isSymbolicLink() ? ["--symlink", readlinkSync(path), path] : ["--ro-bind", path, path],
      ),
  ]);
}

/**
 * What of /proc belongs to the whole machine, and has to be read-only: files there that belong to root need no
 * capability to be written where root started the sandbox (kernel.core_pattern names a program that the kernel runs
 * outside), some are open to everyone, and bubblewrap does not cover all of them.
 */
const machineWide: readonly string[] = [
  ...["sys", "fs", "irq", "bus", "acpi", "scsi", "driver", "asound", "mtrr", "pressure", "sysrq-trigger"],
].map((name) => `/proc/${name}`);

const coveredProc = (): string[] =>
  machineWide.filter((path) => existsSync(path)).flatMap((path) => ["--ro-bind", path, path]);

/** Codex brings a bubblewrap along: …/@openai/codex-linux-x64/vendor/<target>/codex-resources/bwrap. */
function codexsOwn(path: string): string | undefined {
  const codex = programIn(path, "codex");
  if (codex === undefined) return undefined;
  const scope = dirname(dirname(dirname(realpathSync(codex))));
  return [scope, join(scope, "codex", "node_modules", "@openai")]
    .flatMap((folder) => namesIn(folder, /^codex-linux-/))
    .flatMap((folder) => namesIn(join(folder, "vendor"), /./))
    .map((folder) => join(folder, "codex-resources", "bwrap"))
    .find(isExecutable);
}

function namesIn(folder: string, pattern: RegExp): string[] {
  try {
    return readdirSync(folder)
      .filter((name) => pattern.test(name))
      .map((name) => join(folder, name));
  } catch {
    return [];
  }
}

/** Why this bubblewrap can't start a program as we need it; undefined where it can. */
async function problemOf(program: string, env: NodeJS.ProcessEnv): Promise<string | undefined> {
  const nothing: Inside = {
    reach: { read: [], write: [], hosts: [], keys: [], variables: [] },
    command: [],
    env: {},
    mounts: [],
    notices: () => [],
    close: () => Promise.resolve(),
  };
  const args = [...view(nothing, undefined, defaultLimits), "--", ...limited(prlimitIn(env), defaultLimits), "true"];
  const tried = runProcess({
    command: program,
    args,
    cwd: "/",
    env: { PATH: "/usr/bin:/bin" },
    stdin: "",
    timeoutMs: 10_000,
    idleMs: 0,
    finished: () => false,
    signal: new AbortController().signal,
    descriptors: coveredDescriptors(),
  });
  for (;;) {
    const step = await tried.next();
    if (step.done !== true) continue;
    const { exitCode, cause, stderr, startError } = step.value;
    if (exitCode === 0) return undefined;
    const said = stderr.trim().split("\n").at(-1) ?? "";
    return (said || startError?.message || `it did not end well: ${cause}`).slice(0, 200);
  }
}

/** What to do about a bubblewrap that can't start a program. `settings`: where the kernel shows its own. */
export function fixFor(problem: string, settings = "/proc/sys"): string {
  const setting = (name: string): string | undefined => {
    try {
      return readFileSync(join(settings, name), "utf8").trim();
    } catch {
      return undefined;
    }
  };
  if (/unknown option|disable-userns/i.test(problem)) return "Install bubblewrap 0.8 or newer.";
  if (setting("kernel/apparmor_restrict_unprivileged_userns") === "1")
    return "AppArmor forbids user namespaces to programs without a profile: allow them to bwrap with a profile in /etc/apparmor.d (its content: `abi <abi/4.0>, profile bwrap /usr/bin/bwrap flags=(unconfined) { userns, }`), or for all programs with `sysctl kernel.apparmor_restrict_unprivileged_userns=0`.";
  if (setting("kernel/unprivileged_userns_clone") === "0")
    return "Allow user namespaces with `sysctl kernel.unprivileged_userns_clone=1`.";
  if (setting("user/max_user_namespaces") === "0")
    return "Allow user namespaces with `sysctl user.max_user_namespaces=10000`.";
  return "Within a container, allow user namespaces (Docker: --security-opt seccomp=unconfined --security-opt systempaths=unconfined), or use Docker.";
}
