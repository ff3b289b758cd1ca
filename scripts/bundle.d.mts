export declare const entries: Readonly<Record<string, string>>;
export declare function build(options: { readonly outDir: string; readonly mapsDir?: string }): Promise<void>;
export declare function bundle(options: {
  readonly input: Readonly<Record<string, string>>;
  readonly outDir: string;
  readonly mapsDir?: string;
}): Promise<string[]>;
