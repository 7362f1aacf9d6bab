import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

/** That of the Python client. */
export const folder = fileURLToPath(new URL("../../../examples/python/", import.meta.url));

/** A program of this folder, which answers each line of JSON with one. */
export class PythonProcess {
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #answers: AsyncIterator<string>;

  constructor(program: string, { url, token }: { url: string; token: string }, ...args: string[]) {
    const env = {
      ...process.env,
      no_proxy: "127.0.0.1",
      PYTHONPATH: folder,
      PYTHONDONTWRITEBYTECODE: "1",
      PYTHONIOENCODING: "utf-8",
      UPSTASH_REDIS_REST_URL: url,
      UPSTASH_REDIS_REST_TOKEN: token,
    };
    this.#child = spawn("python3", [fileURLToPath(new URL(program, import.meta.url)), ...args], { env });
    this.#child.stderr.pipe(process.stderr);
    this.#answers = createInterface(this.#child.stdout)[Symbol.asyncIterator]();
  }

  // oxlint-disable-next-line typescript/no-explicit-any
  async ask(question: unknown): Promise<any> {
    this.#child.stdin.write(`${JSON.stringify(question)}\n`);
    const { value } = await this.#answers.next();
    const answer = JSON.parse(String(value)) as { value?: unknown; failure?: string };
    if (answer.failure) throw new Error(answer.failure);
    return answer.value;
  }

  stop(): void {
    this.#child.kill();
  }
}
