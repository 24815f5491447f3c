import { dump } from "js-yaml";
import type { Config } from "../config/config.ts";
import { kindText, PortolanError } from "../config/diagnostic.ts";
import { toObject } from "../config/object-json.ts";
import type { Terminal } from "./terminal.ts";

export const outputFormats = ["short", "wide", "name", "yaml", "json"] as const;
export type OutputFormat = (typeof outputFormats)[number];

/** @throws PortolanError for a format that is not known */
export function outputFormat(text: string): OutputFormat {
  const format = outputFormats.find((known) => known === text);
  if (format === undefined) throw new PortolanError(`there is no output ${text}; known: ${outputFormats.join(", ")}`);
  return format;
}

/** `VirtualService/default/a`; cluster-scoped objects have no namespace. */
export function nameOf(config: Config): string {
  const { namespace, name } = config.meta;
  const kind = kindText(config.meta);
  return namespace === "" ? `${kind}/${name}` : `${kind}/${namespace}/${name}`;
}

/** Writes objects in a form that people or programs read; YAML and JSON can be applied again. */
export function printConfigs(terminal: Terminal, configs: readonly Config[], format: OutputFormat): void {
  switch (format) {
    case "name":
      for (const config of configs) terminal.out(nameOf(config));
      return;
    case "yaml":
      for (const config of configs) terminal.out(`${dump(toObject(config), { noRefs: true, lineWidth: 120 })}---`);
      return;
    case "json": {
      const items = configs.map((config) => toObject(config));
      const [only] = items;
      const printed = items.length === 1 ? only : { apiVersion: "v1", kind: "List", items };
      terminal.out(JSON.stringify(printed, undefined, 2));
      return;
    }
    default:
      printTable(terminal, [
        format === "wide" ? ["NAME", "KIND", "NAMESPACE", "REVISION", "CREATED"] : ["NAME", "KIND", "NAMESPACE"],
        ...configs.map(({ meta }) => [
          meta.name,
          `${meta.kind}.${meta.group}.${meta.version}`,
          meta.namespace,
          ...(format === "wide"
            ? [meta.resourceVersion.slice(0, 12), new Date(meta.creationTimestampMs).toISOString()]
            : []),
        ]),
      ]);
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
