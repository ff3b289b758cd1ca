import fc from "fast-check";

/**
 * fast-check as every test has it: with the same cases in each run, so that whether a test passes is never a matter of luck.
 * RR_SEED tries others; `npm run test:fuzz` draws one and says it.
 */
fc.configureGlobal({ seed: Number(process.env["RR_SEED"] ?? 1) });

export default fc;
