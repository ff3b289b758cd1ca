import type { AgentSettings } from "../engine/agents/definition.js";
import { needsSandbox } from "../engine/agents/registry.js";
import type { ResolvedConfig } from "./config.js";
import { ExpectedError } from "../engine/lib/errors.js";
import { withoutUndefined } from "../engine/lib/without-undefined.js";
import { namesIn } from "../engine/sandbox/environment.js";
import type { Sandbox, SandboxChoice, SandboxOptions } from "../engine/sandbox/sandbox.js";
import { pathOutside, agentFolders } from "../engine/process/search-path.js";
import { homeOf, type Io } from "../engine/ui/io.js";

/** The sandbox for the agents of a run (absent: the host), and what the user should know about it. */
export interface RunSandbox {
  readonly sandbox?: Sandbox;
  readonly notice?: { readonly level: "info" | "warning"; readonly message: string };
}

/** What a workflow needs of its sandbox. */
export interface SandboxNeeds extends Omit<SandboxOptions, "env"> {
  /**
   * The choice if the user made none; absent: a sandbox only for agents that are not confined otherwise and that the
   * user did not allow to run unconfined.
   */
  readonly defaultChoice?: SandboxChoice;
  /** The folder that its agents work in, if it is not the folder that the command was started in. */
  readonly folder?: string;
}

/** The settings of agents that run in this sandbox, or on the host. */
export const inSandbox = <Settings extends AgentSettings>(settings: Settings, { sandbox }: RunSandbox): Settings =>
  sandbox === undefined ? settings : { ...settings, exec: sandbox.exec, sandbox };

/**
 * Opens the sandbox of a run. `names`: all agents that may be started. @throws ExpectedError if the requested sandbox
 * can't be opened, or if nothing would confine an agent.
 */
export async function sandboxFor(
  config: Pick<ResolvedConfig, "sandbox" | "sandbox_image" | "sandbox_env" | "unconfined">,
  io: Io,
  settings: AgentSettings,
  names: readonly string[],
  { defaultChoice, folder, ...options }: SandboxNeeds = {},
): Promise<RunSandbox> {
  const isRequested = config.sandbox === "bubblewrap" || config.sandbox === "docker";
  if (settings.classic) {
    if (!isRequested) return {};
    throw new ExpectedError(
      `In classic mode the agent works on your own tree, outside of any sandbox; leave out --sandbox ${config.sandbox}.`,
      2,
    );
  }
  const unconfinedAgent = names.find((name) => needsSandbox(name, settings));
  const choice =
    config.sandbox ?? defaultChoice ?? (unconfinedAgent !== undefined && !config.unconfined ? "auto" : "host");
  if (choice === "host") return {};
  // Loaded only if needed: most runs have no sandbox.
  const { openSandbox } = await import("../engine/sandbox/open-sandbox.js");
  // A program in a folder that agents write to must not be used as the sandbox.
  const workFolders = agentFolders([io.cwd, ...(folder === undefined ? [] : [folder])], homeOf(io.env));
  const { sandbox, explanation } = await openSandbox(choice, {
    env: { ...io.env, PATH: pathOutside(workFolders, io.env["PATH"]) },
    ...options,
    allowedVariables: namesIn(config.sandbox_env),
    ...withoutUndefined({ image: config.sandbox_image }),
  });
  if (sandbox !== undefined) {
    const { hiddenVariables } = sandbox;
    const hidden = hiddenVariables.length <= 3 ? hiddenVariables.join(", ") : hiddenVariables.length;
    const hiddenText =
      hiddenVariables.length === 0
        ? ""
        : ` Environment variables that are not passed into it: ${hidden}; --env NAME passes one.`;
    return { sandbox, notice: { level: "info", message: `${explanation}${hiddenText}` } };
  }
  if (unconfinedAgent === undefined || config.unconfined) return { notice: { level: "warning", message: explanation } };
  throw new ExpectedError(
    `Nothing confines the agent ${unconfinedAgent}: it can read, change and send whatever you can. ${explanation} Or add --unconfined if that is what you want.`,
    2,
  );
}
