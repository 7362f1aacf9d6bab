import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { EmbeddedDatabase } from "../../embedded/database.ts";
import { InvalidSnapshot } from "../../embedded/snapshot.ts";
import { StackError } from "./stack-error.ts";

/** How often changed data is written, ms. A crash loses at most what changed since then. */
const SAVE_EVERY = 5_000;

/** The file of the data in its folder. */
export const SNAPSHOT = "sluice.snapshot";

/** An embedded database whose data is kept in a file. */
export interface KeptDatabase {
  readonly database: EmbeddedDatabase;
  /**
   * Writes the data, and stops writing it.
   * @throws {StackError} if it cannot be written; the file is as it was last written
   */
  close(): void;
}

/**
 * Opens an embedded database with the data of a folder. Every five seconds changed data replaces the file as a whole,
 * so that a crash leaves the file as it was last written.
 * @param folder is created if it is missing
 * @param log called with a line if the file cannot be written
 * @throws {StackError} if the file is damaged or of another release
 */
export function openKeptDatabase(folder: string, log: (line: string) => void): KeptDatabase {
  mkdirSync(folder, { recursive: true });
  const file = join(folder, SNAPSHOT);
  const database = openDatabase(file);
  let saved = database.writes;
  let saving = false;
  const save = async () => {
    if (saving || database.writes === saved) return;
    saving = true;
    const { writes } = database;
    try {
      await writeFile(`${file}.new`, database.snapshot());
      await rename(`${file}.new`, file);
      saved = writes;
    } catch (error) {
      log(`the data is not saved: ${String(error)}`);
    }
    saving = false;
  };
  const timer = setInterval(() => void save(), SAVE_EVERY);
  timer.unref();
  return {
    database,
    close() {
      clearInterval(timer);
      // To another file, because a save may be under way.
      const last = `${file}.last`;
      try {
        writeFileSync(last, database.snapshot());
        renameSync(last, file);
      } catch (error) {
        rmSync(last, { recursive: true, force: true });
        throw new StackError(`what changed since the last save is not saved: ${String(error)}`);
      }
    },
  };
}

function openDatabase(file: string): EmbeddedDatabase {
  if (!existsSync(file)) return new EmbeddedDatabase();
  try {
    return new EmbeddedDatabase({ snapshot: readFileSync(file) });
  } catch (error) {
    if (error instanceof InvalidSnapshot) throw new StackError(`${file}: ${error.message}`);
    throw error;
  }
}
