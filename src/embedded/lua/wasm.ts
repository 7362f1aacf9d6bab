import { Buffer } from "node:buffer";
import { interpreter } from "./interpreter.ts";
import { withLimits } from "./limits.ts";

/** The functions and the memory of the Lua interpreter. All addresses are offsets in its memory. */
export interface Lua {
  readonly memory: WebAssembly.Memory;
  /** How many steps are left; see {@link withLimits}. Below 0 Lua calls {@link LuaHost.outOfSteps}. */
  readonly steps: WebAssembly.Global<"i32">;
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
  /** Must throw. The interpreter cannot be used again. */
  readonly outOfSteps: () => never;
}

/**
 * Bytes of C's stack. As published it has 64 KiB, and calls write beyond it before Lua's limit of 200 calls of C
 * within each other: each call of `string.gsub` takes 1.4 KiB.
 */
const STACK = 1024 * 1024;

let compiled: WebAssembly.Module | undefined;

/** The interpreter, compiled once for each process. */
function compile(): WebAssembly.Module {
  return (compiled ??= new WebAssembly.Module(withLimits(interpreter())));
}

/** How the interpreter raises a Lua error: C's `longjmp`, of which WebAssembly has none. */
const longJump = Symbol("longjmp");

/** Starts an interpreter. Takes some 5 ms. */
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
    _abort_js: () => (lua.steps.value < 0 ? host.outOfSteps() : none()),
    exit: none,
    __assert_fail: none,
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
  // C's stack begins at its end, at a multiple of 16: else numbers are formatted wrongly.
  restoreStack((lua.alloc(STACK) + STACK) & -16);
  lua.set_compat(0);
  if (lua.init() !== 0) throw new Error("Lua does not start");
  return lua;
}
