import type { createClient } from "@redis/client";

/** CPU time that a Redis has used so far, µs. */
export async function redisCpu(control: Pick<ReturnType<typeof createClient>, "info">): Promise<number> {
  const info = await control.info("cpu");
  return (
    [...info.matchAll(/^used_cpu_(?:sys|user):([\d.]+)/gm)].reduce((sum, [, s]) => sum + Number(s), 0) * 1e6
  );
}
