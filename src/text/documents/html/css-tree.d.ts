/**
 * As much of css-tree's parser as is called here. Types of others cover only the whole package, which loads twice as
 * long.
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
