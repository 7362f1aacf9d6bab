import type { ListTasksOptions } from "../../src/index.ts";
import type { Rig } from "./rig.ts";

/** What tests of lists do with a rig. */
export function paging(rig: Rig) {
  /** All pages of a list: their ids. */
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
