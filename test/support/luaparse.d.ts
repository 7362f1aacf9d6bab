declare module "luaparse" {
  /** A node of the syntax tree; which fields it has depends on its type. */
  export interface LuaNode {
    readonly type: string;
    readonly loc: {
      readonly start: { readonly line: number; readonly column: number };
      readonly end: { readonly line: number };
    };
    /** Its start and end in the text, with the option `ranges`. */
    readonly range: readonly [from: number, to: number];
    readonly [field: string]: unknown;
  }
  export interface LuaChunk extends LuaNode {
    readonly body: readonly LuaNode[];
    readonly globals: readonly (LuaNode & { readonly name: string })[];
  }
  export interface LuaToken {
    readonly type: number;
    readonly range: readonly [from: number, to: number];
  }
  const luaparse: {
    /** A parser that has read the text, and waits; `lex` takes the next token. */
    parse(
      code: string,
      options: { wait: true; luaVersion: "5.1"; comments: false },
    ): { readonly lex: () => LuaToken };
    parse(
      code: string,
      options: {
        luaVersion: "5.1";
        locations: true;
        ranges?: true;
        scope?: true;
        comments: false;
        encodingMode: "pseudo-latin1";
      },
    ): LuaChunk;
    readonly tokenTypes: Readonly<Record<"EOF", number>>;
  };
  export default luaparse;
}
