// A share of a whole as a bar, and many of them as a strip of cells. The number stands beside it.
import type { JSX } from "preact";

export function Bar({
  share,
  hue,
  title,
}: {
  share: number;
  hue: string;
  title: string;
}): JSX.Element {
  const percent = Math.max(0, Math.min(1, share)) * 100;
  return (
    <span class="bar" title={title} aria-hidden="true">
      <span class="bar-fill" style={{ width: `${percent}%`, background: `var(--hue-${hue})` }} />
    </span>
  );
}

export interface Cell {
  key: string;
  title: string;
  share: number | undefined; // undefined: absent
  tone?: "bad" | "quiet" | "warn" | undefined;
}

export const cellClass = (cell: Cell): string =>
  `cell${cell.share === undefined ? " is-absent" : ""}${cell.tone === undefined ? "" : ` is-${cell.tone}`}`;

export function CellFill({
  share,
  hue,
}: {
  share: number | undefined;
  hue: string;
}): JSX.Element | null {
  if (share === undefined) return null;
  // A transform needs no layout: there may be hundreds of cells, each second.
  const scale = Math.round(Math.max(0, Math.min(1, share)) * 32) / 32;
  return <span class={`cell-fill is-${hue}`} style={{ transform: `scaleY(${scale})` }} />;
}

export function Cells({
  cells,
  hue,
  label,
}: {
  cells: readonly Cell[];
  hue: string;
  label: string;
}): JSX.Element {
  return (
    <div class="cells" role="img" aria-label={label}>
      {cells.map((cell) => (
        <span class={cellClass(cell)} key={cell.key} title={cell.title}>
          <CellFill share={cell.share} hue={hue} />
        </span>
      ))}
    </div>
  );
}
