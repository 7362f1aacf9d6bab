import type { ComponentChildren } from "preact";
import { useId, useLayoutEffect, useRef, useState } from "preact/hooks";

interface DialogProps {
  readonly title: string;
  readonly children: ComponentChildren;
  readonly onClose: () => void;
}

/** A modal dialog of the browser: it keeps the focus, Escape closes it, and then the focus returns. */
export function Dialog({ title, children, onClose }: DialogProps) {
  const ref = useRef<HTMLDialogElement>(null);
  const heading = useId();
  // Before the browser draws, so that no key press is lost.
  useLayoutEffect(() => {
    const before = document.activeElement;
    const dialog = ref.current;
    dialog?.showModal();
    return () => {
      // While it is open, nothing outside of it can have the focus.
      dialog?.close();
      if (before instanceof HTMLElement) before.focus();
    };
  }, []);
  return (
    <dialog ref={ref} aria-labelledby={heading} onClose={onClose}>
      <h2 id={heading}>{title}</h2>
      {children}
    </dialog>
  );
}

interface ConfirmProps {
  readonly title: string;
  /** What will happen. */
  readonly children: ComponentChildren;
  /** The text of the button that does it. */
  readonly action: string;
  readonly danger?: boolean;
  readonly run: () => Promise<unknown>;
  readonly onDone: () => void;
  readonly onClose: () => void;
}

/** Asks before something is done, and shows why it failed. */
export function Confirm({ title, children, action, danger, run, onDone, onClose }: ConfirmProps) {
  const { busy, error, start } = useAction(run, () => {
    onDone();
    onClose();
  });
  return (
    <Dialog title={title} onClose={onClose}>
      {children}
      <Failure error={error} />
      <div class="buttons">
        <button type="button" onClick={onClose}>
          Back
        </button>
        <button type="button" class={danger ? "danger" : "primary"} disabled={busy} onClick={start}>
          {busy ? "Working…" : action}
        </button>
      </div>
    </Dialog>
  );
}

/** Runs something once at a time, and keeps its error. */
export function useAction(run: () => Promise<unknown>, onDone: () => void = () => {}) {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<string | undefined>();
  const start = () => {
    if (busy) return;
    setBusy(true);
    setError(undefined);
    run().then(
      () => {
        setBusy(false);
        onDone();
      },
      (failure: unknown) => {
        setBusy(false);
        setError(failure instanceof Error ? failure.message : String(failure));
      },
    );
  };
  return { busy, error, start };
}

export function Failure({ error }: { readonly error: string | undefined }) {
  return (
    <p class="failure" role="alert" hidden={error === undefined}>
      {error}
    </p>
  );
}
