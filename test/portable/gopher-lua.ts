import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, openSync, closeSync, readSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Bytes } from "../../src/embedded/bytes.ts";
import {
  decodeReply,
  encodeReply,
  readWords,
  sizeOfWords,
  writeWords,
} from "../../src/embedded/lua/codec.ts";
import type { CallFromScript, ScriptResult } from "../../src/embedded/lua/engine.ts";
import type { Interpreter } from "../../src/embedded/scripts.ts";
import type { Value } from "../../src/embedded/reply.ts";

const KIND_AND_SIZE = 5;

/** GopherLua in place of the embedded store's own interpreter: in a process of its own, see main.go. */
export class GopherLua implements Interpreter {
  readonly #call: CallFromScript;
  readonly #requests: number;
  readonly #answers: number;

  /** @param program the program of this folder, compiled */
  constructor(call: CallFromScript, program: string) {
    this.#call = call;
    // Named pipes, because scripts run while this thread waits, and the pipes of spawn cannot be read so.
    const folder = mkdtempSync(join(tmpdir(), "sluice-portable-"));
    const [requests, answers] = ["requests", "answers"].map((name) => join(folder, name)) as [string, string];
    spawnSync("mkfifo", [requests, answers]);
    // Opened in both directions, a named pipe waits for no other end.
    this.#requests = openSync(requests, "r+");
    const theirs = openSync(answers, "r+");
    this.#answers = openSync(answers, "r");
    const [toRead, toWrite] = [openSync(requests, "r"), theirs];
    spawn(program, { stdio: [toRead, toWrite, "inherit"] }).unref();
    // If the process ends, no one can write any more, and reading ends.
    closeSync(toRead);
    closeSync(toWrite);
    rmSync(folder, { recursive: true });
  }

  load(sha: string, source: Bytes): Bytes | undefined {
    return (this.#ask(["load", sha, source]) as Bytes | null) ?? undefined;
  }

  forget(): void {
    this.#ask(["forget"]);
  }

  run(sha: string, keys: readonly Bytes[], args: readonly Bytes[]): ScriptResult {
    const [value = null, line] = this.#ask(["run", sha, String(keys.length), ...keys, ...args]) as Value[];
    return line === undefined ? { reply: value } : { error: value as Bytes, line: line as Bytes };
  }

  /** Runs the commands that the script calls until it has a result. */
  #ask(words: readonly Bytes[]): Value {
    const request = Buffer.alloc(sizeOfWords(words));
    writeWords(request, 0, words);
    this.#send(request);
    for (;;) {
      const head = this.#read(KIND_AND_SIZE);
      const content = this.#read(head.readUInt32LE(1));
      if (head.toString("latin1", 0, 1) === "R") return decodeReply(content, 0);
      const reply = encodeReply(this.#call(readWords(content, 0)));
      const size = Buffer.alloc(4);
      size.writeUInt32LE(reply.length);
      this.#send(Buffer.concat([size, reply]));
    }
  }

  #send(bytes: Buffer): void {
    for (let at = 0; at < bytes.length;) at += writeSync(this.#requests, bytes, at);
  }

  #read(size: number): Buffer {
    const bytes = Buffer.allocUnsafe(size);
    for (let at = 0; at < size;) {
      const read = readSync(this.#answers, bytes, at, size - at, null);
      if (read === 0) throw new Error("GopherLua has ended");
      at += read;
    }
    return bytes;
  }
}
