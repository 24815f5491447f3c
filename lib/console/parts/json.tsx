import { useMemo, useState } from "preact/hooks";

/** Lines that lie in one block: blocks that nobody sees cost the browser nothing. */
const blockLines = 200;

/** A JSON text for people: with lines where it is whole, as it came where it is not. */
export function Json({ text, isWhole }: { readonly text: string; readonly isWhole: boolean }) {
  const [isCopied, setCopied] = useState(false);
  const blocks = useMemo(() => blocksOf(isWhole ? pretty(text) : text), [text, isWhole]);
  const copy = async () => {
    await navigator.clipboard.writeText(isWhole ? pretty(text) : text);
    setCopied(true);
  };
  return (
    <div class="json">
      {isSecureContext ? (
        <button type="button" class="copy" onClick={copy}>
          {isCopied ? "Copied" : "Copy"}
        </button>
      ) : null}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: who has no mouse scrolls it by keys */}
      <section class="code" tabIndex={0} aria-label="JSON">
        {blocks.map((block, i) => (
          <pre key={i}>{block}</pre>
        ))}
      </section>
    </div>
  );
}

function pretty(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), undefined, 2);
  } catch {
    return text;
  }
}

function blocksOf(text: string): readonly string[] {
  const lines = text.split("\n");
  return Array.from({ length: Math.ceil(lines.length / blockLines) }, (_, i) =>
    lines.slice(i * blockLines, (i + 1) * blockLines).join("\n"),
  );
}
