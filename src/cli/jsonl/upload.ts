import { SluiceError } from "../../errors.ts";
import type { Enqueued, NewTask } from "../../kernel/options/types.ts";
import { UsageError } from "../exit.ts";
import { counted } from "../../counted.ts";
import { progressLine } from "../output/progress-bar.ts";
import type { Session } from "../session.ts";
import { noteNewQueue, unknownQueue } from "../unknown-queue.ts";
import { noteWake } from "../wake-note.ts";
import { type Input, jsonLines, type Line } from "./lines.ts";
import { withLine } from "./line-error.ts";
import { ResumeFile } from "./resume-file.ts";

/** Most tasks, and about most bytes, of one request. */
const MOST_TASKS = 500;
const MOST_BYTES = 4_000_000;

/**
 * How long the ids of an upload that can continue are refused, ms. Without it, tasks of the last request could come
 * again after their records have expired.
 */
const UNIQUE = 86_400_000;

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
 * @throws the error of the line or request at which it stopped; a note says how to continue
 */
export async function upload(session: Session, options: UploadOptions): Promise<void> {
  const { queue, input, resume } = options;
  const { out } = session;
  const progress = new ResumeFile(resume, queue);
  const unknown = await unknownQueue(session, queue);
  const earlier = progress.lines;
  const counts = { enqueued: 0, known: 0 };
  const since = performance.now();
  let begin = 0;
  let lines: Line[] = [];
  let bytes = 0;
  const flush = async () => {
    progress.check();
    const last = lines.at(-1);
    if (!last) return;
    progress.checkAge(UNIQUE);
    const results = await enqueue(session, options, lines, progress.key);
    const created = results.filter((result) => result.created).length;
    counts.enqueued += created;
    counts.known += results.length - created;
    progress.take(lines);
    const share = input.size && Math.min(1, (last.end - begin) / (input.size - begin));
    out.progress(progressLine(counts.enqueued + counts.known, { since, share }));
    lines = [];
    bytes = 0;
  };
  try {
    for await (const line of jsonLines(input.stream)) {
      if (line.number <= earlier) {
        progress.skip(line);
        begin = line.end;
        continue;
      }
      if (lines.length >= MOST_TASKS || bytes + line.bytes > MOST_BYTES) await flush();
      lines.push(line);
      bytes += line.bytes;
    }
    await flush();
  } catch (error) {
    out.progress("");
    if (!(error instanceof UsageError)) out.note(stopped(progress.lines, lines, error, resume));
    throw error;
  }
  out.progress("");
  const known =
    counts.known === 0
      ? ""
      : ` ${counts.known} ${counts.known === 1 ? "was known by its id" : "were known by their ids"}.`;
  const before = earlier > 0 ? ` ${counted(earlier, "line")} had been enqueued before.` : "";
  out.value(
    { queue, ...counts, skipped: earlier },
    `Enqueued ${counted(counts.enqueued, "task")} in ${queue}.${known}${before}`,
  );
  if (counts.enqueued > 0) noteNewQueue(session, queue, unknown);
  noteWake(session);
}

async function enqueue(
  { api }: Session,
  { queue, taskOf, resume }: UploadOptions,
  lines: readonly Line[],
  key: string,
): Promise<Enqueued[]> {
  const tasks = lines.map((line): NewTask<unknown> => {
    const { id = `${key}-${line.number}`, ...task } = taskOf(line);
    const unique = task.unique ?? (resume === undefined || task.again ? undefined : UNIQUE);
    return { ...task, id, unique };
  });
  try {
    return await api.run((request) => api.queue(queue).enqueueMany(tasks, request));
  } catch (error) {
    throw withLine(error, lines);
  }
}

/** After these errors the lines of the last request may be enqueued. */
const UNSURE: ReadonlySet<string> = new Set([
  "unreachable",
  "redis_unreachable",
  "unexpected_reply",
  "aborted",
]);

/** What is enqueued, and how to continue. */
function stopped(done: number, lines: readonly Line[], error: unknown, resume: string | undefined): string {
  const isUnsure = error instanceof SluiceError && UNSURE.has(error.code) && lines.length > 0;
  const perhaps = isUnsure ? `; those up to ${lines.at(-1)?.number} may be` : "";
  const none = `No line is ${isUnsure ? "known to be " : ""}enqueued`;
  const found = (done === 0 ? none : `Lines 1 to ${done} are enqueued`) + perhaps;
  if (resume !== undefined)
    return `${found}. To continue, run the same command again: it enqueues no line twice.`;
  if (done === 0) return `${found}.`;
  return `${found}. To continue, begin with line ${done + 1}, such as with tail -n +${done + 1}.`;
}
