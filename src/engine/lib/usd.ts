/** US dollars to a millionth: sums of prices come out as 1.0000000000000002. */
export const roundUsd = (usd: number): number => Math.round(usd * 1e6) / 1e6;
