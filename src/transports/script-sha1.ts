import { builtinModule } from "../environment.ts";
import { keyLocking as keyLockingLine, type Script } from "../kernel/transport.ts";

/** Node's synchronous hash, if available: so the first call of a script does not come behind the next call. */
const hash = builtinModule("node:crypto")?.hash;

/** The SHA-1 of both texts of each script that was called. */
const known = { plain: new WeakMap<Script, string>(), keyLocking: new WeakMap<Script, string>() };

/** A script's text as a transport sends it. */
export const textOf = ({ source }: Script, keyLocking: boolean): string =>
  keyLocking ? keyLockingLine + source : source;

/** The SHA-1 of {@link textOf}, by which EVALSHA names a script. A promise at most at the first call of the script. */
export function sha1Of(script: Script, keyLocking: boolean): string | Promise<string> {
  const sha1s = keyLocking ? known.keyLocking : known.plain;
  const keep = (sha1: string) => {
    sha1s.set(script, sha1);
    return sha1;
  };
  const text = () => textOf(script, keyLocking);
  return sha1s.get(script) ?? (hash ? keep(hash("sha1", text())) : webSha1(text()).then(keep));
}

async function webSha1(text: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-1", new TextEncoder().encode(text));
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
