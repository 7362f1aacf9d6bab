/** Something that only the reader can put right: shown without a stack. */
export class StackError extends Error {
  override readonly name = "StackError";
}
