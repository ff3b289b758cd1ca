import type { CodeLinks } from "../sources/clients/code-links.js";
import type { Answer } from "../sources/client/source.js";
import type { Identifiers, PaperRecord, TitledPaper } from "../papers/paper-record.js";
import { given } from "../../engine/lib/given.js";

/** What is known about a paper besides its text. */
export interface AboutPaper {
  readonly code: CodeLinks["links"];
  /** The highest of the counts that services gave. */
  readonly citations?: { readonly count: number; readonly source: string };
  /** Who could not be asked; there may be more. */
  readonly unchecked: readonly string[];
}

interface AboutOptions {
  readonly code: (work: TitledPaper) => Promise<CodeLinks>;
  /** Lookups of services that count citations. */
  readonly counts: readonly {
    readonly name: string;
    find(works: readonly Identifiers[]): Promise<Answer<readonly PaperRecord[]>>;
  }[];
  /** Resolves when no more is waited for. */
  readonly late: Promise<void>;
}

/** The code of a paper and how often it was cited, as far as it is known in time. */
export async function aboutPaper(work: TitledPaper, { code, counts, late }: AboutOptions): Promise<AboutPaper> {
  const inTime = async <Value>(asked: Promise<Value>): Promise<Value | undefined> =>
    await Promise.race([asked, late.then(() => undefined)]);
  const hasNames = Object.values(work.identifiers ?? {}).some((name) => name !== undefined);
  const [links, ...answers] = await Promise.all([
    inTime(code(work)),
    ...(hasNames ? counts : []).map(async ({ name, find }) => ({
      name,
      answer: await inTime(find([work.identifiers ?? {}])),
    })),
  ]);
  const counted = answers.flatMap(({ answer }) =>
    answer?.status === "ok" ? answer.value.flatMap(({ citations }) => citations ?? []) : [],
  );
  const citations = counted.toSorted((a, b) => b.count - a.count)[0];
  const silent = answers.filter(
    ({ answer }) => answer === undefined || (answer.status !== "ok" && answer.status !== "empty"),
  );
  return {
    code: links?.links ?? [],
    ...given({ citations }),
    unchecked: [...(links?.unchecked.map(({ source }) => source) ?? ["code"]), ...silent.map(({ name }) => name)],
  };
}
