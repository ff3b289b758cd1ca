import { hasCode } from "../engine/lib/errors.js";

const proxyVariables = ["https_proxy", "HTTPS_PROXY", "http_proxy", "HTTP_PROXY"];

/**
 * The proxy that could not be reached, with its variable: `https_proxy (127.0.0.1:3128)`. Undefined if the error is
 * about another host.
 */
export function unreachableProxy(cause: unknown, env: NodeJS.ProcessEnv = process.env): string | undefined {
  const errors = cause instanceof AggregateError ? (cause.errors as unknown[]) : [cause];
  for (const variable of proxyVariables) {
    const value = env[variable] ?? "";
    const address = URL.canParse(value) ? new URL(value) : undefined;
    if (address === undefined) continue;
    const port = Number(address.port || (address.protocol === "https:" ? 443 : 80));
    const isProxyError = errors.some((error) => {
      const errorFields = error as { readonly hostname?: string; readonly address?: string; readonly port?: number };
      if (hasCode(error, "ENOTFOUND", "EAI_AGAIN")) return errorFields.hostname === address.hostname;
      return (
        hasCode(error, "ECONNREFUSED") && errorFields.port === port && isSameHost(errorFields.address, address.hostname)
      );
    });
    if (isProxyError) return `${variable} (${address.host})`;
  }
  return undefined;
}

/** Whether the address may be that of the host: a host with a name may have any address. */
const isSameHost = (address: string | undefined, host: string): boolean =>
  !/^[\d.]+$|^\[/.test(host) || address === host.replace(/^\[|\]$/g, "");
