/**
 * Types for css-tree's parser, as far as it is used here. The types on npm are for the complete package, which takes
 * twice as long to load.
 */
declare module "css-tree/parser" {
  export interface CssNode {
    readonly type: string;
    readonly name?: string;
    readonly property?: string;
    readonly important?: boolean | string;
    readonly value?: CssNode | string;
    readonly prelude?: CssNode | null;
    readonly block?: CssNode | null;
    readonly children?: Iterable<CssNode> | null;
  }
  export default function parse(css: string, options?: Readonly<Record<string, unknown>>): CssNode;
}
