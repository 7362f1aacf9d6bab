import { announce } from "../parts/notice.tsx";
import { taskLink } from "../router.ts";

/** Says that a task was enqueued, with a link to it. */
export const announceEnqueued = (queue: string, id: string) =>
  announce(
    <>
      Enqueued as <a href={taskLink(queue, id)}>{id}</a>.
    </>,
  );
