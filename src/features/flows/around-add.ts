import type { AddHeaders, AddHooks } from "../../kernel/hooks.ts";

/** What a call has added; nothing if it was refused. */
interface Added {
  readonly created?: boolean;
  readonly tasks?: Readonly<Record<string, string>>;
}

/**
 * Traces a call that adds tasks of a flow: as one enqueue, of the queue of the first task, whose context all of them get.
 * @param add adds them, with these headers. @default none
 */
export async function aroundAdd<R extends object>(
  hooks: AddHooks | undefined,
  call: Parameters<AddHooks["adding"]>[0],
  add: (addHeaders?: AddHeaders) => Promise<R>,
): Promise<R> {
  if (!hooks) return add();
  let added: R | undefined;
  await hooks.adding(call, async (addHeaders) => {
    added = await add(addHeaders);
    const { created = false, tasks = {} } = added as Added;
    return Object.values(tasks).map((id) => ({ id, created }));
  });
  return added as R;
}
