#!/usr/bin/env node
// Misbehaves as a process, in the way its argument says.
import { spawn } from "node:child_process";
import { closeSync, mkdirSync, openSync } from "node:fs";
import { goodResult, leave, mode } from "./brief.mjs";

const forever = () => setInterval(() => {}, 1000);
const sleeper = (options) => spawn("sleep", ["600"], { detached: true, ...options }).unref();

/** Runs a shell script that can run itself again as `again <n>`, in a session of its own. */
const shell = (script, n) => {
  const env = { ...process.env, AGAIN: `again() { setsid sh -c "$AGAIN" again "$1" & }; ${script}` };
  spawn("sh", ["-c", env.AGAIN, "again", String(n)], { stdio: "ignore", env }).unref();
};

const misbehaviours = {
  silent: forever,
  "deaf-to-TERM": () => {
    for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"]) process.on(signal, () => {});
    forever();
  },
  "holds-stdout": () => sleeper({ stdio: ["ignore", "inherit", "inherit"] }),
  detaches: () => sleeper({ stdio: "ignore" }),
  "daemonises-twice": () => spawn("sh", ["-c", "(setsid sleep 600 &) >/dev/null 2>&1"], { stdio: "ignore" }).unref(),
  "a-family": () => {
    for (let child = 0; child < 50; child++) sleeper({ stdio: "ignore" });
  },
  "fork-bomb": () =>
    shell('if [ "$1" -gt 0 ]; then for each in 1 2; do sleep 0.1; again $(($1 - 1)); done; fi; sleep 600', 6),
  "passes-on": () => shell('if [ "$1" -gt 0 ]; then again $(($1 - 1)); fi', 400),
  killed: () => process.kill(process.pid, "SIGKILL"),
  "100000-files": () => {
    for (let folder = 0; folder < 100; folder++) {
      mkdirSync(`files/${folder}`, { recursive: true });
      for (let file = 0; file < 1000; file++) closeSync(openSync(`files/${folder}/${file}`, "w"));
    }
  },
};

leave(goodResult());
misbehaviours[mode]();
console.log("Done.");
