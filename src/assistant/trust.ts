import { projectFiles, readConfigFile } from "../engine/config/config-file.js";
import type { ConfigKeys } from "../engine/config/keys.js";
import { keepTrust, partsIn } from "../engine/config/trust.js";
import { ExpectedError } from "../engine/lib/errors.js";
import type { Io } from "../engine/ui/io.js";

/** `ralph --trust`: what `research-ralph trust --yes` does for the settings of this folder. */
export async function trustFolder({ cwd, env }: Io, keys: ConfigKeys): Promise<string> {
  const file = await readConfigFile(keys, projectFiles(cwd));
  if (file === undefined) throw new ExpectedError(`There is no ralph.config.json or ralph.config.yaml in ${cwd}.`);
  await keepTrust(partsIn(keys.needsTrust, file.written, file.path), env);
  return `${file.path} is trusted as it stands now.`;
}
