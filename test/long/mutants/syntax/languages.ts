import { globSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { parseAst } from "vitest/node";
import { root } from "../../../near/nearest.ts";
import { parseLua } from "../../../../tools/lua/text.ts";
import { type SyntaxNode, visit, type Visited } from "./node.ts";

export interface Language {
  readonly files: string;
  /** @throws if it is not valid */
  readonly parse: (text: string, file: string) => SyntaxNode;
  readonly not: (condition: string) => string;
  /** In place of a statement. */
  readonly nothing: string;
}

export const lua: Language = {
  files: "lua/**/*.lua",
  parse: (text, file) => parseLua({ file, text }),
  not: (condition) => `not (${condition})`,
  nothing: "",
};

export const src: Language = {
  files: "{src,serverless}/**/*.ts",
  parse: (text) => parseAst(text, { lang: "ts" }) as unknown as SyntaxNode,
  not: (condition) => `!(${condition})`,
  nothing: ";",
};

/** A source of the project. */
export interface Source {
  /** From the repository's root. */
  readonly file: string;
  readonly text: string;
  readonly language: Language;
  /** All nodes of its syntax tree, parsed when first asked for. The outermost name of a script is its own. */
  readonly nodes: readonly Visited[];
}

const sources = new Map<Language, readonly Source[]>();

/** All sources of a language, by path. */
export function sourcesOf(language: Language): readonly Source[] {
  const known = sources.get(language);
  if (known) return known;
  const files = globSync(language.files, { cwd: root }).filter((file) => !/\.gen\.ts$|\/page\//.test(file));
  const read = files.toSorted().map((file): Source => {
    const text = readFileSync(join(root, file), "utf8");
    const isScript = language === lua && /^local \w+ = KEYS\[/m.test(text);
    const names = isScript ? [basename(file, ".lua")] : [];
    let nodes: Visited[] | undefined;
    return {
      file,
      text,
      language,
      get nodes() {
        return (nodes ??= Array.from(visit(language.parse(text, file), names)));
      },
    };
  });
  sources.set(language, read);
  return read;
}
