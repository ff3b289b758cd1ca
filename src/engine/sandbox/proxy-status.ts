/** The header `Proxy-Status` (RFC 9209) of the sandbox's proxy if no program listens at the address of a request. */
export const refusedStatus = "research-ralph; error=connection_refused";
