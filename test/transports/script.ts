import { createHash } from "node:crypto";

import { keyLocking, type Script } from "../../src/kernel/transport.ts";

/** A script of a test's own, with both of its hashes. */
export function script(name: string, source: string): Script {
  return { name, source, sha1: sha1(source), keyLockingSha1: sha1(keyLocking + source) };
}

function sha1(text: string): string {
  return createHash("sha1").update(text).digest("hex");
}
