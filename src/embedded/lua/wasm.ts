import { Buffer } from "node:buffer";
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { SluiceError } from "../../errors.ts";

/** The functions and the memory of the Lua interpreter. All addresses are offsets in its memory. */
export interface Lua {
  readonly memory: WebAssembly.Memory;
  /** Runs a chunk with KEYS and ARGV, and writes address and length of the reply to `result`. */
  readonly eval_with_args: (
    result: number,
    script: number,
    scriptLength: number,
    words: number,
    wordsLength: number,
    keys: number,
  ) => void;
  readonly alloc: (size: number) => number;
  readonly free_mem: (address: number) => void;
}

/** What only the start needs. */
interface LuaExports extends Lua {
  readonly __indirect_function_table: WebAssembly.Table;
  readonly __wasm_call_ctors: () => void;
  readonly emscripten_stack_get_current: () => number;
  readonly _emscripten_stack_restore: (pointer: number) => void;
  readonly setThrew: (threw: number, value: number) => void;
  readonly set_compat: (flags: number) => void;
  /** Creates the Lua state. @returns 0 if it could */
  readonly init: () => number;
}

type HostFunction = (result: number, address: number, length: number) => void;

/** What Lua calls in the host: each writes address and length of its reply to `result`. */
export interface LuaHost {
  readonly call: HostFunction;
  readonly pcall: HostFunction;
  readonly sha1: HostFunction;
}

const FILE = "redis_lua.wasm";
/** Of the memory, in pages of 64 KiB. As published it has 1,024 and cannot grow. */
const MOST_PAGES = 16_383;

let compiled: WebAssembly.Module | undefined;

/**
 * The interpreter, compiled once for each process.
 * @throws {SluiceError} `not_installed` if its file is missing
 */
function compile(): WebAssembly.Module {
  return (compiled ??= new WebAssembly.Module(withGrowingMemory(readFileSync(fileOfModule()))));
}

/** Beside the built package; in the sources, in the package that the build copies it from. */
function fileOfModule(): URL | string {
  const beside = new URL(`./${FILE}`, import.meta.url);
  if (existsSync(beside)) return beside;
  try {
    const entry = createRequire(import.meta.url).resolve("lua-redis-wasm");
    return new URL(FILE, pathToFileURL(entry));
  } catch {
    throw new SluiceError(
      "not_installed",
      `the embedded store needs ${FILE}, which is missing from the package`,
    );
  }
}

/**
 * The module with another limit of its memory: 64 MiB are too few for a batch of 10 MB, which exists several
 * times while it is copied into and out of Lua.
 */
function withGrowingMemory(module: Uint8Array): Uint8Array<ArrayBuffer> {
  const bytes = Uint8Array.from(module);
  // Behind the magic number and the version, each section has an identifier and a length.
  for (let at = 8; at < bytes.length;) {
    const section = bytes[at];
    const length = readLeb(bytes, at + 1);
    if (section === MEMORY_SECTION) {
      // One memory with a limit: count, flags, initial pages, most pages.
      const most = readLeb(bytes, length.end + 2).end;
      if (bytes[length.end] !== 1 || bytes[length.end + 1] !== 1 || readLeb(bytes, most).end !== most + 2)
        break;
      bytes.set([(MOST_PAGES & 0x7f) | 0x80, MOST_PAGES >> 7], most);
      return bytes;
    }
    at = length.end + length.value;
  }
  throw new Error(`${FILE} is not the file that this release was made for`);
}

const MEMORY_SECTION = 5;

/** A number of WebAssembly's variable length. */
function readLeb(bytes: Uint8Array, at: number): { value: number; end: number } {
  let [value, shift, end] = [0, 0, at];
  for (;;) {
    const byte = bytes[end] ?? 0;
    end += 1;
    value |= (byte & 0x7f) << shift;
    shift += 7;
    if (byte < 0x80) return { value, end };
  }
}

/** How the interpreter raises a Lua error: C's `longjmp`, of which WebAssembly has none. */
const longJump = Symbol("longjmp");

/**
 * Starts an interpreter. Takes some 5 ms.
 * @throws {SluiceError} `not_installed` if its file is missing
 */
export function startLua(host: LuaHost): Lua {
  const none = () => {
    throw new Error("Lua called a function of the operating system");
  };
  const nothing = (result: number) => Buffer.from(lua.memory.buffer).fill(0, result, result + 8);
  const env = {
    host_redis_call: host.call,
    host_redis_pcall: host.pcall,
    host_sha1hex: host.sha1,
    host_redis_props: nothing,
    host_redis_log: () => {},
    host_redis_setresp: () => {},
    invoke_vii(index: number, first: number, second: number) {
      const stack = stackPointer();
      try {
        (functions.get(index) as (a: number, b: number) => void)(first, second);
      } catch (error) {
        restoreStack(stack);
        if (error !== longJump) throw error;
        setThrew(1, 0);
      }
    },
    _emscripten_throw_longjmp() {
      // oxlint-disable-next-line typescript/only-throw-error -- it is caught above, and must be cheap
      throw longJump;
    },
    emscripten_resize_heap(size: number) {
      try {
        lua.memory.grow(Math.ceil(((size >>> 0) - lua.memory.buffer.byteLength) / 65_536));
        return 1;
      } catch {
        // Lua then raises "not enough memory".
        return 0;
      }
    },
    exit: none,
    __assert_fail: none,
    _abort_js: none,
    __syscall_openat: none,
    __syscall_fcntl64: none,
    __syscall_ioctl: none,
    __syscall_dup3: none,
  };
  const wasi = {
    clock_time_get(_clock: number, _precision: bigint, address: number) {
      new DataView(lua.memory.buffer).setBigUint64(
        address,
        BigInt(Math.round(performance.now() * 1e6)),
        true,
      );
      return 0;
    },
    fd_write: none,
    fd_read: none,
    fd_close: none,
    fd_seek: none,
  };
  const instance = new WebAssembly.Instance(compile(), { env, wasi_snapshot_preview1: wasi });
  const lua = instance.exports as unknown as LuaExports;
  const {
    __indirect_function_table: functions,
    __wasm_call_ctors: construct,
    emscripten_stack_get_current: stackPointer,
    _emscripten_stack_restore: restoreStack,
    setThrew,
  } = lua;
  construct();
  lua.set_compat(0);
  if (lua.init() !== 0) throw new Error("Lua does not start");
  return lua;
}
