import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  sign,
  verify,
} from "node:crypto";
import { linkSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { ExpectedError, hasCode, messageOf } from "../../engine/lib/errors.js";
import { fleetKeyFile } from "../../engine/lib/layout.js";
import { withExplainedErrors } from "../../engine/storage/explain-system-error.js";
import { readRegularText } from "../../engine/storage/regular-file.js";

/**
 * Signs jobs with Ed25519. Everybody with access to Redis can write jobs, so a worker accepts only jobs that are signed
 * with a key that its user has allowed. The private key is in a file that only the user can read. The user gives the
 * public key to each worker; it is never read from Redis.
 */
export interface Signer {
  /** The public key as text: `ed25519:` and 43 characters. */
  readonly key: string;
  /** Returns the signature of a text in base64. */
  sign(text: string): string;
}

const scheme = "ed25519:";
const publicKeyPattern = /^ed25519:[\w-]{43}$/;

/**
 * Reads the key of this user's coordinators, or creates it if it does not exist. `home`: the user's home folder.
 * @throws ExpectedError if the key can't be read or created.
 */
export async function openSigner(home: string): Promise<Signer> {
  const path = fleetKeyFile(home);
  let pem = await readRegularText(path).catch(undefinedIfMissing);
  if (pem === undefined) {
    await withExplainedErrors(path, async () => createKey(path));
    pem = await readRegularText(path);
  }
  const key = readPrivateKey(pem, path);
  return {
    key: publicKeyText(createPublicKey(key)),
    sign: (text) => sign(null, Buffer.from(text), key).toString("base64"),
  };
}

const undefinedIfMissing = (error: unknown): undefined => {
  if (!hasCode(error, "ENOENT"))
    throw new ExpectedError(`The key of this user's fleet can't be read: ${messageOf(error)}.`);
};

/** If two programs create the key at the same time, both use the file that was there first. */
function createKey(path: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const newPath = `${path}.${randomBytes(6).toString("hex")}`;
  writeFileSync(newPath, generateKeyPairSync("ed25519").privateKey.export({ format: "pem", type: "pkcs8" }), {
    mode: 0o600,
  });
  try {
    linkSync(newPath, path);
  } catch (error) {
    if (!hasCode(error, "EEXIST")) throw error;
  } finally {
    rmSync(newPath, { force: true });
  }
}

function readPrivateKey(pem: string, path: string): KeyObject {
  try {
    const key = createPrivateKey(pem);
    if (key.asymmetricKeyType === "ed25519") return key;
  } catch {
    // The error is thrown below.
  }
  throw new ExpectedError(
    `${path} does not contain an Ed25519 key; delete it. Then a new key is created, which you must give to your workers.`,
  );
}

const publicKeyText = (key: KeyObject): string => `${scheme}${String(key.export({ format: "jwk" }).x)}`;

/** Whether `signature` is a valid signature of a text for a public key. Never throws, even for invalid arguments. */
export function hasValidSignature(key: string, text: string, signature: string): boolean {
  if (!publicKeyPattern.test(key)) return false;
  try {
    const jwk = { kty: "OKP", crv: "Ed25519", x: key.slice(scheme.length) };
    return verify(
      null,
      Buffer.from(text),
      createPublicKey({ key: jwk, format: "jwk" }),
      Buffer.from(signature, "base64"),
    );
  } catch {
    return false;
  }
}

/** Whether a text is a public key: `ed25519:` and 43 characters. */
export const isPublicKey = (text: string): boolean => publicKeyPattern.test(text);

/**
 * Reads public keys that are separated by commas.
 * @throws ExpectedError (exit code 2) if one of them is not a public key.
 */
export function readPublicKeys(text: string): string[] {
  const keys = text.split(",").map((key) => key.trim());
  const invalidKey = keys.find((key) => !publicKeyPattern.test(key));
  if (invalidKey === undefined) return keys;
  throw new ExpectedError(
    `'${invalidKey.slice(0, 80)}' is not the key of a coordinator, which is ed25519: and 43 characters; to print it, run \`research-ralph worker --key\` on the machine with the projects.`,
    2,
  );
}
