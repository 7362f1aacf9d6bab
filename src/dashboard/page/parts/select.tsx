interface SelectProps {
  readonly label: string;
  readonly value: string | undefined;
  readonly set: (value: string) => void;
  /** The texts of the options, by value. */
  readonly options: Readonly<Record<string, string>>;
}

/** A field that has one of some values. */
export const Select = ({ label, value, set, options }: SelectProps) => (
  <label>
    {label}
    <select value={value} onChange={(event) => set(event.currentTarget.value)}>
      {Object.entries(options).map(([one, text]) => (
        <option key={one} value={one}>
          {text}
        </option>
      ))}
    </select>
  </label>
);
