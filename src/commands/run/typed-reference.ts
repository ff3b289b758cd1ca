import { realpath } from "node:fs/promises";
import { httpFor } from "../../research/sources/network.js";
import type { ResolvedConfig } from "../../compose/config.js";
import { ExpectedError } from "../../engine/lib/errors.js";
import type { Io } from "../../engine/ui/io.js";
import { documentsFolder, textsFolder } from "../../research/project-files/layout.js";
import { type DescribedReference, describeReference } from "../../research/full-text/describe-reference.js";
import type { PaperRecord } from "../../research/papers/paper-record.js";
import { parseReference, type Reference } from "../../research/papers/reference.js";
import { contextsWith } from "../../research/sources/source-settings.js";

/** A reference that the user typed. @throws ExpectedError (exit code 2) if it names no paper. */
export async function typedReference(input: string, cwd: string): Promise<Reference> {
  const reference = parseReference(input, cwd);
  if (reference.kind === "unknown") throw new ExpectedError(reference.reason, 2);
  // A symbolic link is followed only if the user typed it.
  return reference.kind === "file"
    ? { ...reference, path: await realpath(reference.path).catch(() => reference.path) }
    : reference;
}

/**
 * The record of the paper that the user typed. Its text is stored in `folder`.
 * @throws ExpectedError if it is not available: exit code 5 if a service refuses, otherwise 1.
 */
export async function describeTyped(
  reference: Reference,
  folder: string,
  config: ResolvedConfig,
  io: Io,
  signal: AbortSignal,
): Promise<PaperRecord> {
  const described = await lookUpTyped(reference, folder, config, io, signal);
  if (described.status === "ok") return described.paper;
  throw new ExpectedError(
    described.reason,
    described.status === "blocked" || described.status === "rate_limited" ? 5 : 1,
  );
}

/**
 * Like `describeTyped`, but returns the reason if the paper is not available.
 * @throws ExpectedError for other problems, such as a full disk.
 */
export async function lookUpTyped(
  reference: Reference,
  folder: string,
  config: ResolvedConfig,
  { env }: Io,
  signal: AbortSignal,
): Promise<DescribedReference> {
  // The user may type an address of their own server; redirects to such addresses are not followed.
  const typed = reference.kind === "url" ? [reference.url] : [];
  const http = httpFor(config, signal, { cacheDir: documentsFolder(folder), typedAddresses: typed });
  const contextFor = contextsWith(config, env, http);
  return await describeReference(reference, { cacheDir: textsFolder(folder), signal, http, contextFor, copies: [] });
}
