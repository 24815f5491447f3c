import type { PublicationEntry } from "../../front/api/schema/answers.ts";
import { number } from "./numbers.ts";
import { Table } from "./table.tsx";
import { Badge, Time, type Tone, Version } from "./texts.tsx";

const tones: Readonly<Record<string, Tone>> = { rollback: "warn", abort: "bad", canary: "note", promote: "good" };

/** What was published, by whom and why. */
export function PublicationTable({ entries }: { readonly entries: readonly PublicationEntry[] }) {
  return (
    <Table
      caption="Publications"
      rows={entries}
      keyOf={({ hash }) => hash}
      none="Nothing is published yet."
      columns={[
        { title: "Generation", isNumber: true, cell: ({ generation }) => number(generation) },
        { title: "When", cell: ({ at }) => <Time at={at} /> },
        {
          title: "What",
          cell: ({ reason, held }) => (
            <>
              <Badge tone={tones[reason] ?? "plain"}>{reason}</Badge>
              {held === true ? <Badge tone="warn">held</Badge> : null}
            </>
          ),
        },
        { title: "Version", cell: ({ root, canary }) => <Version root={canary?.root ?? root} /> },
        { title: "Author", cell: ({ by }) => by ?? "" },
        { title: "Reason", cell: ({ why }) => why ?? "" },
      ]}
    />
  );
}
