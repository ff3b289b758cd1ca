import { join } from "node:path";
import { hiddenName } from "../../engine/storage/records/journal.js";

/** Where the answers of a research's search are kept, so that no batch asks for them again. */
export const keptSearch = (folder: string): string => join(folder, hiddenName, "candidates.json");
