import { stat } from "node:fs/promises";
import { resolve } from "node:path";
import { redactFor } from "../../../engine/lib/redact.js";
import { takes, toolFailure, type ToolResult } from "../../../engine/tools/tool.js";
import { whyBlocked } from "./blocked-commands.js";
import type { AssistantTool } from "../context.js";
import { fileFailure, locateFile } from "../files/paths.js";
import { onFile } from "../files/read.js";
import { truncate } from "../files/truncate.js";

interface ShellArguments {
  readonly command: string;
  readonly working_directory?: string;
  readonly timeout_seconds?: number;
  readonly capture_stderr?: boolean;
}

const maxCommand = 8192;
const maxSeconds = 300;
const usualSeconds = 60;
/** Characters of stdout that are kept of its beginning and of its end. */
const keptOfOutput = 512 * 1024;

/** Takes in lines without bound and keeps the first and the last of them. */
function keeper() {
  let head = "";
  let tail = "";
  let left = 0;
  return {
    add(line: string): void {
      if (left === 0 && head.length + line.length < keptOfOutput) head += `${line}\n`;
      else {
        tail += `${line}\n`;
        if (tail.length <= 2 * keptOfOutput) return;
        left += tail.length - keptOfOutput;
        tail = tail.slice(-keptOfOutput);
      }
    },
    text: () => (left === 0 ? head + tail : `${head}[… ${left} characters left out …]\n${tail}`),
  };
}

export const shellExecute: AssistantTool<ShellArguments> = {
  name: "shell_execute",
  description: `Run a shell command in the folder; at most ${maxSeconds} seconds (${usualSeconds} unless you say).`,
  does: ["runs"],
  parameters: takes(
    {
      command: { type: "string", minLength: 1 },
      working_directory: { type: "string" },
      timeout_seconds: { type: "integer", minimum: 1, maximum: maxSeconds },
      capture_stderr: { type: "boolean" },
    },
    ["command"],
  ),
  refuses({ command, working_directory: named = "." }, { root, env }) {
    if (command.length > maxCommand)
      return toolFailure("SHELL_ERROR_TOO_LONG", `The command has more than ${maxCommand} characters.`);
    if (command.includes("\0")) return toolFailure("SHELL_ERROR_BLOCKED", "The command holds a NUL.");
    const why = whyBlocked(command, { cwd: resolve(root, named), env });
    return why === undefined
      ? undefined
      : toolFailure("SHELL_ERROR_BLOCKED", `The command is not run: ${why}. Do it by hand if it is meant.`);
  },
  preview: async ({ command, working_directory: folder }) =>
    `$ ${command}${folder === undefined ? "" : `   (in ${folder})`}`,
  kindOf: ({ command }) => command,
  run: async (given, { root, room, exec, env }, signal) => {
    const { command, working_directory: named = ".", timeout_seconds: seconds = usualSeconds } = given;
    return await onFile(named, async (): Promise<ToolResult> => {
      const folder = await locateFile(root, named);
      if ("code" in folder) return folder;
      if (!folder.exists || !(await stat(folder.path)).isDirectory())
        return fileFailure("NOT_FOUND", `There is no folder ${named}.`);
      const isWindows = process.platform === "win32";
      const out = keeper();
      const running = exec({
        command: isWindows ? "cmd.exe" : "/bin/sh",
        args: isWindows ? ["/d", "/s", "/c", command] : ["-c", command],
        cwd: folder.path,
        env,
        stdin: "",
        timeoutMs: seconds * 1000,
        idleMs: 0,
        finished: () => false,
        signal,
      });
      let step = await running.next();
      for (; step.done !== true; step = await running.next()) out.add(step.value);
      const end = step.value;
      const clean = (text: string) => truncate(redactFor(env)(text), Math.floor(room / 2)).text;
      const said = {
        stdout: clean(out.text()),
        ...(given.capture_stderr === false ? {} : { stderr: clean(end.stderr) }),
        exit_code: end.exitCode,
      };
      if (end.cause === "timeout")
        return { ...toolFailure("SHELL_ERROR_TIMEOUT", `The command was ended after ${seconds} seconds.`), ...said };
      if (end.cause === "not-started")
        return toolFailure("SHELL_ERROR_NOT_STARTED", `No shell could be started (${end.startError?.message ?? ""}).`);
      if (end.exitCode === 0) return { success: true, code: "SHELL_SUCCESS", ...said };
      const how =
        end.exitCode === undefined ? `was ended by ${end.signal ?? "a signal"}` : `exited with ${end.exitCode}`;
      return { ...toolFailure("SHELL_ERROR_FAILED", `The command ${how}.`), ...said };
    });
  },
};
