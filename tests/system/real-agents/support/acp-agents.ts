import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { AgentOptions } from "../../../../src/engine/agents/definition.js";
import { installed } from "./install.js";

export type AcpName = "gemini" | "opencode";

const programOf = (name: AcpName): string => {
  const found = installed(name);
  if ("problem" in found) throw new Error(found.problem);
  return found.program;
};

/** What a configuration says so that the installed agent talks to the scripted server. */
export function acpOptions(
  name: AcpName,
  server: { readonly url: string; readonly port: number },
  folder: string,
): AgentOptions {
  const home = join(folder, "home");
  mkdirSync(home, { recursive: true });
  const { url, port } = server;
  const path = { PATH: `${dirname(programOf(name))}:${process.env["PATH"]}` };
  if (name === "gemini")
    return {
      model: "gemini-2.5-pro",
      env: { ...path, HOME: home, GOOGLE_GEMINI_BASE_URL: url, GEMINI_API_KEY: "dummy" },
    };
  const config = join(folder, "opencode.json");
  const models = { scripted: { name: "scripted" }, other: { name: "other" } };
  const options = { baseURL: `${url}/v1`, apiKey: "dummy" };
  const local = { npm: "@ai-sdk/openai-compatible", name: "Local", options, models };
  writeFileSync(config, JSON.stringify({ model: "local/scripted", provider: { local } }));
  return { env: { ...path, HOME: home, OPENCODE_CONFIG: config }, read: [config], hosts: [`127.0.0.1:${port}`] };
}
