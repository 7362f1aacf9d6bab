import { scriptFiles } from "../../tools/lua/files.ts";

const files = scriptFiles();

/** A script's file in lua/, by the script's name: `kernel/settle-and-dequeue.lua` of `settleAndDequeue`. */
export function fileOf(name: string): string {
  const base = `/${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}.lua`;
  const file = files.find((path) => path.endsWith(base));
  if (file === undefined) throw new Error(`lua/ has no script ${name}`);
  return file;
}
