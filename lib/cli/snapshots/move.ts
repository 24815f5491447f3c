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
  signHeadAsIs,
  unpin,
} from "../../snapshot/head-operations.ts";
import { keyringOption, readKeyring, signerFor, trustOf } from "../keyring.ts";
import type { Terminal } from "../terminal.ts";
import { defaultStore, openStore, storeDescription, storeOption } from "./open-store.ts";
import { addShareOptions, type ShareOptions, shareOf } from "./share-options.ts";
import { addPinOptions, addWordOptions, type WordOptions, wordOf } from "./word.ts";

interface StoreOptions {
  readonly keyring: string;
  readonly store: string;
}

/** The commands that move HEAD. */
export function registerMoves(program: Command, terminal: Terminal): void {
  const command = (name: string, description: string) =>
    program
      .command(name)
      .description(description)
      .option(storeOption, storeDescription, defaultStore)
      .addOption(keyringOption());
  const tell = ({ head, root, left }: Moved) => {
    const { canary, pin } = head;
    const last = head.steps.at(-1)?.at ?? "now";
    const tried = canary === undefined ? "" : `, canary ${canary.root.slice(0, 12)} for ${canary.percent} %`;
    const from = left === root || left === "" ? "" : `, and leaves ${left.slice(0, 12)}`;
    terminal.out(`generation ${head.generation} leads to ${root.slice(0, 12)} by ${last}${tried}${from}`);
    if (pin === undefined) return;
    terminal.out(
      `pinned ${pin.until === undefined ? "until somebody lets go" : `until ${pin.until}`}: what is published is`,
    );
    terminal.out("recorded and served to nobody; `portolan status` shows it, `portolan unpin` lets go");
  };

  addPinOptions(
    command(
      "rollback [back]",
      "Leads back to what was served before, and pins it: 1, the root before, unless told otherwise.",
    ),
  ).action(async (back: string | undefined, { store, keyring, ...word }: StoreOptions & WordOptions) => {
    const count = wholeNumber(back ?? "1", "the number of roots to go back");
    const moved = await rollback(await openStore(store), count, { ...wordOf(word), ...(await trustOf(keyring)) });
    if (moved.ended !== undefined) terminal.out(`the canary of ${moved.ended.root.slice(0, 12)} is over`);
    tell(moved);
  });

  addWordOptions(command("unpin", "Lets go of what is pinned, and leads to the newest publish.")).action(
    async ({ store, keyring, ...word }: StoreOptions & WordOptions) => {
      tell(await unpin(await openStore(store), { ...wordOf(word), ...(await trustOf(keyring)) }));
    },
  );

  addWordOptions(addShareOptions(command("canary <root>", "Tries a root on a part of the nodes."))).action(
    async (root: string, { store, keyring, percent, label, ...word }: StoreOptions & ShareOptions & WordOptions) => {
      tell(
        await setCanary(
          await openStore(store),
          { root, ...shareOf({ percent, label }) },
          { ...wordOf(word), ...(await trustOf(keyring)) },
        ),
      );
    },
  );

  addPinOptions(command("promote", "Gives the canary's root to everybody.")).action(
    async ({ store, keyring, ...word }: StoreOptions & WordOptions) => {
      tell(await promoteCanary(await openStore(store), { ...wordOf(word), ...(await trustOf(keyring)) }));
    },
  );

  addPinOptions(command("abort", "Ends the canary.")).action(
    async ({ store, keyring, ...word }: StoreOptions & WordOptions) => {
      tell(await abortCanary(await openStore(store), { ...wordOf(word), ...(await trustOf(keyring)) }));
    },
  );

  command(
    "sign",
    "Vouches for HEAD as it is: one that was never signed, or with a key that is trusted no more.",
  ).action(async ({ store, keyring }: StoreOptions) => {
    tell(await signHeadAsIs(await openStore(store), signerFor(await readKeyring(keyring), "roots")));
  });

  command("export <dir>", "Copies what is served, with all that it reaches, into an empty folder.").action(
    async (dir: string, { store, keyring }: StoreOptions) => {
      const { root } = await exportSnapshot(await openStore(store), await openStore(dir), await trustOf(keyring));
      terminal.out(`exported ${root.slice(0, 12)} to ${dir}`);
    },
  );

  command("import <dir>", "Publishes what was exported into a folder.").action(
    async (dir: string, { store, keyring }: StoreOptions) => {
      const result = await importSnapshot(await openStore(dir), await openStore(store), await trustOf(keyring));
      if (result.kind === "lost") throw new PortolanError("somebody else published at the same moment; try again");
      terminal.out(`${result.kind}: generation ${result.head.generation} leads to ${result.root.slice(0, 12)}`);
    },
  );
}

function wholeNumber(text: string, what: string): number {
  if (!/^\d+$/.test(text)) throw new PortolanError(`${what} is not a whole number: ${text}`);
  return Number(text);
}
