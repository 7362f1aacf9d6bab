import type { ListTasksOptions } from "../../src/index.ts";
import type { Rig } from "./rig.ts";

/** The functions that tests of lists share. */
export function paging(rig: Rig) {
  /** The ids of all pages of a list. */
  async function pages(options: ListTasksOptions, between = async () => {}): Promise<string[][]> {
    const found: string[][] = [];
    let cursor: string | undefined;
    do {
      const page = await rig.operator().list({ ...options, cursor });
      found.push(page.tasks.map(({ id }) => id));
      cursor = page.cursor ?? undefined;
      await between();
    } while (cursor !== undefined);
    return found;
  }

  const listed = async (options: ListTasksOptions) => (await pages(options)).flat();

  return { pages, listed };
}
