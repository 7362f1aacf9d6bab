import type { Buffer } from "node:buffer";

/** Where the interpreter keeps the address of its `lua_State`. */
const STATE = 28_472;
// Where C structs of Lua 5.1 have their members.
const STATE_MEMBERS = { callInfo: 20, savedInstruction: 24, firstCallInfo: 40 } as const;
const CALL_INFO = { function: 4, savedInstruction: 12, size: 24 } as const;
const CLOSURE = { isC: 6, prototype: 16 } as const;
const PROTOTYPE = { code: 12, lines: 20 } as const;

/**
 * The line at which Lua was when it was left by an exception: that of the innermost function that is not of C.
 * @returns empty if no such function ran
 */
export function runningLine(memory: Buffer): string {
  const read = (address: number) => memory.readUInt32LE(address);
  const state = read(STATE);
  const top = read(state + STATE_MEMBERS.callInfo);
  // The first call is none: it is the base of the stack.
  for (let call = top; call > read(state + STATE_MEMBERS.firstCallInfo); call -= CALL_INFO.size) {
    const closure = read(read(call + CALL_INFO.function));
    if (memory[closure + CLOSURE.isC] !== 0) continue;
    const prototype = read(closure + CLOSURE.prototype);
    const next = call === top ? state + STATE_MEMBERS.savedInstruction : call + CALL_INFO.savedInstruction;
    const following = (read(next) - read(prototype + PROTOTYPE.code)) / 4;
    return String(read(read(prototype + PROTOTYPE.lines) + 4 * Math.max(following - 1, 0)));
  }
  return "";
}
