/** A thing in a picture, in one of its columns. */
export interface Item {
  readonly id: string;
  readonly label: string;
  /** Below it, smaller. */
  readonly detail: string;
  readonly isChosen?: boolean;
}

export interface Column {
  readonly title: string;
  /** In pixels; so is the room to its right, for lines and what is written on them. */
  readonly width: number;
  readonly room: number;
  readonly items: readonly Item[];
}

/** From an item to one of a column further right. */
export interface Edge {
  readonly from: string;
  readonly to: string;
  /** How many, or how much, it stands for: thicker is more. */
  readonly amount: number;
  /** Written on it; "" for none. */
  readonly label: string;
}

export interface Placed {
  readonly item: Item;
  readonly x: number;
  readonly y: number;
  readonly width: number;
}

export interface Line {
  readonly id: string;
  readonly from: string;
  readonly to: string;
  /** Of an SVG path. */
  readonly path: string;
  readonly width: number;
  readonly label: string;
  readonly labelX: number;
  readonly labelY: number;
}

export interface Picture {
  readonly width: number;
  readonly height: number;
  readonly heads: readonly { readonly title: string; readonly x: number }[];
  readonly items: readonly Placed[];
  readonly lines: readonly Line[];
}

export const itemHeight = 44;
const rowHeight = 54;
const headHeight = 30;
/** Written at one end, below one another, between this row and the next. */
const maxLabels = 3;

/**
 * Lays columns side by side, each in the order of its items, and curves between them. Edges whose ends are not both there are left out.
 *
 * @param maxLines of more edges, those of the largest amounts are drawn
 */
export function layOut(columns: readonly Column[], edges: readonly Edge[], maxLines = 600): Picture {
  const places = new Map<string, Placed>();
  const heads: { readonly title: string; readonly x: number }[] = [];
  let x = 0;
  for (const { title, width, room, items } of columns) {
    heads.push({ title, x });
    for (const [row, item] of items.entries()) places.set(item.id, { item, x, y: headHeight + row * rowHeight, width });
    x += width + room;
  }
  /** What is written at each end already: the same is written once, another below it. */
  const written = new Map<string, string[]>();
  const lines = edges
    .toSorted((a, b) => b.amount - a.amount)
    .flatMap(({ from, to, amount, label }): readonly Line[] => {
      const [start, end] = [places.get(from), places.get(to)];
      if (start === undefined || end === undefined) return [];
      const [x1, y1] = [start.x + start.width, start.y + itemHeight / 2];
      const [x2, y2] = [end.x, end.y + itemHeight / 2];
      const middle = (x1 + x2) / 2;
      const said = written.get(to) ?? [];
      written.set(to, said);
      const isNew = label !== "" && !said.includes(label);
      if (isNew) said.push(label);
      return [
        {
          id: `${from} ${to}`,
          path: `M${x1} ${y1}C${middle} ${y1} ${middle} ${y2} ${x2} ${y2}`,
          from,
          to,
          width: Math.min(1 + Math.log2(amount + 1) / 2, 5),
          label: isNew && said.length <= maxLabels ? label : "",
          // Where it leads to: edges of one beginning are furthest apart there.
          labelX: x2 - 8,
          labelY: y2 + 4 + 14 * (isNew ? said.length - 1 : 0),
        },
      ];
    });
  const rows = Math.max(0, ...columns.map(({ items }) => items.length));
  return {
    width: Math.max(x - (columns.at(-1)?.room ?? 0), 0),
    height: headHeight + rows * rowHeight,
    heads,
    items: [...places.values()],
    lines: lines.slice(0, maxLines),
  };
}
