import { number } from "./numbers.ts";

const pageLength = 50;

/** From page to page of a long list. */
export function Pager({
  offset,
  shown,
  total,
  onMove,
}: {
  readonly offset: number;
  readonly shown: number;
  readonly total: number;
  readonly onMove: (offset: number) => void;
}) {
  if (total <= pageLength && offset === 0) return null;
  return (
    <nav class="pager" aria-label="Pages">
      <button type="button" disabled={offset === 0} onClick={() => onMove(Math.max(offset - pageLength, 0))}>
        ← Before
      </button>
      <span>
        {number(Math.min(offset + 1, total))}–{number(offset + shown)} of {number(total)}
      </span>
      <button type="button" disabled={offset + shown >= total} onClick={() => onMove(offset + pageLength)}>
        After →
      </button>
    </nav>
  );
}
