import { join } from "node:path";
import { useBuiltPrograms } from "../../../src/engine/lib/package-root.js";

// Tests run the sources; the process that reads documents is a program of the build, made when a test first needs it.
useBuiltPrograms(async (name) => {
  const { sharedPackage } = await import("../processes/built.js");
  return join(await sharedPackage(), `dist/${name}.js`);
});
