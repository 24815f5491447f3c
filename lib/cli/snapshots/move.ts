import { type Command, InvalidArgumentError } from "commander";
import { PortolanError } from "../../base/diagnostic.ts";
import {
  abortCanary,
  exportSnapshot,
  importSnapshot,
  type Moved,
  promoteCanary,
  rollback,
  signHeadAsIs,
  unpin,
} from "../../snapshot/head/head-operations.ts";
import type { Pin } from "../../snapshot/root.ts";
import { isFolder } from "../../storage/store-location.ts";
import { examplesText } from "../examples.ts";
import { holdsSomething, openThere, openToWrite, storeOption } from "../named-store.ts";
import { openRollout } from "../rollout.ts";
import { keyringOption, readKeyring, signerFor, trustOf } from "../secrets/keyring.ts";
import type { Terminal } from "../terminal.ts";
import { type AuditOptions, addAuditOptions, addPinOptions, auditInfoOf } from "./audit-info.ts";
import { unlessDone } from "./nothing-to-do.ts";
import { rootNamed, rootNames } from "./root-named.ts";
import { addShareOptions, type ShareOptions, shareOf, shareText } from "./share-options.ts";

interface MoveOptions {
  readonly keyring: string;
  readonly store?: string;
  readonly json?: boolean;
}

/** The commands that move HEAD. */
export function registerMoves(program: Command, terminal: Terminal): void {
  const command = (name: string, description: string, ...examples: readonly string[]) =>
    program
      .command(name)
      .description(description)
      .addOption(storeOption())
      .addOption(keyringOption())
      .option("--json", "the resulting HEAD as JSON")
      .addHelpText("after", examplesText(examples));
  const tell = (moved: Moved, { json = false }: MoveOptions) => {
    if (json) terminal.out(JSON.stringify(movedJson(moved)));
    else for (const line of movedLines(moved)) terminal.out(line);
  };
  const act = async ({ keyring, ...options }: MoveOptions & AuditOptions) => ({
    ...auditInfoOf(options),
    ...(await trustOf(keyring)),
  });

  addPinOptions(
    command(
      "rollback [back]",
      "Serves an earlier configuration again, by default the previous one, and pins it. Services and endpoints stay current.",
      "rollback",
      'rollback 2 --why "checkout is down" --until 12h',
      "rollback --to 41",
    ),
  )
    .option("--to <root>", `roll back to the configuration of this root. ${rootNames}`)
    .option("--whole", "also restore that version's services and endpoints, and keep them until `portolan unpin`")
    .action(
      async (
        back: string | undefined,
        options: MoveOptions & AuditOptions & { readonly to?: string | undefined; readonly whole?: boolean },
      ) => {
        if (back !== undefined && options.to !== undefined)
          throw new InvalidArgumentError("say how many configurations back, or --to which root, and not both");
        const count = wholeNumber(back ?? "1", "the number of configurations to go back");
        const store = await openThere(options.store, terminal.progress);
        const root = options.to === undefined ? count : await rootNamed(store, options.to);
        const moved =
          options.whole === true
            ? await rollback(store, root, await act(options))
            : await (await openRollout(store, await trustOf(options.keyring))).rollback(root, auditInfoOf(options));
        tell(moved, options);
      },
    );

  addAuditOptions(
    command(
      "unpin",
      "Removes the pin and serves the newest version. Without a pin it does nothing and exits with 0.",
      "unpin --why mended",
    ),
  ).action(async (options: MoveOptions & AuditOptions) => {
    await unlessDone(terminal, options, async () =>
      tell(await unpin(await openThere(options.store, terminal.progress), await act(options)), options),
    );
  });

  addAuditOptions(
    addShareOptions(
      command(
        "canary <root>",
        `Tries the configuration of a root on a part of the nodes; services and endpoints are the same for all. ${rootNames}`,
        "canary NEWEST --percent 10",
        "canary 42 --label track=canary",
      ),
    ),
  ).action(async (name: string, options: MoveOptions & ShareOptions & AuditOptions) => {
    const share = shareOf(options, `canary ${name} --percent 10`);
    const store = await openThere(options.store, terminal.progress);
    const root = await rootNamed(store, name);
    tell(
      await (await openRollout(store, await trustOf(options.keyring))).canary(root, share, auditInfoOf(options)),
      options,
    );
  });

  addPinOptions(
    command("promote", "Gives the canary's configuration to all nodes.", "promote --why 'no errors in an hour'"),
  ).action(async (options: MoveOptions & AuditOptions) => {
    tell(await promoteCanary(await openThere(options.store, terminal.progress), await act(options)), options);
  });

  addPinOptions(
    command("abort", "Ends the canary. Without one it does nothing and exits with 0.", "abort --why 'too many 503'"),
  ).action(async (options: MoveOptions & AuditOptions) => {
    await unlessDone(terminal, options, async () =>
      tell(await abortCanary(await openThere(options.store, terminal.progress), await act(options)), options),
    );
  });

  command(
    "sign",
    "Signs the current HEAD, if it has no signature or one of a key that is no longer trusted.",
    "sign --keyring keys.json",
  ).action(async (options: MoveOptions) => {
    const store = await openThere(options.store, terminal.progress);
    tell(await signHeadAsIs(store, signerFor(await readKeyring(options.keyring), "roots")), options);
  });

  command(
    "export <dir>",
    "Copies the served version with all its blobs into an empty folder.",
    "export carried/",
  ).action(async (dir: string, options: MoveOptions) => {
    const from = await openThere(options.store, terminal.progress);
    if (isFolder(dir) && (await holdsSomething(dir)))
      throw new PortolanError(`${dir} is not empty: name a folder that is, or one that is not there yet`);
    const moved = await exportSnapshot(from, await openToWrite(dir, terminal.progress), await trustOf(options.keyring));
    if (options.json === true) tell(moved, options);
    else terminal.out(`exported ${shortRoot(moved.root)} to ${dir}`);
  });

  command("import <dir>", "Publishes an exported folder.", "import carried/ --store s3://mesh/prod").action(
    async (dir: string, options: MoveOptions) => {
      const to = await openToWrite(options.store, terminal.progress);
      if (isFolder(dir) && !(await holdsSomething(dir)))
        throw new PortolanError(`${dir} is empty: name a folder that \`portolan export\` has filled`);
      const result = await importSnapshot(await openThere(dir, terminal.progress), to, await trustOf(options.keyring));
      if (result.kind === "lost") throw new PortolanError("another process published at the same moment; try again");
      if (options.json === true) tell(result, options);
      else terminal.out(`${result.kind}: generation ${result.head.generation} leads to ${shortRoot(result.root)}`);
    },
  );
}

const shortRoot = (root: string): string => root.slice(0, 12);

/** What a program may want to know of a move. */
function movedJson({ head, root, left, ended, saysTheSame, stale }: Moved): object {
  const { generation, canary, pin, steps } = head;
  return { generation, root, left, by: steps.at(-1)?.at, canary, pin, ended, saysTheSame, stale };
}

function movedLines({ head, root, left, ended, saysTheSame = false, stale }: Moved): readonly string[] {
  const { canary, pin } = head;
  const last = head.steps.at(-1)?.at ?? "";
  const by = Date.parse(last) > Date.now() ? `, all the way by ${last}` : "";
  const same = canary?.root === root ? ", which is what all nodes have" : "";
  const tried = canary === undefined ? "" : `, canary ${shortRoot(canary.root)} for ${shareText(canary)}${same}`;
  const from = left === undefined || left === root ? "" : `, and leaves ${shortRoot(left)}`;
  return [
    ...(ended === undefined ? [] : [`the canary of ${shortRoot(ended.root)} is over`]),
    `generation ${head.generation} leads to ${shortRoot(root)}${by}${tried}${from}`,
    ...(saysTheSame
      ? ["it is equal to what every proxy has already; `portolan history --config` lists earlier configuration"]
      : []),
    ...(stale === undefined ? [] : [`services and endpoints are those of that version: ${stale}`]),
    ...(pin === undefined ? [] : pinnedLines(head, pin, stale !== undefined)),
  ];
}

function pinnedLines({ canary }: Moved["head"], { until, configuration }: Pin, isStale: boolean): readonly string[] {
  // `unpin` is refused while a canary runs.
  const end =
    canary === undefined
      ? "until `portolan unpin`"
      : "while the canary runs (`portolan promote` gives it to all nodes, `portolan abort` ends it)";
  const held = configuration === undefined ? ", and so are services and endpoints" : "";
  const followed = held !== "" || isStale ? held : "; services and endpoints are followed";
  return [
    `pinned ${until === undefined ? end : `until ${until}`}: configuration that is published is recorded`,
    `and served to no proxy${followed}; \`portolan status\` shows it`,
  ];
}

function wholeNumber(text: string, what: string): number {
  if (!/^\d+$/.test(text)) throw new InvalidArgumentError(`${what} is not a whole number: ${text}`);
  return Number(text);
}
