import { useMemo, useState } from "preact/hooks";
import { type Column, type Edge, itemHeight, type Line, layOut } from "./layout.ts";

/** Columns of things to press, and curves between them. What the curves say, the things say too: they are for eyes alone. */
export function Picture({
  label,
  columns,
  edges,
  onPress,
}: {
  readonly label: string;
  readonly columns: readonly Column[];
  readonly edges: readonly Edge[];
  readonly onPress: (id: string) => void;
}) {
  const { width, height, heads, items, lines } = useMemo(() => layOut(columns, edges), [columns, edges]);
  // What is pointed at, or has the focus: its lines stand out.
  const [hot, setHot] = useState<string>();
  const toneOf = ({ from, to }: Line) => (hot === undefined ? "" : from === hot || to === hot ? "hot" : "cold");
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: who has no mouse scrolls it by keys
    <section class="picture" aria-label={label} tabIndex={0}>
      <div class="canvas" style={{ width: `${width}px`, height: `${height}px` }}>
        <svg width={width} height={height} aria-hidden="true">
          {lines.map((line) => (
            <path key={line.id} class={toneOf(line)} d={line.path} stroke-width={line.width} />
          ))}
          {lines.map((line) =>
            line.label === "" ? null : (
              <text key={line.id} x={line.labelX} y={line.labelY}>
                {line.label}
              </text>
            ),
          )}
        </svg>
        {heads.map(({ title, x }) => (
          <p key={title} class="head" style={{ left: `${x}px` }}>
            {title}
          </p>
        ))}
        {items.map(({ item, x, y, width: itemWidth }) => (
          <button
            type="button"
            key={item.id}
            class="item"
            aria-pressed={item.isChosen === true}
            onClick={() => onPress(item.id)}
            onPointerEnter={() => setHot(item.id)}
            onPointerLeave={() => setHot(undefined)}
            onFocus={() => setHot(item.id)}
            onBlur={() => setHot(undefined)}
            style={{ left: `${x}px`, top: `${y}px`, width: `${itemWidth}px`, height: `${itemHeight}px` }}
            title={`${item.label}: ${item.detail}`}
          >
            <span>{item.label}</span>
            <small>{item.detail}</small>
          </button>
        ))}
      </div>
    </section>
  );
}
