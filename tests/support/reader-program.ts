import { join } from "node:path";
import { useReaderProgram } from "../../src/research/full-text/reader-process.js";

// Tests run the sources; the process that reads documents is a program of the build, made when a test first needs it.
useReaderProgram(async () => {
  const { sharedPackage } = await import("./built.js");
  return join(await sharedPackage(), "dist/reader.js");
});
