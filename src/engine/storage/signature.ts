import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { mkdir } from "node:fs/promises";
import { keyFile } from "../lib/layout.js";
import { writeFileAtomic } from "./atomic-file.js";
import { withExplainedErrors } from "./explain-system-error.js";
import { readRegularFile } from "./regular-file.js";

/**
 * Signatures (HMAC-SHA-256) that tell what a person's command wrote from what an agent wrote. The key is in the folder
 * of the program's state (`stateDir`); it is created on first use and only its user can read it. An agent that runs as
 * that user and reads the key can also sign.
 */
const keyBytes = 32;

async function keyIn(stateDir: string): Promise<Buffer | undefined> {
  const key = await readRegularFile(keyFile(stateDir)).catch(() => undefined);
  return key?.length === keyBytes ? key : undefined;
}

async function makeKey(stateDir: string): Promise<Buffer> {
  const key = randomBytes(keyBytes);
  const path = keyFile(stateDir);
  await withExplainedErrors(path, async () => {
    await mkdir(stateDir, { recursive: true });
    await writeFileAtomic(path, key, { mode: 0o600 });
  });
  return key;
}

const signatureBy = (key: Buffer, value: unknown): string =>
  createHmac("sha256", key).update(JSON.stringify(value)).digest("hex");

/**
 * Signs a JSON value.
 * @throws ExpectedError if the key can't be made.
 */
export const signatureOf = async (stateDir: string, value: unknown): Promise<string> =>
  signatureBy((await keyIn(stateDir)) ?? (await makeKey(stateDir)), value);

/** Whether `signature` is the valid signature of a JSON value. */
export async function isSigned(stateDir: string, value: unknown, signature: unknown): Promise<boolean> {
  const key = await keyIn(stateDir);
  if (key === undefined) return false;
  const [expected, actual] = [Buffer.from(signatureBy(key, value)), Buffer.from(String(signature))];
  return actual.length === expected.length && timingSafeEqual(actual, expected);
}
