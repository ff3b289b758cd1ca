import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  lstatSync,
  realpathSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { findDocker } from "../../../src/engine/sandbox/docker.js";

/** A Docker engine for tests, with an image of local files. */
export interface Engine {
  /** As DOCKER_HOST has it. */
  readonly host: string;
  readonly image: string;
  stop(): Promise<void>;
}

/** Takes the engine that runs here, else starts one of its own as root; `problem`: why there is none. */
export async function dockerEngine(): Promise<Engine | { readonly problem: string }> {
  const usual = process.env["DOCKER_HOST"] ?? "unix:///var/run/docker.sock";
  if ("client" in (await findDocker({ ...process.env, DOCKER_HOST: usual })))
    return await withImage(usual, () => Promise.resolve());
  if (process.getuid?.() !== 0) return { problem: "Docker does not run, and only root can start it" };
  if (["dockerd", "containerd", "docker"].some((name) => whereIs(name) === undefined))
    return { problem: "there is no dockerd" };
  const folder = mkdtempSync("/tmp/rr-dockerd-");
  const host = `unix://${join(folder, "docker.sock")}`;
  // No network is made, and nothing of the machine's own is changed.
  const daemon = spawn(
    "dockerd",
    [
      ...["--storage-driver=overlay2", "--iptables=false", "--bridge=none", "--data-root", join(folder, "data")],
      ...["--exec-root", join(folder, "exec"), "--pidfile", join(folder, "pid"), "-H", host],
    ],
    { stdio: "ignore", detached: true },
  );
  const stop = async () => {
    await ended(daemon);
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  };
  for (let tries = 0; tries < 150 && daemon.exitCode === null; tries++) {
    if (
      existsSync(join(folder, "docker.sock")) &&
      "client" in (await findDocker({ ...process.env, DOCKER_HOST: host }))
    )
      return await withImage(host, stop);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  await stop();
  return { problem: "dockerd does not start here" };
}

async function ended(daemon: ChildProcess): Promise<void> {
  if (daemon.exitCode !== null) return;
  const exit = new Promise((resolve) => daemon.once("exit", resolve));
  daemon.kill("SIGTERM");
  const late = setTimeout(() => daemon.kill("SIGKILL"), 20_000);
  await exit;
  clearTimeout(late);
}

const programs =
  "sh env id ls cat head printenv sleep mkdir rm touch grep tr cut find ps dd true false node perl dash bash".split(
    " ",
  );

const partsOfC = ["librt.so.1", "libpthread.so.0", "libdl.so.2", "libm.so.6", "libresolv.so.2", "libnss_files.so.2"];

/** Imports an image of the programs that tests need, with the libraries that these need. */
async function withImage(host: string, stop: () => Promise<void>): Promise<Engine> {
  const image = "rr-tests:local";
  const root = mkdtempSync("/tmp/rr-image-");
  try {
    for (const folder of ["usr/bin", "usr/lib", "usr/lib64", "tmp", "run", "home", "etc", "proc", "dev", "sys"])
      mkdirSync(join(root, folder), { recursive: true });
    for (const name of ["bin", "lib", "lib64"]) {
      if (lstatSync(`/${name}`, { throwIfNoEntry: false })?.isSymbolicLink() === true)
        symlinkSync(readlinkSync(`/${name}`), join(root, name));
      else symlinkSync(`usr/${name}`, join(root, name));
    }
    const copies = new Set<string>();
    for (const name of programs) {
      const path = whereIs(name);
      if (path === undefined) continue;
      cpSync(realpathSync(path), join(root, "usr/bin", name));
      for (const library of librariesOf(path)) copies.add(library);
    }
    // Parts of the C library that the agents' own programs are linked with.
    for (const library of copies)
      if (library.endsWith("/libc.so.6")) for (const name of partsOfC) copies.add(join(dirname(library), name));
    for (const library of [...copies].filter((path) => existsSync(path))) {
      const target = join(root, library.startsWith("/usr") ? library : `/usr${library}`);
      mkdirSync(dirname(target), { recursive: true });
      cpSync(realpathSync(library), target);
    }
    const [docker, tar] = ["docker", "tar"].map((name) => whereIs(name) ?? name) as [string, string];
    execFileSync("sh", ["-c", `"${tar}" -C "${root}" -c . | "${docker}" -H "${host}" import - ${image}`], {
      stdio: "ignore",
    });
    return { host, image, stop };
  } catch (error) {
    await stop();
    throw error;
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

function librariesOf(path: string): string[] {
  try {
    const said = execFileSync("ldd", [path], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
    return [...said.matchAll(/(\/\S+)(?= \(0x)/g)].map(([, library = ""]) => library);
  } catch {
    return [];
  }
}

function whereIs(name: string): string | undefined {
  return ["/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin", dirname(process.execPath)]
    .map((folder) => join(folder, name))
    .find((path) => existsSync(path));
}
