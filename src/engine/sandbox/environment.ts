import { delimiter, dirname, isAbsolute } from "node:path";
import { proxyPort, type Reach, sandboxHome } from "../process/reach.js";
import { isWithin } from "../process/search-path.js";

/**
 * The variables of the user's that a program in a sandbox is given. Whatever else stands in an environment may be a
 * key, whatever it is called, so it stays outside until somebody names it.
 */
const locale = ["LANG", "LANGUAGE", "LC_*", "TZ"];
const terminal = [
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
/** Where the certificates are that a network is trusted by; /etc/ssl is there in every sandbox. */
const certificates = ["SSL_CERT_*", "NODE_EXTRA_CA_CERTS", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "GIT_SSL_CAINFO"];
/** What compilers, interpreters and builds are set by. */
const ofTools = [
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

/** Folders of language tools, by the variable that names them: given where the folder is seen. */
export const toolFolders = [
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

/** What a session has in its environment for itself, and what a program inside is given anew. */
const ofSession = [
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

const matching = (names: readonly string[]): RegExp =>
  new RegExp(`^(?:${names.map((name) => name.replace("*", "\\w*")).join("|")})$`);

const goesIn = matching([...locale, ...terminal, ...certificates, ...ofTools, ...toolFolders]);
const isOfSession = matching(ofSession);

/** An address with a password stays outside under any name. */
const hasPassword = (value: string): boolean => URL.canParse(value) && new URL(value).password !== "";

/** The names of the user's variables that a program inside misses, besides those of the session. */
export const keptOutside = (env: NodeJS.ProcessEnv, passes: readonly string[]): string[] =>
  Object.keys(env)
    .filter((name) => !isOfSession.test(name) && !passes.includes(name))
    .filter((name) => !goesIn.test(name) || hasPassword(env[name] ?? ""))
    .toSorted();

/** The names in `sandbox_env` of the configuration. */
export const namesIn = (text: string | undefined): string[] => (text ?? "").split(/[\s,]+/).filter(Boolean);

/** What there is about an environment to go by. */
interface Around {
  /** Names that the user lets in. */
  readonly passes: readonly string[];
  readonly reach: Reach;
  readonly isOnline: boolean;
  /** Path of Node inside. */
  readonly node: string;
}

/** The environment of a program inside, made of that of its request. */
export function environmentInside(
  env: NodeJS.ProcessEnv,
  { passes, reach, isOnline, node }: Around,
): Record<string, string> {
  const seen = [...reach.read, ...reach.write].map((mount) => (typeof mount === "string" ? mount : mount.at));
  const isSeen = (path: string): boolean =>
    path.startsWith("/usr/") || seen.some((each) => isWithin(path, each) || isWithin(each, path));
  const named = new Set([...passes, ...reach.variables]);
  const kept = Object.entries(env).filter(([name, value = ""]) => {
    if (named.has(name)) return true;
    if (!goesIn.test(name) || hasPassword(value)) return false;
    return !(toolFolders as readonly string[]).includes(name) || (isAbsolute(value) && isSeen(value));
  });
  const address = `http://127.0.0.1:${proxyPort}`;
  const proxies = isOnline ? ["HTTP_PROXY", "HTTPS_PROXY"].map((name) => [name, address] as const) : [];
  const direct = isOnline ? [["NO_PROXY", "127.0.0.1,localhost,.key"] as const] : [];
  const path = [...(env["PATH"] ?? "").split(delimiter), "/usr/local/bin", "/usr/bin", "/bin", dirname(node)];
  return {
    ...Object.fromEntries(kept.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]))),
    ...Object.fromEntries(
      [...proxies, ...direct].flatMap(([name, value]) => [
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
