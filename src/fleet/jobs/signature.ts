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
 * Signatures (Ed25519) by which a worker tells the jobs of the coordinators that its user knows from what anyone else
 * with a password of Redis has written there. The private key stands in the user's own folder, readable for the user
 * alone; workers are told the public one by a person, never over Redis.
 */
export interface Signer {
  /** The public key, as people and workers write it. */
  readonly key: string;
  /** The signature of a text, as base64. */
  sign(text: string): string;
}

const scheme = "ed25519:";
const publicKey = /^ed25519:[\w-]{43}$/;

/**
 * The coordinator's own key, made when it is first asked for. `home`: the user's.
 * @throws ExpectedError where it can't be read or made.
 */
export async function ownSigner(home: string): Promise<Signer> {
  const path = fleetKeyFile(home);
  let pem = await readRegularText(path).catch(absent);
  if (pem === undefined) {
    await withExplainedErrors(path, async () => makeKey(path));
    pem = await readRegularText(path);
  }
  const key = privateKeyIn(pem, path);
  return { key: nameOf(createPublicKey(key)), sign: (text) => sign(null, Buffer.from(text), key).toString("base64") };
}

const absent = (error: unknown): undefined => {
  if (!hasCode(error, "ENOENT"))
    throw new ExpectedError(`The key of this user's fleet can't be read: ${messageOf(error)}.`);
};

/** Of two programs that make it at the same time both then use the one that stood there first. */
function makeKey(path: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const made = `${path}.${randomBytes(6).toString("hex")}`;
  writeFileSync(made, generateKeyPairSync("ed25519").privateKey.export({ format: "pem", type: "pkcs8" }), {
    mode: 0o600,
  });
  try {
    linkSync(made, path);
  } catch (error) {
    if (!hasCode(error, "EEXIST")) throw error;
  } finally {
    rmSync(made, { force: true });
  }
}

function privateKeyIn(pem: string, path: string): KeyObject {
  try {
    const key = createPrivateKey(pem);
    if (key.asymmetricKeyType === "ed25519") return key;
  } catch {
    // Said below.
  }
  throw new ExpectedError(
    `${path} does not hold an Ed25519 key; delete it, and a new one is made, which your workers then have to be told.`,
  );
}

const nameOf = (key: KeyObject): string => `${scheme}${String(key.export({ format: "jwk" }).x)}`;

/** Whether `signature` is that of a text by a public key. Never throws, whatever they are. */
export function isSignedBy(key: string, text: string, signature: string): boolean {
  if (!publicKey.test(key)) return false;
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

/** Whether a text is a public key, as people and workers write it. */
export const isPublicKey = (text: string): boolean => publicKey.test(text);

/**
 * The public keys in a text, with commas between them.
 * @throws ExpectedError (exit code 2) for anything else.
 */
export function keysIn(text: string): string[] {
  const keys = text.split(",").map((each) => each.trim());
  const wrong = keys.find((key) => !publicKey.test(key));
  if (wrong === undefined) return keys;
  throw new ExpectedError(
    `'${wrong.slice(0, 80)}' is not the key of a coordinator; \`research-ralph worker --key\`, run where the projects are, prints it: ed25519: and 43 characters.`,
    2,
  );
}
