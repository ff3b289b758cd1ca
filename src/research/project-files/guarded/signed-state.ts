import { createHash } from "node:crypto";
import { realpathSync } from "node:fs";
import { join } from "node:path";
import { writeFileAtomic } from "../../../engine/storage/atomic-file.js";
import { versionAt } from "../../../engine/storage/guard/file-snapshot.js";
import { readRegularText } from "../../../engine/storage/regular-file.js";
import { isSigned, signatureOf } from "../../../engine/storage/signature.js";
import { stateVersion } from "../../../engine/storage/state/format-version.js";
import { committedFiles, signedFile } from "../layout.js";

/**
 * Signs the present committed files after a run or a command of the user. A run of a neighbouring project with an
 * unconfined agent then does not restore them. Errors are ignored.
 */
export async function signState(folder: string, stateDir: string): Promise<void> {
  await signedPart(folder)
    .then(async (part) => JSON.stringify({ signature: await signatureOf(stateDir, part), format: stateVersion }))
    .then((text) => writeFileAtomic(signedFile(folder), text, { isDurable: false }))
    .catch(() => undefined);
}

/** Whether the committed files are unchanged since the last signature. */
export async function isSignedState(folder: string, stateDir: string): Promise<boolean> {
  try {
    const { signature } = JSON.parse(await readRegularText(signedFile(folder))) as { signature?: unknown };
    return await isSigned(stateDir, await signedPart(folder), signature);
  } catch {
    return false;
  }
}

async function signedPart(folder: string): Promise<unknown> {
  const hash = createHash("sha256");
  for (const name of committedFiles.names) {
    const version = await versionAt(join(folder, name));
    hash.update(`${version.kind}:`).update(version.kind === "file" ? version.bytes : "");
  }
  return [realpathSync(folder), hash.digest("hex")];
}
