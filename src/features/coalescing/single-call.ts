/** The call of one caller. */
export interface SingleCall<Item, Answer> {
  readonly item: Item;
  readonly signal: AbortSignal | undefined;
  readonly resolve: (answer: Answer | Promise<Answer>) => void;
  readonly reject: (error: unknown) => void;
}
