import type { ListTasksOptions } from "../../src/index.ts";
import type { Rig } from "./rig.ts";

/** Calls again with the cursor of each answer, until one has none. @returns all answers */
export async function allPages<Page extends { readonly cursor: string | null }>(
  call: (cursor: string | undefined) => Promise<Page>,
): Promise<Page[]> {
  const found: Page[] = [];
  let cursor: string | null | undefined;
  do {
    const page = await call(cursor ?? undefined);
    found.push(page);
    ({ cursor } = page);
  } while (cursor !== null);
  return found;
}

/** The functions that tests of lists share. */
export function paging(rig: Rig) {
  /** The ids of all pages of a list. */
  async function pages(options: ListTasksOptions, between = async () => {}): Promise<string[][]> {
    const found = await allPages(async (cursor) => {
      const page = await rig.operator().list({ ...options, cursor });
      if (cursor !== undefined) await between();
      return page;
    });
    return found.map(({ tasks }) => tasks.map(({ id }) => id));
  }

  const listed = async (options: ListTasksOptions) => (await pages(options)).flat();

  return { pages, listed };
}
