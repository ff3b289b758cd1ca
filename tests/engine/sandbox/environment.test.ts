import { expect, test } from "vitest";
import { noAccess } from "../../../src/engine/process/access.js";
import { sandboxEnvironment, withheldVariables } from "../../../src/engine/sandbox/environment.js";

/** Keys under names that say it and names that do not. */
const secrets = {
  ANTHROPIC_API_KEY: "k",
  GITHUB_TOKEN: "k",
  DB_URL: "postgres://u:pw@h/d",
  MY_MODEL: "sk-x",
  CORP_LOGIN: "k",
  SLACK: "k",
  PGPASSFILE: "/x",
  NETRC: "/y",
  AWS_PROFILE: "prod",
  KUBECONFIG: "/z",
  SENTRY: "https://k@s/1",
  STRIPE: "k",
  VAULT: "k",
  DOCKER_AUTH_CONFIG: "{}",
  PIP_INDEX_URL: "https://u:pw@pypi.test",
  GOFLAGS: "https://u:pw@proxy.test",
};
const usual = {
  LANG: "C.UTF-8",
  LC_TIME: "C",
  TZ: "UTC",
  TERM: "xterm",
  CFLAGS: "-O2",
  PYTHONPATH: "lib",
  CI: "1",
  SSL_CERT_FILE: "/etc/ssl/own.pem",
};
const session = {
  PATH: "/usr/bin",
  HOME: "/home/me",
  SSH_AUTH_SOCK: "/s",
  XDG_RUNTIME_DIR: "/r",
  HTTPS_PROXY: "http://p",
};
const user = { ...secrets, ...usual, ...session };

test("a program inside is given what is named, and no other variable, whatever it is called", () => {
  const around = { allowedVariables: [], access: noAccess, isOnline: false, node: "/usr/bin/node" };
  const inside = sandboxEnvironment(user, around);
  expect(inside).toMatchObject(usual);
  for (const name of [...Object.keys(secrets), "SSH_AUTH_SOCK", "XDG_RUNTIME_DIR", "HTTPS_PROXY"])
    expect(inside, name).not.toHaveProperty(name);
  expect(inside["HOME"]).toBe("/home/agent");
  // Named by the user, or by who starts it for this program.
  const access = { ...noAccess, variables: ["MY_MODEL"] };
  expect(sandboxEnvironment(user, { ...around, allowedVariables: ["DB_URL"], access })).toMatchObject({
    DB_URL: secrets.DB_URL,
    MY_MODEL: secrets.MY_MODEL,
  });
});

test("the folder of a language's tools is named where it is seen", () => {
  const env = {
    PYENV_ROOT: "/data/pyenv",
    RUSTUP_HOME: "/data/rustup",
    JAVA_HOME: "/usr/lib/jvm/x",
    GOPATH: "relative",
  };
  const access = { ...noAccess, read: ["/data/pyenv"] };
  const inside = sandboxEnvironment(env, { allowedVariables: [], access, isOnline: false, node: "/usr/bin/node" });
  expect(inside).toMatchObject({ PYENV_ROOT: "/data/pyenv", JAVA_HOME: "/usr/lib/jvm/x" });
  expect(inside).not.toHaveProperty("RUSTUP_HOME");
  expect(inside).not.toHaveProperty("GOPATH");
});

test("what stays outside is named, without what a session has for itself and what was let in", () => {
  expect(withheldVariables(user, [])).toEqual(Object.keys(secrets).toSorted());
  expect(withheldVariables(user, ["SLACK"])).not.toContain("SLACK");
});
