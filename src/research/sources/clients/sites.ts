import type { Source } from "../client/source.js";

/** Sites whose pages are read, not searched. Their addresses can be configured as those of services are. */
export const arxivPages: Source = { name: "arXiv pages", aliases: [], endpoint: "https://arxiv.org" };
export const ar5iv: Source = { name: "ar5iv", aliases: [], endpoint: "https://ar5iv.labs.arxiv.org" };
export const doiResolver: Source = { name: "DOI", aliases: ["doi.org"], endpoint: "https://doi.org" };
