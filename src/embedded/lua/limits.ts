const FORM = "the file of the interpreter is not the one that this release was made for";

/** Of the memory, in pages of 64 KiB. As published it has 1,024 and cannot grow. */
const MOST_PAGES = 16_383;

/**
 * The export that counts down the steps that are left: a 32-bit number, at first the largest one. Below 0, the module
 * calls C's `abort`.
 */
const STEPS = "steps";

const SECTION = { function: 3, memory: 5, global: 6, export: 7, code: 10 } as const;
/** The functions of the module, without those that it imports, which have the first numbers. */
const [FUNCTIONS, IMPORTED] = [511, 21];
/** The number of the imported function `env._abort_js`. */
const ABORT = 9;
/** The number of the global that counts the steps, behind the two of the module. */
const COUNTER = 2;
/** The number of a function behind all others, which counts the bytes that one instruction copies or fills. */
const COUNT_BYTES = IMPORTED + FUNCTIONS;
/** Such an instruction takes a step for each 2^4 bytes. */
const BYTES_OF_STEP_LOG2 = 4;

// Instructions of WebAssembly, and the type and the block behind some of them.
const [I32, EMPTY] = [0x7f, 0x40];
const [LOOP, IF, END, BR_TABLE, CALL, CALL_INDIRECT, SELECT_TYPED] = [3, 4, 0x0b, 0x0e, 0x10, 0x11, 0x1c];
const [LOCAL_GET, GLOBAL_GET, GLOBAL_SET, FIRST_LOAD, LAST_STORE] = [0x20, 0x23, 0x24, 0x28, 0x3e];
const [I32_CONST, F32_CONST, F64_CONST, I32_LT_S, I32_SUB, I32_SHR_U] = [0x41, 0x43, 0x44, 0x48, 0x6b, 0x76];
const [LAST_NUMERIC, LONG, MEMORY_COPY, MEMORY_FILL] = [0xc4, 0xfc, 10, 11];

/** For each instruction, how many numbers are behind it. */
const NUMBERS = new Uint8Array(256);
/** In place of their count: something else is behind it, or the interpreter does not use it. */
const SPECIAL = 0xff;
NUMBERS.fill(SPECIAL)
  .fill(0, F64_CONST + 1, LAST_NUMERIC + 1)
  .fill(2, FIRST_LOAD, LAST_STORE + 1);
for (const alone of [0, 1, 5, END, 0x0f, 0x1a, 0x1b]) NUMBERS[alone] = 0;
// Blocks, branches, a call, variables, the size of the memory, constants.
for (const code of [2, LOOP, IF, 0x0c, 0x0d, CALL, 0x20, 0x21, 0x22, 0x23, 0x24, 0x3f, 0x40, 0x41, 0x42]) {
  NUMBERS[code] = 1;
}
NUMBERS[CALL_INDIRECT] = 2;

// prettier-ignore
const COUNT_STEP = Uint8Array.of(
  GLOBAL_GET, COUNTER, I32_CONST, 1, I32_SUB, GLOBAL_SET, COUNTER,
  GLOBAL_GET, COUNTER, I32_CONST, 0, I32_LT_S, IF, EMPTY, CALL, ABORT, END,
);
/** Takes a number of bytes from the stack, and leaves it there. */
const CALL_COUNT_BYTES = Uint8Array.of(CALL, ...leb(COUNT_BYTES));
// prettier-ignore
const COUNT_BYTES_BODY = Uint8Array.of(
  0, GLOBAL_GET, COUNTER, LOCAL_GET, 0, I32_CONST, BYTES_OF_STEP_LOG2, I32_SHR_U, I32_SUB, GLOBAL_SET, COUNTER,
  LOCAL_GET, 0, END,
);

/**
 * The module of the interpreter with other limits.
 *
 * - Its memory can grow: 64 MiB are too few for a batch of 10 MB, which exists several times while it is copied into
 *   and out of Lua.
 * - Its steps are counted: each turn of each loop in its code, and each 16 bytes that one instruction copies. So no
 *   function of Lua can run for ever, such as `string.find` with a pattern that must try all ways to match.
 */
export function withLimits(module: Uint8Array): Uint8Array<ArrayBuffer> {
  const at = new Cursor(module, 8);
  const parts: Uint8Array[] = [module.subarray(0, 8)];
  while (at.place < module.length) {
    const id = at.byte();
    const content = at.take(at.number());
    const changed = changedSection(id, content);
    parts.push(Uint8Array.of(id, ...leb(changed.length)), changed);
  }
  return joined(parts);
}

function changedSection(id: number, content: Uint8Array): Uint8Array {
  const at = new Cursor(content, 0);
  const count = at.number();
  const rest = content.subarray(at.place);
  const oneMore = (...item: number[]) => joined([leb(count + 1), rest, Uint8Array.from(item)]);
  if (id === SECTION.memory) {
    // One memory with a limit: flags, initial pages, most pages.
    if (count !== 1 || at.byte() !== 1) throw new Error(FORM);
    return Uint8Array.of(1, 1, ...leb(at.number()), ...leb(MOST_PAGES));
  }
  if (id === SECTION.function) {
    if (count !== FUNCTIONS) throw new Error(FORM);
    // The first of all types is that of a function from i32 to i32.
    return oneMore(0);
  }
  if (id === SECTION.global) {
    if (count !== COUNTER) throw new Error(FORM);
    return oneMore(I32, 1, I32_CONST, 0xff, 0xff, 0xff, 0xff, 0x07, END);
  }
  if (id === SECTION.export) {
    return oneMore(STEPS.length, ...STEPS.split("").map((letter) => letter.charCodeAt(0)), 3, COUNTER);
  }
  if (id !== SECTION.code) return content;
  const bodies: Uint8Array[] = [leb(count + 1)];
  for (let left = count; left > 0; left--) {
    const body = counting(at.take(at.number()));
    bodies.push(leb(body.length), body);
  }
  return joined([...bodies, leb(COUNT_BYTES_BODY.length), COUNT_BYTES_BODY]);
}

/** The body of a function, with steps counted. */
function counting(body: Uint8Array): Uint8Array {
  const locals = new Cursor(body, 0);
  for (let groups = locals.number(); groups > 0; groups--) locals.skip(2);
  const parts: Uint8Array[] = [];
  let copied = 0;
  const insert = (place: number, code: Uint8Array) => {
    parts.push(body.subarray(copied, place), code);
    copied = place;
  };
  // This loop has few calls: it goes through 80,000 instructions while the code is cold.
  for (let place = locals.place; place < body.length;) {
    const begin = place;
    const code = body[place++] ?? 0;
    const numbers = NUMBERS[code] ?? SPECIAL;
    if (numbers === SPECIAL) {
      const at = new Cursor(body, place);
      if (skipSpecial(at, code)) insert(begin, CALL_COUNT_BYTES);
      ({ place } = at);
    } else for (let left = numbers; left > 0; left--) while ((body[place++] ?? 0) >= 0x80);
    if (code === LOOP) insert(place, COUNT_STEP);
  }
  return joined([...parts, body.subarray(copied)]);
}

/** @returns whether it copies or fills memory */
function skipSpecial(at: Cursor, code: number): boolean {
  if (code === BR_TABLE) at.skip(at.number() + 1);
  else if (code === SELECT_TYPED) at.skip(at.number());
  else if (code === F32_CONST) at.take(4);
  else if (code === F64_CONST) at.take(8);
  else if (code === LONG) {
    const long = at.number();
    if (long === MEMORY_COPY) at.skip(2);
    else if (long === MEMORY_FILL) at.skip(1);
    // Those below 8 convert numbers.
    else if (long >= 8) throw new Error(FORM);
    return long >= 8;
  } else throw new Error(FORM);
  return false;
}

/** A place in bytes that are read one after the other. */
class Cursor {
  readonly #bytes: Uint8Array;
  place: number;

  constructor(bytes: Uint8Array, place: number) {
    this.#bytes = bytes;
    this.place = place;
  }

  byte(): number {
    return this.#bytes[this.place++] ?? 0;
  }

  take(length: number): Uint8Array {
    this.place += length;
    return this.#bytes.subarray(this.place - length, this.place);
  }

  skip(numbers: number): void {
    for (let left = numbers; left > 0; left--) this.number();
  }

  /** A number of WebAssembly's variable length, without its sign. */
  number(): number {
    for (let value = 0, shift = 0; ; shift += 7) {
      const byte = this.byte();
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  }
}

function leb(value: number): Uint8Array {
  const bytes: number[] = [];
  for (let rest = value; ; rest >>>= 7) {
    if (rest < 0x80) return Uint8Array.of(...bytes, rest);
    bytes.push((rest & 0x7f) | 0x80);
  }
}

function joined(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(parts.reduce((size, part) => size + part.length, 0));
  let place = 0;
  for (const part of parts) {
    bytes.set(part, place);
    place += part.length;
  }
  return bytes;
}
