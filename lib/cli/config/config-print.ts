import { dump } from "js-yaml";
import { kindText } from "../../base/diagnostic.ts";
import { type Config, defaultCreationTimeMs } from "../../config/config.ts";
import { toObject } from "../../config/object-json.ts";
import type { Terminal } from "../terminal.ts";

export const outputFormats = ["short", "wide", "name", "yaml", "json"] as const;
export type OutputFormat = (typeof outputFormats)[number];

/** An object that a store's sources hold, ready to be shown. */
export interface ShownObject {
  readonly source: string;
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  /** "" for what is in none. */
  readonly namespace: string;
  readonly name: string;
  /** Hash of what was applied; "" for what came with a folder. */
  readonly revision: string;
  /** Milliseconds since the epoch; absent where nothing says. */
  readonly createdMs?: number;
  /** As it can be applied again. */
  readonly object: object;
}

export function shownConfig(source: string, config: Config): ShownObject {
  const { group, version, kind, namespace, name, resourceVersion, creationTimestampMs } = config.meta;
  const created = creationTimestampMs === defaultCreationTimeMs ? {} : { createdMs: creationTimestampMs };
  const object = toObject(config);
  return { source, group, version, kind, namespace, name, revision: resourceVersion, ...created, object };
}

/** `VirtualService/default/a`; cluster-scoped objects have no namespace. */
export function nameOf({ namespace, name, ...kind }: Omit<Config["meta"], "domain"> | ShownObject): string {
  return namespace === "" ? `${kindText(kind)}/${name}` : `${kindText(kind)}/${namespace}/${name}`;
}

/** Writes objects in a form that people or programs read; YAML and JSON can be applied again. */
export function printObjects(terminal: Terminal, objects: readonly ShownObject[], format: OutputFormat): void {
  switch (format) {
    case "name":
      for (const one of objects) terminal.out(nameOf(one));
      return;
    case "yaml":
      for (const { object } of objects) terminal.out(`${dump(object, { noRefs: true, lineWidth: 120 })}---`);
      return;
    case "json": {
      const items = objects.map(({ object }) => object);
      const [only] = items;
      const printed = items.length === 1 ? only : { apiVersion: "v1", kind: "List", items };
      terminal.out(JSON.stringify(printed, undefined, 2));
      return;
    }
    default: {
      const more = format === "wide" ? ["SOURCE", "REVISION", "CREATED"] : [];
      printTable(terminal, [
        ["NAME", "KIND", "NAMESPACE", ...more],
        ...objects.map(({ name, kind, group, version, namespace, source, revision, createdMs }) => {
          const created = createdMs === undefined ? "" : new Date(createdMs).toISOString();
          const type = group === "" ? `${kind}.${version}` : `${kind}.${group}.${version}`;
          return [name, type, namespace, ...(format === "wide" ? [source, revision.slice(0, 12), created] : [])];
        }),
      ]);
    }
  }
}

/** Columns as wide as their longest cell. */
export function printTable(terminal: Terminal, rows: readonly (readonly string[])[]): void {
  const widths: number[] = [];
  for (const row of rows) {
    for (const [column, cell] of row.entries()) widths[column] = Math.max(widths[column] ?? 0, cell.length);
  }
  for (const row of rows) {
    terminal.out(
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join("   ")
        .trimEnd(),
    );
  }
}
