import fc from "fast-check";

const seed = Number(process.env["RR_SEED"] ?? 1);
const cases = process.env["RR_FUZZ_CASES"];

/**
 * fast-check as every test has it: with the same cases in each run, so that whether a test passes is never a matter of
 * luck. RR_SEED tries others; `npm run test:fuzz` draws one and says it. A failure says how to have the same cases
 * again.
 */
fc.configureGlobal({
  seed,
  reporter: (run) => {
    if (!run.failed) return;
    const again = `RR_SEED=${seed}${cases === undefined ? "" : ` RR_FUZZ_CASES=${cases}`}`;
    throw new Error(`${fc.defaultReportMessage(run)}\n${again} replays it.`, { cause: run.errorInstance });
  },
});

export default fc;
