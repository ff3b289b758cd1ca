import type { QueryLine } from "../engine/generated/query.js";
import { httpCache } from "./http-cache.js";
import type { HttpFailure } from "./http-failure.js";
import type { HttpDocument, Http } from "./http.js";
import { keyOf, keyOfLine } from "./request-log.js";
import { publicAddress } from "./credentials.js";
import { groupBy } from "../engine/lib/group.js";

/** Answers the requests of a replayed search from the log and the cache. */
interface Replay extends Http {
  /** One sentence for each request that could not be answered, in the order of the requests. */
  missingAnswers(): readonly string[];
}

/**
 * Answers every request with the answer or failure in the log, without a connection. If a request was made several
 * times, the answers are used in the order of the log, and the last one is repeated.
 */
export function replayHttp(lines: readonly QueryLine[], cacheDir: string): Replay {
  const cache = httpCache(cacheDir);
  const answers = new Map(groupBy(lines, keyOfLine));
  const missingAnswers: string[] = [];

  const reportMissing = (sentence: string): HttpFailure => {
    missingAnswers.push(sentence);
    return { status: "error", reason: sentence };
  };
  return {
    missingAnswers: () => missingAnswers,
    async get(request) {
      const [line, ...laterLines] = answers.get(keyOf(request)) ?? [];
      if (line === undefined) return reportMissing(`queries.jsonl holds no answer to ${publicAddress(request.url)}.`);
      if (laterLines.length > 0) answers.set(keyOf(request), laterLines);
      const body = line.sha256 === undefined ? undefined : await cache.body(line.sha256);
      if (line.sha256 !== undefined && body === undefined)
        return reportMissing(
          `The answer of ${line.at} to ${line.url} (sha256 ${line.sha256.slice(0, 12)}) is no longer in ${cacheDir}.`,
        );
      return answerOf(line, body);
    },
  };
}

function answerOf(
  { status, reason, code, transient, type, url, answer_url }: QueryLine,
  body: Uint8Array | undefined,
): HttpDocument | HttpFailure {
  if (status === "ok") return { status, bytes: body ?? new Uint8Array(), url: answer_url ?? url, type: type ?? "" };
  return { status, reason: reason ?? "The log does not say why.", transient, code, body };
}
