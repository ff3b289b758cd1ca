import type { AgentSettings } from "../engine/agents/definition.js";
import { needsSandbox } from "../engine/agents/registry.js";
import type { ResolvedConfig } from "./config.js";
import { ExpectedError } from "../engine/lib/errors.js";
import { withoutUndefined } from "../engine/lib/without-undefined.js";
import { namesIn } from "../engine/sandbox/environment.js";
import type { Sandbox, SandboxChoice, SandboxOptions } from "../engine/sandbox/sandbox.js";
import { pathOutside, agentFolders } from "../engine/process/search-path.js";
import { homeOf, type Io } from "../engine/ui/io.js";

/** Where the agents of a run are to run, and what a person should know of it. */
export interface Housing {
  readonly sandbox?: Sandbox;
  readonly notice?: { readonly level: "info" | "warning"; readonly message: string };
}

/** What a workflow asks of its sandbox. */
export interface SandboxWish extends Omit<SandboxOptions, "env"> {
  /**
   * What is taken where nobody chose; absent: a sandbox only for agents that nothing else confines and that nobody
   * allowed to run unconfined.
   */
  readonly usual?: SandboxChoice;
  /** The folder that its agents work in, where it is another than the one that the command was started in. */
  readonly folder?: string;
}

/** The settings of agents that run in it. */
export const housed = <Settings extends AgentSettings>(settings: Settings, { sandbox }: Housing): Settings =>
  sandbox === undefined ? settings : { ...settings, exec: sandbox.exec, sandbox };

/**
 * Opens the sandbox of a run; `names`: of every agent that may be started. Throws an ExpectedError where the one that
 * was asked for can't be had, or an agent would be held by nothing.
 */
export async function sandboxFor(
  config: Pick<ResolvedConfig, "sandbox" | "sandbox_image" | "sandbox_env" | "unconfined">,
  io: Io,
  settings: AgentSettings,
  names: readonly string[],
  { usual, folder, ...options }: SandboxWish = {},
): Promise<Housing> {
  const isNamed = config.sandbox === "bubblewrap" || config.sandbox === "docker";
  if (settings.classic) {
    if (!isNamed) return {};
    throw new ExpectedError(
      `In classic mode the agent works on your own tree, outside of any sandbox; leave out --sandbox ${config.sandbox}.`,
      2,
    );
  }
  const loose = names.find((name) => needsSandbox(name, settings));
  const choice = config.sandbox ?? usual ?? (loose !== undefined && !config.unconfined ? "auto" : "host");
  if (choice === "host") return {};
  // Loaded when it is needed: most runs have none.
  const { openSandbox } = await import("../engine/sandbox/open-sandbox.js");
  // What an agent has left where it works is not a sandbox.
  const around = agentFolders([io.cwd, ...(folder === undefined ? [] : [folder])], homeOf(io.env));
  const { sandbox, why } = await openSandbox(choice, {
    env: { ...io.env, PATH: pathOutside(around, io.env["PATH"]) },
    ...options,
    allowedVariables: namesIn(config.sandbox_env),
    ...withoutUndefined({ image: config.sandbox_image }),
  });
  if (sandbox !== undefined) {
    const { hiddenVariables: outside } = sandbox;
    const told =
      outside.length === 0 ? "" : ` These environment variables are not passed into it: ${outside.join(", ")}.`;
    return { sandbox, notice: { level: "info", message: `${why}${told}` } };
  }
  if (loose === undefined || config.unconfined) return { notice: { level: "warning", message: why } };
  throw new ExpectedError(
    `Nothing confines the agent ${loose}: it can read, change and send whatever you can. ${why} Or add --unconfined if that is what you want.`,
    2,
  );
}
