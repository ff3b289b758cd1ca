import { setProgramFinder } from "../../../src/engine/lib/package-root.js";

// Tests run the sources; the process that reads documents is a program of the build, made when a test first needs it.
setProgramFinder(async (name) => (await import("../processes/built-program.js")).programAlone(name));
