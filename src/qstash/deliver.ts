import type { Task } from "../drain/types.ts";
import type { Message, Publication } from "./message.ts";
import type { Session } from "./session.ts";

export async function deliver(_task: Task<Message | Publication>, _session: Session): Promise<unknown> {
  throw new Error("not yet");
}
