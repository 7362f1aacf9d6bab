import { keptFlag, useStore } from "../store.ts";

interface SwitchProps {
  readonly label: string;
  readonly of: ReturnType<typeof keptFlag>;
  /** The texts of the buttons. */
  readonly off: string;
  readonly on: string;
}

/** Two buttons, one of which is pressed, for a flag that the page keeps. */
export function Switch({ label, of, ...texts }: SwitchProps) {
  const value = useStore(of);
  return (
    <div class="choice" role="group" aria-label={label}>
      {[false, true].map((one) => (
        <button key={String(one)} type="button" aria-pressed={value === one} onClick={() => of.set(one)}>
          {one ? texts.on : texts.off}
        </button>
      ))}
    </div>
  );
}
