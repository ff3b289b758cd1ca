import { existsSync } from "node:fs";
import { ledgerName } from "../../engine/lib/layout.js";
import { ExpectedError } from "../../engine/lib/errors.js";
import { costsOf } from "../../research/overview/costs.js";
import { findResearch, listResearches } from "../../research/overview/find-research.js";
import { lookAtResearch, steeredResearch } from "../../research/overview/project-standing.js";
import { rrdFile, rrdName } from "../../research/project-files/layout.js";
import { readResearch } from "../../research/project-files/research.js";
import type { Kind } from "./kind.js";

/** A research project: a folder with rrd.json. It is also found by its name under ./researches. */
export const project: Kind = {
  noun: "project",
  stateName: rrdName,
  ledgerPath: ledgerName,
  isIn: (folder) => existsSync(rrdFile(folder)),
  find: (cwd, argument) =>
    findResearch(cwd, argument).catch((error: unknown) =>
      error instanceof ExpectedError ? undefined : Promise.reject(error),
    ),
  list: listResearches,
  readStanding: lookAtResearch,
  steeredWork: steeredResearch,
  readInstructions: async (folder) => (await readResearch(folder)).rrd.loop?.steering ?? [],
  status: async (...args) => (await import("./project-status.js")).projectStatus(...args),
  async costs(folder, io) {
    const { rrd, ledger } = await readResearch(folder);
    const { experienceToRead } = await import("../../compose/forecast-basis.js");
    return costsOf(rrd, ledger, await experienceToRead(folder, { rrd, ledger }, io));
  },
  brief: async (...args) => (await import("./project-brief.js")).projectBrief(...args),
  validate: async (folder) => (await import("./project-validate.js")).validateProject(folder),
};
