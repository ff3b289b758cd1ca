import { delimiter, dirname, isAbsolute } from "node:path";
import { proxyPort, type ProcessAccess, sandboxHome } from "../process/access.js";
import { isWithin } from "../process/search-path.js";

/**
 * These lists contain the user's variables that a program in a sandbox gets. Any other variable may hold a key, so a
 * program gets it only if the user names it.
 */
const localeVariables = ["LANG", "LANGUAGE", "LC_*", "TZ"];
const terminalVariables = [
  "TERM",
  "COLORTERM",
  "NO_COLOR",
  "FORCE_COLOR",
  "CLICOLOR",
  "CLICOLOR_FORCE",
  "COLUMNS",
  "LINES",
  "CI",
];
/** Paths of TLS certificates; every sandbox has /etc/ssl. */
const certificateVariables = [
  "SSL_CERT_*",
  "NODE_EXTRA_CA_CERTS",
  "REQUESTS_CA_BUNDLE",
  "CURL_CA_BUNDLE",
  "GIT_SSL_CAINFO",
];
/** Settings of compilers, interpreters and build tools. */
const toolVariables = [
  ...[
    "CC",
    "CXX",
    "CPP",
    "AR",
    "LD",
    "CFLAGS",
    "CXXFLAGS",
    "CPPFLAGS",
    "LDFLAGS",
    "MAKEFLAGS",
    "CMAKE_*",
    "PKG_CONFIG*",
  ],
  ...[
    "NODE_ENV",
    "NODE_PATH",
    "PYTHON*",
    "VIRTUAL_ENV",
    "CONDA_PREFIX",
    "CONDA_DEFAULT_ENV",
    "PYENV_VERSION",
    "UV_PYTHON*",
  ],
  ...["RUSTUP_TOOLCHAIN", "RUSTFLAGS", "RUST_BACKTRACE", "CARGO_BUILD_*", "CARGO_TARGET_DIR", "CARGO_INCREMENTAL"],
  ...["GOFLAGS", "GOOS", "GOARCH", "GOTOOLCHAIN", "CGO_*", "JAVA_TOOL_OPTIONS", "MAVEN_OPTS", "GRADLE_OPTS"],
  ...["RBENV_VERSION", "RUBYLIB", "RUBYOPT", "PERL5LIB", "DOTNET_*", "SOURCE_DATE_EPOCH"],
];

/** Variables that name folders of language tools. A program gets them if the folder is visible in the sandbox. */
export const toolFolderVariables = [
  ...[
    "PYENV_ROOT",
    "RUSTUP_HOME",
    "CARGO_HOME",
    "NVM_DIR",
    "NVM_BIN",
    "FNM_DIR",
    "VOLTA_HOME",
    "ASDF_DIR",
    "ASDF_DATA_DIR",
  ],
  ...[
    "MISE_DATA_DIR",
    "BUN_INSTALL",
    "DENO_DIR",
    "GOROOT",
    "GOPATH",
    "JAVA_HOME",
    "SDKMAN_DIR",
    "RBENV_ROOT",
    "GEM_HOME",
  ],
  "DOTNET_ROOT",
] as const;

/** Variables of the user's login session, and variables that the sandbox sets to new values. */
const sessionVariables = [
  ...[
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "TMPDIR",
    "TMP",
    "TEMP",
    "PWD",
    "OLDPWD",
    "SHLVL",
    "_",
    "HOSTNAME",
    "MAIL",
  ],
  ...[
    "EDITOR",
    "VISUAL",
    "PAGER",
    "LS_COLORS",
    "LESS*",
    "HIST*",
    "PS1",
    "XDG_*",
    "DBUS_*",
    "DISPLAY",
    "WAYLAND_*",
    "XAUTHORITY",
  ],
  ...["SSH_*", "GPG_*", "TERM_*", "TMUX*", "NODE_OPTIONS", "LD_*", "RESEARCH_RALPH_*", "npm_*", "INIT_CWD", "NODE"],
  ...["ALL_PROXY", "FTP_PROXY", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY"].flatMap((name) => [name, name.toLowerCase()]),
];

const namePattern = (names: readonly string[]): RegExp =>
  new RegExp(`^(?:${names.map((name) => name.replace("*", "\\w*")).join("|")})$`);

const allowedPattern = namePattern([
  ...localeVariables,
  ...terminalVariables,
  ...certificateVariables,
  ...toolVariables,
  ...toolFolderVariables,
]);
const sessionPattern = namePattern(sessionVariables);

/** A program never gets an address that contains a password. */
const hasPassword = (value: string): boolean => URL.canParse(value) && new URL(value).password !== "";

/** The names of the user's variables that a program in the sandbox does not get, except those of the login session. */
export const withheldVariables = (env: NodeJS.ProcessEnv, allowedVariables: readonly string[]): string[] =>
  Object.keys(env)
    .filter((name) => !sessionPattern.test(name) && !allowedVariables.includes(name))
    .filter((name) => !allowedPattern.test(name) || hasPassword(env[name] ?? ""))
    .toSorted();

/** The names in `sandbox_env` of the configuration. */
export const namesIn = (text: string | undefined): string[] => (text ?? "").split(/[\s,]+/).filter(Boolean);

/** The options that determine which variables a program gets. */
interface EnvironmentOptions {
  /** Names of variables that the user allows. */
  readonly allowedVariables: readonly string[];
  readonly access: ProcessAccess;
  readonly isOnline: boolean;
  /** Path of Node inside. */
  readonly node: string;
}

/** The environment of a program in the sandbox, built from the environment of its request. */
export function sandboxEnvironment(
  env: NodeJS.ProcessEnv,
  { allowedVariables, access, isOnline, node }: EnvironmentOptions,
): Record<string, string> {
  const visiblePaths = [...access.read, ...access.write].map((mount) =>
    typeof mount === "string" ? mount : mount.target,
  );
  const isVisible = (path: string): boolean =>
    path.startsWith("/usr/") ||
    visiblePaths.some((visiblePath) => isWithin(path, visiblePath) || isWithin(visiblePath, path));
  const requestedNames = new Set([...allowedVariables, ...access.variables]);
  const allowedEntries = Object.entries(env).filter(([name, value = ""]) => {
    if (requestedNames.has(name)) return true;
    if (!allowedPattern.test(name) || hasPassword(value)) return false;
    return !(toolFolderVariables as readonly string[]).includes(name) || (isAbsolute(value) && isVisible(value));
  });
  const address = `http://127.0.0.1:${proxyPort}`;
  const proxies = isOnline ? ["HTTP_PROXY", "HTTPS_PROXY"].map((name) => [name, address] as const) : [];
  const noProxy = isOnline ? [["NO_PROXY", "127.0.0.1,localhost,.key"] as const] : [];
  const path = [...(env["PATH"] ?? "").split(delimiter), "/usr/local/bin", "/usr/bin", "/bin", dirname(node)];
  return {
    ...Object.fromEntries(allowedEntries.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]))),
    ...Object.fromEntries(
      [...proxies, ...noProxy].flatMap(([name, value]) => [
        [name, value],
        [name.toLowerCase(), value],
      ]),
    ),
    PATH: [...new Set(path.filter((folder) => folder.startsWith("/")))].join(delimiter),
    HOME: sandboxHome,
    USER: "agent",
    LOGNAME: "agent",
    SHELL: "/bin/sh",
    ...Object.fromEntries(["TMPDIR", "TMP", "TEMP"].map((name) => [name, "/tmp"])),
  };
}
