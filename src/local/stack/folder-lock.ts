import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { mkdirSync, readdirSync, renameSync, rmdirSync, rmSync, writeFileSync } from "node:fs";
import { type AddressInfo, connect, createServer } from "node:net";
import { join } from "node:path";
import { messageOf } from "../../errors.ts";
import { StackError } from "./stack-error.ts";

/** The folder inside a data folder that says which process uses it. */
export const LOCK = "sluice.lock";

/** How long a holder has to answer, ms. One that is silent for longer, such as a paused process, keeps the lock. */
const ANSWER_WITHIN = 1_000;

/** The errors of a port that nothing listens on, or whose process is ending. */
const GONE: ReadonlySet<unknown> = new Set(["ECONNREFUSED", "ECONNRESET"]);

/** How often a lock that its holder gives up meanwhile, or whose holder is gone, is tried again. */
const TRIES = 100;

/**
 * Locks a data folder for this process, so that no other one writes to it.
 *
 * The lock is a folder with one empty file, whose name is the holder's: `<process>-<port>-<a random id>`. It gets its
 * place by a rename, which fails while a folder with a file is there. The holder listens on the port of 127.0.0.1 and
 * answers with its name. The operating system closes the port when the process ends, in any way. So a holder whose port
 * is closed, or answers otherwise, is gone, and its file is removed: by its name, so that no later holder loses its own.
 *
 * It works between processes of one machine, not between machines or containers that share a folder.
 * @param folder is created if it is missing
 * @returns gives the lock up
 * @throws {StackError} if another process holds the lock, or the folder cannot be written
 */
export async function lockFolder(folder: string): Promise<() => void> {
  const id = randomUUID();
  const lock = join(folder, LOCK);
  const prepared = join(folder, `${LOCK}.${id}`);
  const server = createServer((socket) => {
    socket.on("error", () => {});
    socket.unref().end(name);
  });
  server.listen(0, "127.0.0.1").unref();
  await once(server, "listening");
  const name = `${process.pid}-${(server.address() as AddressInfo).port}-${id}`;
  try {
    mkdirSync(prepared, { recursive: true });
    writeFileSync(join(prepared, name), "");
    await place(prepared, folder);
  } catch (error) {
    server.close();
    remove(prepared);
    if (error instanceof StackError) throw error;
    throw new StackError(`the data folder ${folder} cannot be used: ${messageOf(error)}`);
  }
  return () => {
    rmSync(join(lock, name), { force: true });
    removeEmpty(lock);
    server.close();
  };
}

/** Makes the prepared lock that of the folder, once no living process holds it. */
async function place(prepared: string, folder: string): Promise<void> {
  const lock = join(folder, LOCK);
  for (let tries = 1; ; tries++) {
    // Windows replaces no folder by a rename, not even an empty one.
    removeEmpty(lock);
    try {
      renameSync(prepared, lock);
      return;
    } catch (error) {
      if (tries === TRIES) throw error;
    }
    for (const holder of holdersOf(lock)) {
      if (await isHeld(holder)) {
        const [pid] = holder.split("-");
        throw new StackError(
          `the data folder ${folder} is in use by process ${pid}; end that process, or use another folder`,
        );
      }
      rmSync(join(lock, holder), { force: true });
    }
  }
}

/** The name of the lock's holder; none while it changes. */
function holdersOf(lock: string): string[] {
  try {
    return readdirSync(lock);
  } catch {
    return [];
  }
}

function remove(prepared: string): void {
  try {
    rmSync(prepared, { recursive: true, force: true });
  } catch {
    // The folder is none, or cannot be written.
  }
}

function removeEmpty(lock: string): void {
  try {
    rmdirSync(lock);
  } catch {
    // It is not empty, or not there.
  }
}

/** Whether the process of that name still holds its lock. */
async function isHeld(name: string): Promise<boolean> {
  const port = Number(name.split("-")[1]);
  return new Promise((resolve) => {
    let answer = "";
    const socket = connect(port, "127.0.0.1");
    // Once connected: a closed port refuses by itself, however late this process reads that.
    socket.once("connect", () => socket.setTimeout(ANSWER_WITHIN));
    // If this process was busy for that long, the answer is there and comes first.
    socket.once("timeout", () =>
      setImmediate(() => {
        resolve(true);
        socket.destroy();
      }),
    );
    socket.on("data", (chunk: Buffer) => (answer += chunk.toString()));
    // With any other error, such as too many open files, nothing is known of the holder.
    socket.on("error", ({ code }: NodeJS.ErrnoException) => resolve(!GONE.has(code)));
    socket.on("close", () => resolve(answer === name));
  });
}
