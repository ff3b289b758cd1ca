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

/** What a person typed for a paper. @throws ExpectedError (exit code 2) where it names none. */
export async function typedReference(input: string, cwd: string): Promise<Reference> {
  const named = parseReference(input, cwd);
  if (named.kind === "unknown") throw new ExpectedError(named.reason, 2);
  // A link is followed where a person has typed it, and nowhere else.
  return named.kind === "file" ? { ...named, path: await realpath(named.path).catch(() => named.path) } : named;
}

/**
 * The record of the paper that a person typed; its text is kept in `folder`.
 * @throws ExpectedError where it can't be had: exit code 5 where a service refuses, else 1.
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
 * The same, where a paper that can't be had is a value.
 * @throws ExpectedError for what has nothing to do with the paper, such as a full disk.
 */
export async function lookUpTyped(
  reference: Reference,
  folder: string,
  config: ResolvedConfig,
  { env }: Io,
  signal: AbortSignal,
): Promise<DescribedReference> {
  // Anyone who types an address may mean a server of their own; what it redirects to they did not type.
  const typed = reference.kind === "url" ? [reference.url] : [];
  const http = httpFor(config, signal, { cacheDir: documentsFolder(folder), typed });
  const contextFor = contextsWith(config, env, http);
  return await describeReference(reference, { cacheDir: textsFolder(folder), signal, http, contextFor, copies: [] });
}
