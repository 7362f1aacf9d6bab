declare module "luaparse" {
  /** A node of the syntax tree; which fields it has depends on its type. */
  export interface LuaNode {
    readonly type: string;
    readonly loc: {
      readonly start: { readonly line: number; readonly column: number };
      readonly end: { readonly line: number };
    };
    readonly [field: string]: unknown;
  }
  export interface LuaChunk extends LuaNode {
    readonly body: readonly LuaNode[];
    readonly globals: readonly (LuaNode & { readonly name: string })[];
  }
  const luaparse: {
    parse(
      code: string,
      options: {
        luaVersion: "5.1";
        locations: true;
        scope?: true;
        comments: false;
        encodingMode: "pseudo-latin1";
      },
    ): LuaChunk;
  };
  export default luaparse;
}
