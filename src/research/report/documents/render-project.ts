import { ExpectedError } from "../../../engine/lib/errors.js";
import { lockFile } from "../../../engine/lib/layout.js";
import { acquireLock } from "../../../engine/storage/lock.js";
import { writeOutputs } from "../../../engine/storage/state/output-files.js";
import { openResearch } from "../../project-files/research.js";
import { derive } from "../../workflow/derive.js";
import { documentsOf } from "./documents.js";
import { pageOf } from "./page-file.js";
import { type ReportModel, reportModel } from "../model.js";
import { hashOfInputs, readInputFor, readReportInput, type ReadReport } from "../read-report.js";

export interface RenderOptions {
  readonly git: boolean;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly notify: (message: string) => void;
}

/** The result of rendering a project. */
interface RenderResult {
  readonly model: ReportModel;
  /** Names of the files that were written. */
  readonly written: readonly string[];
}

/**
 * Renders all documents of a project again from its state, under its lock, and commits them. Uses no model and no
 * network. If rrd.json is broken, the last good version is used.
 * @throws ExpectedError if another process holds the project, or if rrd.json is invalid and there is no good version.
 */
export async function renderProject(folder: string, { git, now, notify }: RenderOptions): Promise<RenderResult> {
  // The page may be sent to others, so it names files without the path of the folder.
  const withinFolder = (notices: readonly string[]) => notices.map((notice) => notice.replaceAll(`${folder}/`, ""));
  const render = async ({ input, notices }: ReadReport, inputHash: string) => {
    for (const notice of notices) notify(notice);
    const model = reportModel(input);
    const files = [...documentsOf(input, model), await pageOf(model, inputHash, withinFolder(notices))];
    return { model, files, written: files.map(({ name }) => name) };
  };
  const research = await openResearch(folder, {
    derive,
    git,
    isShortCommand: true,
    notify: (_, message) => notify(message),
  }).catch(async (error: unknown) => {
    // The last good version is used only if the state is invalid, not if another process holds the lock.
    const isBroken = error instanceof ExpectedError && (await usesLastGood(folder, new Date(now())));
    if (!isBroken) throw error;
    return undefined;
  });
  if (research === undefined) {
    const lock = await acquireLock(lockFile(folder), { subject: `The project ${folder}` });
    try {
      const inputHash = await hashOfInputs(folder);
      const { files, ...result } = await render(await readReportInput(folder, new Date(now())), inputHash);
      await writeOutputs(folder, files, now(), notify);
      return result;
    } finally {
      await lock.release();
    }
  }
  try {
    const inputHash = await hashOfInputs(folder);
    const { rrd, ledger } = await research.load();
    const { files, ...result } = await render(await readInputFor(folder, rrd, ledger, new Date(now())), inputHash);
    await research.rewrite(files, now(), "report: rendered again");
    return result;
  } finally {
    await research.close();
  }
}

/** Whether the report would use the last good version. */
const usesLastGood = async (folder: string, now: Date): Promise<boolean> =>
  readReportInput(folder, now).then(
    ({ fromLastGood }) => fromLastGood,
    () => false,
  );
