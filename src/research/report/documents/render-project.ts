import { ExpectedError } from "../../../engine/lib/errors.js";
import { lockFile } from "../../../engine/lib/layout.js";
import { acquireLock } from "../../../engine/storage/lock.js";
import { writeOutputs } from "../../../engine/storage/state/output-files.js";
import { openResearch } from "../../project-files/research.js";
import { derive } from "../../workflow/derive.js";
import { documentsOf } from "./documents.js";
import { pageOf } from "./page-file.js";
import { type ReportModel, reportModel } from "../model.js";
import { hashOfInputs, readBeside, readReportInput, type ReadReport } from "../read-report.js";

export interface RenderOptions {
  readonly git: boolean;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly notify: (message: string) => void;
}

/** A project rendered again. */
interface Rendered {
  readonly model: ReportModel;
  /** Names of the files that were written. */
  readonly written: readonly string[];
}

/**
 * Renders every document of a project again from its state, under its lock, and commits them: no model and no network.
 * Where rrd.json is broken, from the last good version.
 * @throws ExpectedError when another process holds the project, or rrd.json is invalid and there is no good version.
 */
export async function renderProject(folder: string, { git, now, notify }: RenderOptions): Promise<Rendered> {
  // A page is sent to others: it names files, not where they lie on this machine.
  const withinFolder = (notices: readonly string[]) => notices.map((notice) => notice.replaceAll(`${folder}/`, ""));
  const rendered = async ({ input, notices }: ReadReport, madeOf: string) => {
    for (const notice of notices) notify(notice);
    const model = reportModel(input);
    const files = [...documentsOf(input, model), await pageOf(model, madeOf, withinFolder(notices))];
    return { model, files, written: files.map(({ name }) => name) };
  };
  const research = await openResearch(folder, {
    derive,
    git,
    short: true,
    notify: (_, message) => notify(message),
  }).catch(async (error: unknown) => {
    // Only a state that can't be used has a last good version to fall back on; a lock that is held is not a reason.
    const isBroken = error instanceof ExpectedError && (await hasNotice(folder, new Date(now())));
    if (!isBroken) throw error;
    return undefined;
  });
  if (research === undefined) {
    const lock = await acquireLock(lockFile(folder), { describe: `The project ${folder}` });
    try {
      const madeOf = await hashOfInputs(folder);
      const { files, ...result } = await rendered(await readReportInput(folder, new Date(now())), madeOf);
      await writeOutputs(folder, files, now(), notify);
      return result;
    } finally {
      await lock.release();
    }
  }
  try {
    const madeOf = await hashOfInputs(folder);
    const { rrd, ledger } = await research.load();
    const { files, ...result } = await rendered(await readBeside(folder, rrd, ledger, new Date(now())), madeOf);
    await research.rewrite(files, now(), "report: rendered again");
    return result;
  } finally {
    await research.close();
  }
}

/** Whether the report would be made from the last good version. */
const hasNotice = async (folder: string, now: Date): Promise<boolean> =>
  readReportInput(folder, now).then(
    ({ fromLastGood }) => fromLastGood,
    () => false,
  );
