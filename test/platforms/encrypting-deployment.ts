import { encryption } from "../../src/features/encryption/aes-gcm.ts";
import type { ServiceOptions } from "../../serverless/cloudflare.ts";

export interface Env {
  /** 32 bytes in base64. */
  readonly NOTES_KEY: string;
}

const notes = ({ NOTES_KEY }: Env) => encryption({ keys: { k: NOTES_KEY }, current: "k" });

/** Enqueues and works on tasks that only deployments with its key can read. Imports nothing of Node. */
export const encrypting: ServiceOptions<Env> = {
  consumers: { notes: { encryption: notes, batch: 50, handler: ({ payload }) => payload } },
  async fetch(request, { env, queue }) {
    const payload: unknown = await request.json();
    return Response.json(await queue("notes", { encryption: notes(env) }).enqueue(payload));
  },
};
