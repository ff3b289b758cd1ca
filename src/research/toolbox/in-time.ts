import type { Answer } from "../sources/client/source.js";

/** Codex gives a tool a minute. In milliseconds. */
const patience = 45_000;

/** An answer, or that there is none yet after 45 s, or that nobody waits for it any more. */
export async function inTime<Value>(answer: Promise<Answer<Value>>, who: string, signal: AbortSignal): Promise<Answer<Value>> {
  if (signal.aborted) return { status: "error", reason: "The call was cancelled." };
  let end: () => void = () => undefined;
  const given = new Promise<Answer<Value>>((resolve) => {
    const cancelled = () => resolve({ status: "error", reason: "The call was cancelled." });
    const late = setTimeout(
      () => resolve({ status: "rate_limited", reason: `${who} has not answered in ${patience / 1000} s.`, transient: true }),
      patience,
    );
    signal.addEventListener("abort", cancelled, { once: true });
    end = () => {
      clearTimeout(late);
      signal.removeEventListener("abort", cancelled);
    };
  });
  try {
    return await Promise.race([answer, given]);
  } finally {
    end();
  }
}
