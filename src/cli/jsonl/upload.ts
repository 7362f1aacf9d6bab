import { messageOf, SluiceError } from "../../errors.ts";
import type { NewTask } from "../../queue/core/types.ts";
import { progressLine } from "../output/progress-bar.ts";
import type { Session } from "../session.ts";
import { type Input, jsonLines, type Line } from "./lines.ts";
import { keepProgress, readProgress } from "./resume-file.ts";

/** Most tasks, and about most bytes, of one request. */
const MOST_TASKS = 500;
const MOST_BYTES = 4_000_000;

export interface UploadOptions {
  readonly queue: string;
  readonly input: Input;
  /** Makes the task of a line. */
  readonly taskOf: (line: Line) => NewTask<unknown>;
  /** The file that keeps how far the upload is. */
  readonly resume: string | undefined;
}

/**
 * Enqueues a task for each line. A task without an id gets one from the upload's key and its line, so that a second
 * try of the same lines enqueues none twice.
 * @throws the error of the line or request at which it stopped; the message says how to continue
 */
export async function upload(session: Session, options: UploadOptions): Promise<void> {
  const { queue, input, taskOf, resume } = options;
  const { api, out } = session;
  let progress = readProgress(resume, queue);
  const { key, lines: skipped } = progress;
  const since = performance.now();
  const counts = { enqueued: 0, known: 0 };
  let lines: Line[] = [];
  const flush = async () => {
    const last = lines.at(-1);
    if (!last) return;
    const tasks = lines.map((line) => {
      const task = taskOf(line);
      return { ...task, id: task.id ?? `${key}-${line.number}` };
    });
    const results = await api
      .run((request) => api.queue(queue).enqueueMany(tasks, request))
      .catch((error: unknown) => {
        throw withLine(error, lines);
      });
    const created = results.filter((result) => result.created).length;
    counts.enqueued += created;
    counts.known += results.length - created;
    progress = { ...progress, lines: last.number };
    if (resume !== undefined) keepProgress(resume, progress);
    const share = input.size === undefined ? undefined : Math.min(1, last.bytes / input.size);
    out.progress(progressLine(counts.enqueued + counts.known, { since, share }));
    lines = [];
  };
  try {
    for await (const line of jsonLines(input.stream)) {
      if (line.number <= skipped) continue;
      if (lines.length >= MOST_TASKS || line.bytes - (lines[0]?.bytes ?? line.bytes) > MOST_BYTES)
        await flush();
      lines.push(line);
    }
    await flush();
  } catch (error) {
    out.progress("");
    out.note(stopped(progress.lines, resume));
    throw error;
  }
  out.progress("");
  const earlier = skipped > 0 ? ` ${skipped} lines had been enqueued before.` : "";
  const known = counts.known > 0 ? ` ${counts.known} were known by their ids.` : "";
  out.value(
    { queue, ...counts, skipped },
    `Enqueued ${counts.enqueued} tasks in ${queue}.${known}${earlier}`,
  );
}

/** The error of a request, with the line of the input instead of the place in the request. */
function withLine(error: unknown, lines: readonly Line[]): unknown {
  const place = error instanceof SluiceError ? /^tasks\[(\d+)\]\.?(.*)$/.exec(error.path ?? "") : null;
  const line = place && lines[Number(place[1])];
  if (!line) return error;
  const message = messageOf(error).replace(/^.*?tasks\[\d+\]\.?/, "");
  return new SluiceError("invalid_argument", `line ${line.number}: ${message}`);
}

function stopped(lines: number, resume: string | undefined): string {
  if (resume !== undefined)
    return `Stopped. ${lines} lines are enqueued. To continue, run the same command with the same input again.`;
  return `Stopped. ${lines} lines are enqueued. The next time, add --resume <file> to be able to continue.`;
}
