import { useEffect, useState } from "preact/hooks";

/** How long nobody types before something is asked. */
const quietMs = 250;

/** A text to search for. `/` leads to it from anywhere. */
export function Search({
  label,
  value,
  onSearch,
}: {
  readonly label: string;
  readonly value: string;
  readonly onSearch: (value: string) => void;
}) {
  const [text, setText] = useState(value);
  useEffect(() => setText(value), [value]);
  useEffect(() => {
    if (text === value) return;
    const timer = setTimeout(() => onSearch(text), quietMs);
    return () => clearTimeout(timer);
  }, [text]);
  return (
    <label class="search">
      <span>{label}</span>
      <input type="search" data-search value={text} onInput={(event) => setText(event.currentTarget.value)} />
    </label>
  );
}

/** One of a few. */
export function Choice({
  label,
  value,
  of,
  onChoose,
}: {
  readonly label: string;
  readonly value: string;
  readonly of: readonly (readonly [value: string, text: string])[];
  readonly onChoose: (value: string) => void;
}) {
  return (
    <label class="choice">
      <span>{label}</span>
      <select value={value} onChange={(event) => onChoose(event.currentTarget.value)}>
        {of.map(([one, text]) => (
          <option key={one} value={one}>
            {text}
          </option>
        ))}
      </select>
    </label>
  );
}
