import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { redactionMark, redactFor, redactValue } from "../../../src/engine/lib/redact.js";
import { openTranscript } from "../../../src/engine/process/transcript.js";

const redact = redactFor({
  MY_API_KEY: "abcdefgh-1234",
  SESSION_TOKEN: "abcdefgh-1234-longer",
  KEY_PATH: "/home/me/some-key",
  TOKEN_ON: "true",
  HOME: "/home/me-and-you",
});
// In two halves, or a scanner of sources would take them for real ones.
const key = `-----BEGIN OPENSSH ${"PRIVATE"} KEY-----\nAAAA\nBBBB\n-----END OPENSSH ${"PRIVATE"} KEY-----`;

test.each([
  ["the value of a variable named as a secret", "it is abcdefgh-1234.", `it is ${redactionMark}.`],
  ["the longer of two values that begin alike", "abcdefgh-1234-longer", redactionMark],
  ["a private key, whole", `a\n${key}\nb`, `a\n${redactionMark}\nb`],
  ["a private key cut off in the middle", `a\n${key.slice(0, 45)}`, `a\n${redactionMark}`],
  ["a token by its form", `use ghp_${"x1".repeat(18)}!`, `use ${redactionMark}!`],
  // In two halves too.
  ...(
    [
      ["sk-", "ant-", "a1B2".repeat(6)],
      ["sk", "-", "a1B2".repeat(8)],
      ["sk", "-", "svcacct-", "a1B2_-".repeat(8)],
      ["sk", "-lf-", "0a1b2c3d-0a1b-0a1b-0a1b-", "0a1b2c".repeat(2)],
      ["sk", "-", "abcdefgh".repeat(4)],
      ["github_", "pat_", "a1B2".repeat(9)],
      ["glp", "at-", "a1B2".repeat(6)],
      ["AK", "IA", "A1B2".repeat(4)],
      ["AS", "IA", "A1B2".repeat(4)],
      ["AI", "za", "a1B2c".repeat(7)],
      ["xo", "xb-", "a1B2".repeat(3)],
      ["np", "m_", "a1B2".repeat(9)],
      ["sk_", "live_", "a1B2".repeat(5)],
      ["h", "f_", "a1B2".repeat(8)],
      ["gs", "k_", "a1B2".repeat(8)],
      ["xa", "i-", "a1B2".repeat(8)],
      ["ya2", "9.", "a1B2".repeat(6)],
      ["pypi-", "AgE", "a1B2".repeat(6)],
      ["dop_", "v1_", "a1b2".repeat(10)],
      ["S", "G.", "a1B2".repeat(5), ".", "a1B2".repeat(6)],
      ["ey", "J", "a1B2".repeat(5), ".eyJ", "a1B2".repeat(5), ".", "a1B2".repeat(5)],
      ["12345678", "9:AA", "a1B2".repeat(8)],
      ["hooks.slack", ".com/", "services/T0/B0/", "a1B2".repeat(6)],
      ["discord.com", "/api/", "webhooks/12/", "a1B2".repeat(6)],
    ] as const
  ).map((parts): [string, string, string] => [
    `a token that begins with ${parts[0]}${parts[1]}`,
    `use ${parts.join("")} now`,
    `use ${redactionMark} now`,
  ]),
  ["what a header names", "Authorization: Bearer a1B2c3D4e5 now", `Authorization: Bearer ${redactionMark} now`],
  [
    "what a setting names",
    `aws_secret_access_key = ${"a1B2".repeat(10)}; AccountKey=${"a1B2".repeat(5)}==;`,
    `aws_secret_access_key = ${redactionMark}; AccountKey=${redactionMark};`,
  ],
  ["the beginning of a value that was cut off", "it is abcdefgh-1…", `it is ${redactionMark}…`],
  ["the beginning of a longer value, after another cut", "a… abcdefgh-1234-lo… b", `a… ${redactionMark}… b`],
  ["the beginning of a token by its form", `use ghp_${"x1".repeat(4)}… or`, `use ${redactionMark}… or`],
  ["nothing: what is cut off as any word is", "abc… abcdefgi… sk-…", "abc… abcdefgi… sk-…"],
  [
    "nothing: a path, a short value, another variable",
    "/home/me/some-key true /home/me-and-you",
    "/home/me/some-key true /home/me-and-you",
  ],
  [
    "nothing: prose about keys",
    "The secret key of the token is a password.",
    "The secret key of the token is a password.",
  ],
  ...[
    "hf_transformer_model_for_sequence_classification(x)",
    "sk-learn-based-classification-of-images, risk-adjusted-survival-analysis-2020, task-oriented-dialogue-systems",
    "https://example.org/sk-learn-2-based-random-forest-classifiers-2021, sk-electroencephalographic-recordings",
    "https://example.org/xai-for-explainable-artificial-intelligence-methods",
    "The header Authorization: Bearer authentication is used.",
    "client_secret = process.env.CLIENT_SECRET",
    "const accountKey = accountKeyOfTheStorage",
  ].map((text): [string, string, string] => [`nothing: ${text}`, text, text]),
])("takes out %s", (_, text, clean) => {
  expect(redact(text)).toBe(clean);
});

test("the keys in a variable of headers go, as they are written and as they are sent", () => {
  const clean = redactFor({ OTEL_EXPORTER_OTLP_HEADERS: "x-api-key=ab%2Fcd-1234-z,tenant=library" });
  expect(clean("ab%2Fcd-1234-z, ab/cd-1234-z, library")).toBe(`${redactionMark}, ${redactionMark}, library`);
});

test("is done with a long text in which a token seems to begin at every word", () => {
  // One look from each of them to the end of the text would take minutes.
  const text = "eyJ-".repeat(250_000);
  expect(redact(text) === text).toBe(true);
});

test.each([
  ["shorter than twelve characters", "DB_PASSWORD", "hunter2"],
  ["a short word under the name of a password", "DB_PASSWORD", "swordfish"],
  ["with spaces", "WIFI_PASSWORD", "correct horse battery"],
  ["with line feeds", "SIGNING_KEY", "first line 4711\nsecond line 4712"],
  ["that begins as a path does", "SESSION_SECRET", "/9aQ+Zk7/xx=="],
  ["that begins as a home does", "SESSION_SECRET", "~9aQ+Zk7&xx"],
  ["named …_AUTH", "NPM_CONFIG__AUTH", "Zk7-9aQ-44"],
  ["named in camel case", "authToken", "Zk7-9aQ-44"],
  ["named …_PASS", "DB_PASS", "hunter2x"],
  ["whose name is written in one", "PGPASSWORD", "Zk7-9aQ-44"],
  ["whose name is written in one, a token", "GITHUBTOKEN", "Zk7-9aQ-44"],
  ["of a cookie", "SESSION_COOKIE", "Zk7-9aQ-44"],
  ["of a header", "HTTP_AUTHORIZATION", "Bearer Zk7-9aQ-44", "Zk7-9aQ-44"],
  ["of words to begin from", "WALLET_MNEMONIC", "alpha beta gamma 4"],
  ["within a connection string", "STORAGE", "Server=x;Password=Zk7-9aQ-44;Timeout=3", "Zk7-9aQ-44"],
  ["of a webhook", "SLACK_WEBHOOK", "https://hooks.example/T0/B1/x9y8"],
  ["the password of an address", "DATABASE_URL", "postgres://ada:p%40ss+w0rd@db.example/x", "p%40ss+w0rd"],
  ["the password of an address, decoded", "DATABASE_URL", "postgres://ada:p%40ss+w0rd@db.example/x", "p@ss+w0rd"],
  ["a line of a key", "DEPLOY_KEY", "-----BEGIN X-----\nMIIEpAIBAAKCAQEA0\n-----END X-----", "MIIEpAIBAAKCAQEA0"],
])("a value %s goes in every form that a program writes it in", (_, name, value, secret = value) => {
  const clean = redactFor({ [name]: value });
  const base64 = (before: string) => Buffer.from(`${before}${secret}, and more`).toString("base64");
  const pieces = (text: string) => text.slice(4, -18);
  for (const form of [
    secret,
    JSON.stringify(secret).slice(1, -1),
    JSON.stringify(JSON.stringify({ secret })).slice(15, -4),
    encodeURIComponent(secret),
    encodeURIComponent(secret).replace(/%../g, (code) => code.toLowerCase()),
    new URLSearchParams({ secret }).toString().slice("secret=".length),
  ])
    expect(clean(`it is '${form}', so`)).toBe(`it is '${redactionMark}', so`);
  for (const before of ["", "u", "u:", "me:"]) {
    const text = base64(before);
    expect(clean(text)).toContain(redactionMark);
    expect(clean(text)).not.toContain(pieces(text));
    expect(clean(text.replaceAll("+", "-").replaceAll("/", "_"))).toContain(redactionMark);
  }
});

test("the password of any address goes, whoever it is from", () => {
  expect(redactFor({})("see https://me:s3cr3t@host.example/x and mailto:me@host.example")).toBe(
    `see https://me:${redactionMark}@host.example/x and mailto:me@host.example`,
  );
});

test.each([
  ["TOKEN_ON", "true"],
  ["KEY_MODE", "production"],
  ["API_KEY_ENV", "development"],
  ["SSH_KEY_TYPE", "ed25519"],
  ["TOKEN_TTL", "604800"],
  ["AWS_KEY_REGION", "us-east-1"],
  ["GOOGLE_CREDENTIALS", tmpdir()],
  ["GOOGLE_CREDENTIALS", join(tmpdir(), "not-there-yet.json")],
  ["SSH_AUTH_SOCK", "/run/user/1000/agent"],
  ["XDG_SESSION_ID", "session-4711-a"],
  ["COMPASS_HEADING", "north-north-west-7"],
  ["TOKENIZERS_PARALLELISM", "sometimes-or-7-times"],
  ["PWD", "/somewhere/far/away"],
  ["DATABASE_URL", "postgres://postgres:postgres@localhost/x", "postgres"],
  ["KEYBOARD", "dvorak-12-intl"],
  // Of five characters, which stand in ordinary texts.
  ["ACCESS_TOKEN", "a1-B2"],
])("%s=%s holds no secret", (name, value, word = value) => {
  expect(redactFor({ [name]: value })(`it is ${word}, so`)).toBe(`it is ${word}, so`);
});

test("what the paper itself says is no secret", () => {
  expect(redact(key, `An example: ${key}`)).toBe(key);
});

test("a value is redacted in every string and name, and says so", () => {
  expect(redactValue({ a: ["abcdefgh-1234", 1, null], "abcdefgh-1234": true }, redact)).toEqual({
    value: { a: [redactionMark, 1, null], [redactionMark]: true },
    found: true,
  });
  expect(redactValue({ a: "b" }, redact)).toEqual({ value: { a: "b" }, found: false });
});

test("a transcript holds no secret, wherever its chunks are cut, and every other byte", async () => {
  const folder = mkdtempSync(join(tmpdir(), "rr-redact-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const all = Buffer.concat([
    Buffer.from(`one abcdefgh-1234 two\n${key}\nthree `),
    Buffer.from([0xff, 0xc3, 0x0a]),
    Buffer.from("end"),
  ]);
  for (let cut = 1; cut < all.length; cut += 3) {
    const path = join(folder, `${cut}.log`);
    const transcript = await openTranscript(path, 1000, redact);
    for (const part of [all.subarray(0, cut), all.subarray(cut)]) await transcript.write(part);
    expect(await transcript.close()).toBeUndefined();
    expect(readFileSync(path, "latin1")).toBe(`one ${redactionMark} two\n${redactionMark}\nthree \u00ff\u00c3\nend`);
  }
});

describe("of a secret of several lines each line goes by itself", () => {
  const line = (start: string) => `${start}QDx7bNq0Zc9LkV2mTfYw8RhJ5sGpAe3UoKi6XvBy1CnDrMtEaWgHlFzSjQuP4o`.slice(0, 64);
  const body = [line("MIIEvQIB"), line("AoIBAQC7"), "Zt9kQx2vLw7RbNc4YpJh8m=="];
  const pem = ["-----BEGIN PRIVATE KEY-----", ...body, "-----END PRIVATE KEY-----"];
  const account = { type: "service_account", private_key_id: "9f8e7d6c5b4a3210", private_key: `${pem.join("\n")}\n` };

  test.each([
    ["a key", { DEPLOY_KEY: pem.join("\n") }],
    ["a key under another name", { DEPLOY: pem.join("\n") }],
    ["a key in one line of a file of settings", { DEPLOY_KEY: pem.join("\\n") }],
    ["a service account", { GOOGLE_ACCOUNT: JSON.stringify(account) }],
    ["a service account over several lines", { GOOGLE_CREDENTIALS: JSON.stringify(account, null, 2) }],
  ])("in the environment: %s", (_, env) => {
    const redact = redactFor(env);
    for (const each of body) expect(redact(`x ${each} y`)).toBe("x [secret removed] y");
    expect(redact('"type": "service_account", PRIVATE KEY')).toBe('"type": "service_account", PRIVATE KEY');
  });

  test("the id of a service account's key goes too", () => {
    expect(redactFor({ GOOGLE_ACCOUNT: JSON.stringify(account) })("id 9f8e7d6c5b4a3210")).toBe("id [secret removed]");
  });

  test.each([(text: string) => text, (text: string) => JSON.stringify(`a\n${text}\nb`)])(
    "of a key that no variable holds",
    (written) => {
      for (const each of body.slice(0, 2)) expect(redactFor({})(written(each))).toBe(written("[secret removed]"));
    },
  );

  test.each([
    "a".repeat(64),
    "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    `sha384-${line("MIIEvQIB")}`,
    `https://example.org/${line("MIIEvQIB")}`,
    `${line("MIIEvQIB")}x`,
  ])("and %s is none", (text) => {
    expect(redactFor({})(text)).toBe(text);
  });
});
