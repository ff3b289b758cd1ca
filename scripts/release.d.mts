export declare function prepare(root: string, version: string, date: string): void;
