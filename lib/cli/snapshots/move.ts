import type { Command } from "commander";
import { PortolanError } from "../../config/diagnostic.ts";
import {
  abortCanary,
  exportSnapshot,
  importSnapshot,
  type Moved,
  promoteCanary,
  rollback,
  setCanary,
} from "../../snapshot/head-operations.ts";
import type { Terminal } from "../terminal.ts";
import { defaultStore, openStore, storeDescription, storeOption } from "./open-store.ts";

interface StoreOptions {
  readonly store: string;
}

/** The commands that move HEAD. */
export function registerMoves(program: Command, terminal: Terminal): void {
  const command = (name: string, description: string) =>
    program.command(name).description(description).option(storeOption, storeDescription, defaultStore);
  const tell = ({ head, root }: Moved) => {
    const [last] = head.steps.slice(-1);
    const canary =
      head.canary === undefined ? "" : `, canary ${head.canary.root.slice(0, 12)} for ${head.canary.percent} %`;
    terminal.out(`generation ${head.generation} leads to ${root.slice(0, 12)} by ${last?.at ?? "now"}${canary}`);
  };

  command("rollback [back]", "Leads back to an earlier publication: 1, the one before, unless told otherwise.").action(
    async (back: string | undefined, { store }: StoreOptions) => {
      tell(await rollback(openStore(store), wholeNumber(back ?? "1", "the number of publications to go back")));
    },
  );

  command("canary <root>", "Tries a root on a part of the nodes.")
    .option("--percent <percent>", "share of the nodes, by a hash of their ids", "0")
    .option("--label <key=value...>", "nodes that have all of these labels take part as well")
    .action(async (root: string, options: StoreOptions & { percent: string; label?: readonly string[] }) => {
      const percent = wholeNumber(options.percent, "the percentage");
      if (percent > 100) throw new PortolanError("the percentage is at most 100");
      tell(await setCanary(openStore(options.store), { root, percent, labels: labelsOf(options.label ?? []) }));
    });

  command("promote", "Gives the canary's root to everybody.").action(async ({ store }: StoreOptions) => {
    tell(await promoteCanary(openStore(store)));
  });

  command("abort", "Ends the canary.").action(async ({ store }: StoreOptions) => {
    tell(await abortCanary(openStore(store)));
  });

  command("export <dir>", "Copies what is served, with all that it reaches, into an empty folder.").action(
    async (dir: string, { store }: StoreOptions) => {
      const { root } = await exportSnapshot(openStore(store), openStore(dir));
      terminal.out(`exported ${root.slice(0, 12)} to ${dir}`);
    },
  );

  command("import <dir>", "Publishes what was exported into a folder.").action(
    async (dir: string, { store }: StoreOptions) => {
      const result = await importSnapshot(openStore(dir), openStore(store));
      if (result.kind === "lost") throw new PortolanError("somebody else published at the same moment; try again");
      terminal.out(`${result.kind}: generation ${result.head.generation} leads to ${result.root.slice(0, 12)}`);
    },
  );
}

function wholeNumber(text: string, what: string): number {
  if (!/^\d+$/.test(text)) throw new PortolanError(`${what} is not a whole number: ${text}`);
  return Number(text);
}

function labelsOf(texts: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(
    texts.map((text) => {
      const [key = "", ...value] = text.split("=");
      if (key === "" || value.length === 0) throw new PortolanError(`a label is written key=value, not ${text}`);
      return [key, value.join("=")];
    }),
  );
}
