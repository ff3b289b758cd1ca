// Given to the processes of `npm test` with --import: Node itself loads the TypeScript of src/ and tests/. Through the
// module runner of vite that took 40 CPU seconds of each run, where it now takes 15.
import module from "node:module";

module.register("./typescript-hooks.mjs", import.meta.url);
// With hooks of its own, vitest tells its main process of each import, for the watch mode: thousands of messages.
module.register = () => undefined;
module.registerHooks = undefined;
