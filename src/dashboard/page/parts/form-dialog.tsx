import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";
import { Dialog, Failure, useAction } from "./dialog.tsx";

interface FormDialogProps {
  readonly title: string;
  readonly children: ComponentChildren;
  /** The text of the button that sends the form. */
  readonly action: string;
  /** Whether the fields cannot be sent as they are; the form says why. */
  readonly invalid?: boolean;
  readonly run: () => Promise<unknown>;
  readonly onClose: () => void;
}

/** A dialog with fields. It closes when they were sent, and otherwise shows why not. */
export function FormDialog({ title, children, action, invalid = false, run, onClose }: FormDialogProps) {
  const { busy, error, start } = useAction(run, onClose);
  return (
    <Dialog title={title} onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (!invalid) start();
        }}
      >
        {children}
        <Failure error={error} />
        <div class="buttons">
          <button type="button" onClick={onClose}>
            Back
          </button>
          <button type="submit" class="primary" disabled={busy || invalid}>
            {busy ? "Working…" : action}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

interface FieldProps {
  readonly label: string;
  readonly value: string;
  readonly set: (text: string) => void;
  /** What an empty field means, or an example. */
  readonly hint?: string;
  /** What is wrong with the text. */
  readonly fault?: string | undefined;
}

export function Field({ label, value, set, hint, fault }: FieldProps) {
  const id = useId();
  const isWrong = fault !== undefined;
  return (
    <div class="field">
      <label>
        {label}
        <input
          value={value}
          placeholder={hint}
          aria-invalid={isWrong}
          aria-describedby={isWrong ? id : undefined}
          onInput={(event) => set(event.currentTarget.value)}
        />
      </label>
      <p class="failure" id={id} role="alert" hidden={!isWrong}>
        {fault}
      </p>
    </div>
  );
}

/** A field of JSON, and what is wrong with its text. */
export function JsonField({ label, value, set, isBytes }: FieldProps & { readonly isBytes: boolean }) {
  const fault = isBytes ? undefined : jsonFault(value);
  return (
    <>
      <label>
        {isBytes ? `${label}, bytes in base64` : `${label}, JSON`}
        <textarea
          rows={8}
          spellcheck={false}
          value={value}
          aria-invalid={fault !== undefined}
          onInput={(event) => set(event.currentTarget.value)}
        />
      </label>
      <p class="failure" role="alert" hidden={fault === undefined}>
        The payload is not JSON: {fault}
      </p>
    </>
  );
}

/** Why a text is not JSON; undefined if it is. */
export function jsonFault(text: string): string | undefined {
  try {
    JSON.parse(text);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
