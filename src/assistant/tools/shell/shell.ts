import { stat } from "node:fs/promises";
import { resolve } from "node:path";
import { redactFor } from "../../../engine/lib/redact.js";
import { parametersOf, toolFailure, type ToolResult } from "../../../engine/tools/tool.js";
import { blockReason } from "./blocked-commands.js";
import type { AssistantTool } from "../context.js";
import { fileFailure, locateFile } from "../files/paths.js";
import { runOnFile } from "../files/read.js";
import { truncate } from "../files/truncate.js";

interface ShellArguments {
  readonly command: string;
  readonly working_directory?: string;
  readonly timeout_seconds?: number;
  readonly capture_stderr?: boolean;
}

const maxCommandChars = 8192;
const maxSeconds = 300;
const defaultSeconds = 60;
/** Maximum characters that are kept of the beginning of stdout, and also of its end. */
const maxEndChars = 512 * 1024;

/** Collects any number of lines and keeps the first and the last of them. */
function makeOutputBuffer() {
  let head = "";
  let tail = "";
  let omittedChars = 0;
  return {
    add(line: string): void {
      if (omittedChars === 0 && head.length + line.length < maxEndChars) head += `${line}\n`;
      else {
        tail += `${line}\n`;
        if (tail.length <= 2 * maxEndChars) return;
        omittedChars += tail.length - maxEndChars;
        tail = tail.slice(-maxEndChars);
      }
    },
    text: () => (omittedChars === 0 ? head + tail : `${head}[… ${omittedChars} characters left out …]\n${tail}`),
  };
}

export const shellExecute: AssistantTool<ShellArguments> = {
  name: "shell_execute",
  description: `Run a shell command in the folder; at most ${maxSeconds} seconds (${defaultSeconds} unless you say).`,
  effects: ["runs"],
  parameters: parametersOf(
    {
      command: { type: "string", minLength: 1 },
      working_directory: { type: "string" },
      timeout_seconds: { type: "integer", minimum: 1, maximum: maxSeconds },
      capture_stderr: { type: "boolean" },
    },
    ["command"],
  ),
  findRefusal({ command, working_directory: folderName = "." }, { root, env }) {
    if (command.length > maxCommandChars)
      return toolFailure("SHELL_ERROR_TOO_LONG", `The command has more than ${maxCommandChars} characters.`);
    if (command.includes("\0")) return toolFailure("SHELL_ERROR_BLOCKED", "The command contains a NUL.");
    const reason = blockReason(command, { cwd: resolve(root, folderName), env });
    return reason === undefined
      ? undefined
      : toolFailure("SHELL_ERROR_BLOCKED", `The command is not run: ${reason}. If it is intended, run it by hand.`);
  },
  preview: async ({ command, working_directory: folder }) =>
    `$ ${command}${folder === undefined ? "" : `   (in ${folder})`}`,
  kindOf: ({ command }) => command,
  run: async (givenArgs, { root, maxResultTokens, exec, env }, signal) => {
    const { command, working_directory: folderName = ".", timeout_seconds: seconds = defaultSeconds } = givenArgs;
    return await runOnFile(folderName, async (): Promise<ToolResult> => {
      const folder = await locateFile(root, folderName);
      if ("code" in folder) return folder;
      if (!folder.exists || !(await stat(folder.path)).isDirectory())
        return fileFailure("NOT_FOUND", `There is no folder ${folderName}.`);
      const isWindows = process.platform === "win32";
      const output = makeOutputBuffer();
      const lines = exec({
        command: isWindows ? "cmd.exe" : "/bin/sh",
        args: isWindows ? ["/d", "/s", "/c", command] : ["-c", command],
        cwd: folder.path,
        env,
        stdin: "",
        timeoutMs: seconds * 1000,
        idleMs: 0,
        isFinished: () => false,
        signal,
      });
      let step = await lines.next();
      for (; step.done !== true; step = await lines.next()) output.add(step.value);
      const end = step.value;
      const cleanOutput = (text: string) => truncate(redactFor(env)(text), Math.floor(maxResultTokens / 2)).text;
      const outputFields = {
        stdout: cleanOutput(output.text()),
        ...(givenArgs.capture_stderr === false ? {} : { stderr: cleanOutput(end.stderr) }),
        exit_code: end.exitCode,
      };
      if (end.cause === "timeout")
        return {
          ...toolFailure("SHELL_ERROR_TIMEOUT", `The command was ended after ${seconds} seconds.`),
          ...outputFields,
        };
      if (end.cause === "not-started")
        return toolFailure("SHELL_ERROR_NOT_STARTED", `No shell could be started (${end.startError?.message ?? ""}).`);
      if (end.exitCode === 0) return { success: true, code: "SHELL_SUCCESS", ...outputFields };
      const endText =
        end.exitCode === undefined ? `was ended by ${end.signal ?? "a signal"}` : `exited with ${end.exitCode}`;
      return { ...toolFailure("SHELL_ERROR_FAILED", `The command ${endText}.`), ...outputFields };
    });
  },
};
