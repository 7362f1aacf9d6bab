import { defineQueue } from "sluice-queue";

type Env = { SHOP_URL: string };
type Progress = { done: number };

// One attempt may take 50 minutes. The next one continues where it stopped.
export const imports = defineQueue<{ pages: number }>("imports", { lease: "1m", timeout: "50m" });

export const runImport = imports.consumer(
  async ({ id, payload: { pages }, attempt, signal, extend }, env: Env, { queue }) => {
    // A later attempt continues where the last one reported.
    const last = attempt > 1 ? await queue(imports).get(id) : null;
    const { done } = (last?.progress ?? { done: 0 }) as Progress;
    for (let page = done; page < pages; page++) {
      signal.throwIfAborted();
      const copied = await fetch(`${env.SHOP_URL}?page=${page}`, { method: "POST", signal });
      if (!copied.ok) throw new Error(`HTTP ${copied.status}`);
      await extend("1m", { progress: { done: page + 1 } });
    }
    return { pages };
  },
);
