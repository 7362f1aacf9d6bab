import type { ComponentChildren } from "preact";
import { useEffect, useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import { announce } from "./notice.tsx";

interface DialogProps {
  readonly title: string;
  readonly children: ComponentChildren;
  readonly onClose: () => void;
}

/** A modal dialog of the browser: it keeps the focus, Escape closes it, and then the focus returns. */
export function Dialog({ title, children, onClose }: DialogProps) {
  const ref = useRef<HTMLDialogElement>(null);
  const latest = useRef(onClose);
  latest.current = onClose;
  const heading = useId();
  // Before the browser draws, so that no key press is lost.
  useLayoutEffect(() => {
    const before = document.activeElement;
    const dialog = ref.current;
    // Escape cancels. The event `close` may come only after the next key press.
    const close = (event: Event) => {
      event.preventDefault();
      latest.current();
    };
    for (const name of ["cancel", "close"]) dialog?.addEventListener(name, close);
    dialog?.showModal();
    return () => {
      // The `close` of this dialog would come when another one may be open.
      for (const name of ["cancel", "close"]) dialog?.removeEventListener(name, close);
      // While it is open, nothing outside of it can have the focus.
      dialog?.close();
      if (before instanceof HTMLElement) before.focus();
    };
  }, []);
  return (
    <dialog ref={ref} aria-labelledby={heading}>
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
  /** Why it cannot be done. */
  readonly refused?: string | undefined;
  /** Whether closing the dialog stops what has begun. */
  readonly stops?: boolean;
  readonly run: () => Promise<unknown>;
  /** Is not called if the dialog was closed meanwhile. */
  readonly onDone?: () => void;
  readonly onClose: () => void;
}

/** Asks before something is done, and shows why it failed. */
export function Confirm({ title, children, action, danger, refused, stops, ...calls }: ConfirmProps) {
  const { run, onDone, onClose } = calls;
  const { busy, error, start } = useAction(run, () => {
    onDone?.();
    onClose();
  });
  return (
    <Dialog title={title} onClose={onClose}>
      {children}
      <Failure error={refused ?? error} />
      <div class="buttons">
        <button type="button" onClick={onClose}>
          {busy && stops ? "Stop" : "Back"}
        </button>
        <button
          type="button"
          class={danger ? "danger" : "primary"}
          disabled={busy || refused !== undefined}
          onClick={start}
        >
          {busy ? "Working…" : action}
        </button>
      </div>
    </Dialog>
  );
}

/** Whether the component is still shown, for what is answered later. */
export function useShown(): { readonly current: boolean } {
  const shown = useRef(true);
  useEffect(
    () => () => {
      shown.current = false;
    },
    [],
  );
  return shown;
}

/** What a dialog reads before it opens. If that fails, the failure is announced, and the dialog closed. */
export function useRead<Value>(read: () => Promise<Value>, onClose: () => void): Value | undefined {
  const [found, setFound] = useState<Value | undefined>();
  const shown = useShown();
  useEffect(() => {
    read().then(setFound, (failure: unknown) => {
      announce(messageOf(failure));
      if (shown.current) onClose();
    });
    // Once: a dialog is of one thing.
  }, []);
  return found;
}

/** Why something failed, in words for the viewer. */
export const messageOf = (failure: unknown) => (failure instanceof Error ? failure.message : String(failure));

/**
 * Runs something once at a time, and keeps its error. If the component is gone before the end, `onDone` is not
 * called, and an error is announced.
 */
export function useAction(run: () => Promise<unknown>, onDone: () => void = () => {}) {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<string | undefined>();
  const shown = useShown();
  const start = () => {
    if (busy) return;
    setBusy(true);
    setError(undefined);
    run().then(
      () => {
        if (!shown.current) return;
        setBusy(false);
        onDone();
      },
      (failure: unknown) => {
        if (!shown.current) {
          announce(messageOf(failure));
          return;
        }
        setBusy(false);
        setError(messageOf(failure));
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
