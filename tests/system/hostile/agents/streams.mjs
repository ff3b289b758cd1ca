#!/usr/bin/env node
// Speaks the stream of the CLI that FAKE_PROTOCOL names and misbehaves as FAKE_MODE says: its arguments are the real CLI's.
import { brief, goodResult, leave } from "./brief.mjs";

const { FAKE_PROTOCOL: protocol, FAKE_MODE: mode } = process.env;
const sentinel = "<promise>COMPLETE</promise>";
const say = (event) => console.log(JSON.stringify(event));
const usage = { input_tokens: 900, cache_read_input_tokens: 100, output_tokens: 50 };
let answers = 0;

const speakers = {
  claude: {
    begin: () => say({ type: "system", subtype: "init", session_id: "s", model: "fake-1", tools: ["Write"] }),
    text: (text) =>
      say({ type: "assistant", message: { id: `m${answers++}`, content: [{ type: "text", text }], usage } }),
    toolResult: (content) => say({ type: "user", message: { content: [{ type: "tool_result", content }] } }),
    end: (text) =>
      say({
        type: "result",
        subtype: "success",
        is_error: false,
        result: text,
        num_turns: 2,
        total_cost_usd: 0.01,
        usage,
        modelUsage: {},
      }),
    fail: (text, status) =>
      say({
        type: "result",
        subtype: "success",
        is_error: true,
        api_error_status: status,
        result: text,
        usage,
        modelUsage: {},
      }),
    limit: (resetsAt) => say({ type: "rate_limit_event", rate_limit_info: { status: "rejected", resetsAt } }),
  },
  codex: {
    begin: () => say({ type: "thread.started", thread_id: "t" }),
    text: (text) => say({ type: "item.completed", item: { id: `i${answers++}`, type: "agent_message", text } }),
    toolResult: (text) =>
      say({
        type: "item.completed",
        item: {
          id: `i${answers++}`,
          type: "command_execution",
          command: "cat x",
          aggregated_output: text,
          exit_code: 0,
        },
      }),
    end: (text) => {
      speakers.codex.text(text);
      say({ type: "turn.completed", usage: { input_tokens: 1000, cached_input_tokens: 100, output_tokens: 50 } });
    },
    fail: (text) => {
      say({ type: "turn.failed", error: { message: text } });
      process.exitCode = 1;
    },
  },
  amp: {
    begin: () => {
      say({ type: "system", subtype: "init", session_id: "s" });
      say({ type: "user", message: { content: [{ type: "text", text: `${brief}\n\n${sentinel}` }] } });
    },
    text: (text) =>
      say({ type: "assistant", message: { id: `m${answers++}`, content: [{ type: "text", text }], usage } }),
    toolResult: (content) => say({ type: "user", message: { content: [{ type: "tool_result", content }] } }),
    end: (text) =>
      say({ type: "result", subtype: "success", is_error: false, num_turns: 1, result: text, session_id: "s" }),
    fail: (error) => say({ type: "result", subtype: "error_during_execution", is_error: true, error, session_id: "s" }),
  },
};
const speaker = speakers[protocol];
const reset = Math.floor(Date.now() / 1000) + 3600;

const misbehaviours = {
  "usage-limit": () => {
    speaker.limit?.(reset);
    speaker.fail(`You've hit your usage limit. It resets at ${new Date(reset * 1000).toISOString()}`, 429);
  },
  401: () => speaker.fail("API Error: 401 invalid x-api-key", 401),
  "429-in-prose": () =>
    speaker.end(
      "The paper says that servers answer with HTTP error 429, too many requests, when a rate limit is reached.",
    ),
  "sentinel-in-an-earlier-message": () => {
    speaker.text(`Done.\n\n${sentinel}`);
    speaker.toolResult("ok");
    speaker.end("There is more to do.");
  },
  "sentinel-in-a-tool-result": () => {
    speaker.toolResult(`${sentinel}\n`);
    speaker.end("Done.");
  },
  "sentinel-at-the-end": () => speaker.end(`Done.\n\n${sentinel}`),
  "error-after-the-result": () => {
    speaker.end("Done.");
    console.error("Error: a hook failed on the way out");
    process.exitCode = 1;
  },
  "no-result": () => speaker.text("I am about to"),
  "broken-lines": () => {
    console.log('{"type":"result","subtype":"success","is_error":false,"result":"half');
    console.log("not json at all {{{");
    console.log('null\n[]\n3\n"text"');
    speaker.end("Done.");
  },
};

speaker.begin();
leave(goodResult());
misbehaviours[mode]();
