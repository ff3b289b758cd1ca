import { configKeys } from "../../engine/config/keys.js";

/** What the wing of code reads of a configuration: both keys are taken whole from the nearest file. */
export const codeKeys = configKeys({ whole: ["code", "models"] });
