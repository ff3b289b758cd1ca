import type { AgentEvent } from "../loop/types.js";
import type { AgentContext, AgentDefinition, Answer, Reader } from "./definition.js";
import { quote, recogniseFailure } from "./failures.js";
import { type Json, object, objectIn, text } from "./shared/json-line.js";
import { createAnswerCounter, eventsOf } from "./shared/messages.js";
import { askVersion, checkProgram, configuredAccess, programOf } from "./program.js";
import { keyHost, keyPlaceholder } from "../process/access.js";
import { serverName, commandWithoutSecrets } from "./shared/tool-server.js";
import { withoutUndefined } from "../lib/without-undefined.js";

const fix = "Set AMP_API_KEY to an access token from https://ampcode.com/settings.";

/** Amp: https://ampcode.com/manual. It has no flags that confine it, and it chooses its model itself. */
export const amp: AgentDefinition = {
  name: "amp",
  program: "amp",
  settingVariables: /^AMP_/,
  confinement: "unconfined",
  takesTools: true,
  keyVariables: ["AMP_API_KEY"],
  invoke({ access: { tools } }, context) {
    // Without a key, Amp waits for a login, even with -x.
    if (!hasKey(context)) return { kind: "auth", message: `amp needs a key. ${fix}` };
    const env = { ...context.settings.env, ...context.options.env };
    const servers =
      tools === undefined ? [] : ["--mcp-config", JSON.stringify({ [serverName]: commandWithoutSecrets(tools, env) })];
    const args = ["-x", "--stream-json", "--dangerously-allow-all", ...servers, ...(context.options.args ?? [])];
    return { command: programOf(context, "amp"), args };
  },
  processAccess: ({ options, settings }) => ({
    ...configuredAccess(options),
    keys: [
      {
        name: "amp",
        baseAddress: (options.env?.["AMP_URL"] ?? settings.env["AMP_URL"]) || "https://ampcode.com",
        headers: { authorization: `Bearer ${(options.env?.["AMP_API_KEY"] ?? settings.env["AMP_API_KEY"]) || ""}` },
      },
    ],
    // Amp uses only the host of this address.
    env: { AMP_URL: keyHost("amp"), AMP_API_KEY: keyPlaceholder },
  }),
  reader: readAmp,
  version: (context, signal) => askVersion(context, programOf(context, "amp"), signal),
  check: (context) =>
    checkProgram(amp, context, {
      install: "Install it with `npm install -g @ampcode/cli`.",
      withoutLogin: "there is no key",
      fix,
      findLogin: async () => (hasKey(context) ? "a key in AMP_API_KEY" : undefined),
    }),
};

const hasKey = ({ settings, options }: AgentContext): boolean =>
  ((options.env?.["AMP_API_KEY"] ?? settings.env["AMP_API_KEY"]) || "") !== "";

/** Reads `amp -x --stream-json`. The `user` events repeat the brief. Amp ends with exit code 0 even after an error. */
export function readAmp(): Reader {
  const usageCounter = createAnswerCounter();
  let result: Json | undefined;

  function assistantEvents(message: Json): AgentEvent[] {
    usageCounter.add(message);
    return [
      ...eventsOf(message),
      { type: "usage", usage: usageCounter.total(), ...withoutUndefined({ model: text(message["model"]) }) },
    ];
  }

  return {
    line(line) {
      const event = objectIn(line);
      if (event?.["type"] === "assistant") return assistantEvents(object(event["message"]) ?? {});
      if (event?.["type"] === "result") result = event;
      return [];
    },
    isFinished: () => result !== undefined,
    answer(): Answer {
      if (result === undefined) return {};
      const resultText = text(result["result"]) ?? "";
      if (result["is_error"] !== true && result["subtype"] === "success") {
        return resultText === "User cancelled"
          ? { failure: { kind: "aborted", message: "amp was cancelled by a signal." } }
          : { message: resultText };
      }
      const error = text(result["error"]) ?? resultText;
      const knownFailure = recogniseFailure(error, "amp", Date.now());
      return { failure: knownFailure ?? { kind: "crashed", message: `amp ended with an error: ${quote(error)}.` } };
    },
  };
}
