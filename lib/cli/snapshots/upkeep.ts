import { type Command, InvalidArgumentError } from "commander";
import { PortolanError } from "../../base/diagnostic.ts";
import { ledgerRenewed, usualGc, usualKeptPublications } from "../../compile/garbage.ts";
import { remakeWorlds, sourceProblems } from "../../compile/world/remake-worlds.ts";
import { recoverHead } from "../../snapshot/head/recover-head.ts";
import { takeOver } from "../../snapshot/regions/take-over.ts";
import { collectGarbage } from "../../snapshot/upkeep/collect-garbage.ts";
import { fsck } from "../../snapshot/upkeep/fsck.ts";
import { repair } from "../../snapshot/upkeep/repair.ts";
import { examplesText } from "../examples.ts";
import { openTarget, openThere, storeOption } from "../named-store.ts";
import { counted, wholeNumber } from "../numbers.ts";
import { ownBuild } from "../own-build.ts";
import { keyringOption, trustOf } from "../secrets/keyring.ts";
import { proseLine, type Terminal } from "../terminal.ts";
import { type AuditOptions, addAuditOptions, auditInfoOf } from "./audit-info.ts";
import { unlessDone } from "./nothing-to-do.ts";

const source = { copy: "the newest copy of HEAD", history: "the newest entry of the history" } as const;

interface CommonOptions {
  readonly store?: string;
  readonly keyring: string;
  readonly json?: boolean;
}

interface RecoverOptions extends CommonOptions {
  readonly takeOver?: boolean;
  readonly above?: number;
  readonly force?: boolean;
}

interface FsckOptions extends CommonOptions {
  readonly keep?: number;
  readonly repair?: boolean;
}

/** `gc`, `fsck` and `recover`. */
export function registerUpkeep(program: Command, terminal: Terminal): void {
  program
    .command("gc")
    .description("Deletes unreferenced blobs: the first run marks them, a run an hour later deletes them.")
    .addOption(storeOption())
    .option(
      "--keep <publications>",
      "number of served roots and of configurations for rollback to keep",
      wholeNumber(1),
      usualKeptPublications,
    )
    .option("--json", "as JSON")
    .addHelpText("after", examplesText(["gc", "gc --keep 200 --store s3://mesh/prod"]))
    .addOption(keyringOption())
    .action(
      async ({
        store,
        keep,
        keyring,
        json = false,
      }: {
        store?: string;
        keep: number;
        keyring: string;
        json?: boolean;
      }) => {
        const trust = await trustOf(keyring);
        const options = { ...usualGc, keepPublications: keep, now: Date.now, ...trust };
        const { done, deleted, doomed, kept, isLedgerRenewed } = await collectGarbage(
          await openThere(store, terminal.progress),
          options,
        );
        if (!done) throw new PortolanError("another process is publishing or collecting; try again later");
        if (isLedgerRenewed === true) terminal.err(ledgerRenewed);
        if (json) return terminal.out(JSON.stringify({ deleted, doomed, kept }));
        terminal.out(`${deleted} deleted, ${doomed} to be deleted in an hour or later, ${kept} kept`);
      },
    );

  program
    .command("fsck")
    .description("Checks that all blobs that can be requested exist and are undamaged.")
    .addOption(storeOption())
    .option("--keep <publications>", "number of publications of the history to check", wholeNumber(1))
    .option("--repair", "write missing or damaged blobs again, from the sources or from copies")
    .addOption(keyringOption())
    .option("--json", "as JSON")
    .addHelpText("after", examplesText(["fsck", "fsck --repair", "fsck --store s3://mesh/prod --json"]))
    .action(async ({ store: where, keep, repair: mends, keyring, json = false }: FsckOptions) => {
      const store = await openThere(where, terminal.progress);
      const { trusted } = await trustOf(keyring);
      const options = {
        ...(keep === undefined ? {} : { keepPublications: keep }),
        ...(trusted === undefined ? {} : { trusted }),
      };
      const result =
        mends === true
          ? await repair(store, remakeWorlds(store, await ownBuild()), options)
          : await fsck(store, options);
      const ofSources = await sourceProblems(store);
      const problems = [...result.problems, ...ofSources];
      if (json) terminal.out(JSON.stringify({ ...result, problems }));
      else {
        for (const problem of problems) terminal.out(problem);
        if ("mended" in result) terminal.out(`${counted(Number(result.mended), "object")} written again`);
        terminal.out(
          [
            counted(result.publications, "publication"),
            counted(result.roots, "root"),
            counted(result.blobs, "blob"),
          ].join(", "),
        );
      }
      if (problems.length === 0) return;
      const ofSnapshots =
        mends === true ? "`portolan rollback` leads to what is whole" : "`--repair` mends what can be";
      // What is lost of a source neither a rollback nor a repair brings back.
      const ofSource = "fill the source again: `portolan push FOLDER`, or its collector";
      const remedy = [
        ...(result.problems.length === 0 ? [] : [ofSnapshots]),
        ...(ofSources.length === 0 ? [] : [ofSource]),
      ].join("; ");
      throw new PortolanError(`${counted(problems.length, "problem")}; ${remedy}`);
    });

  addAuditOptions(
    program
      .command("recover")
      .description(
        "Rebuilds a missing or unreadable HEAD from its copies or from the history. If HEAD is readable it does nothing and exits with 0.",
      )
      .addOption(storeOption())
      .addOption(keyringOption())
      .option("--take-over", "make the writer's store of a copy, when the store that `replicate` copied from is lost")
      .option("--above <generation>", "with --take-over: the newest that was seen of the lost store", wholeNumber(1))
      .option("--force", "with --take-over: although the store is no copy, or its original still answers")
      .option("--json", "as JSON")
      .addHelpText(
        "after",
        examplesText([
          "recover --why 'HEAD was lost'",
          "recover --take-over --store s3://mesh-west/prod --why 'east is down'",
        ]),
      ),
  ).action(
    async ({ store, keyring, json = false, takeOver: takes, above, force, ...word }: RecoverOptions & AuditOptions) => {
      const trust = await trustOf(keyring);
      if (above !== undefined && takes !== true) throw new InvalidArgumentError("--above goes with --take-over");
      if (force === true && takes !== true) throw new InvalidArgumentError("--force goes with --take-over");
      if (takes === true) {
        const options = {
          ...auditInfoOf(word),
          ...trust,
          open: openTarget,
          forced: force === true,
          ...(above === undefined ? {} : { above }),
        };
        const { head, root } = await takeOver(await openThere(store, terminal.progress), options);
        if (json) return terminal.out(JSON.stringify({ head, root }));
        terminal.out(`generation ${head.generation} leads to ${root.slice(0, 12)}, as the copy did`);
        return terminal.out("this store is published into from now on; `portolan replicate` copies from it");
      }
      await unlessDone(terminal, { json }, async () => {
        const recovered = await recoverHead(await openThere(store, terminal.progress), {
          ...auditInfoOf(word),
          ...trust,
        });
        const { head, root, from, unproven } = recovered;
        if (json) return terminal.out(JSON.stringify(recovered));
        terminal.out(`generation ${head.generation} leads to ${root.slice(0, 12)}, from ${source[from]}`);
        if (head.pin !== undefined) terminal.out(`pinned: ${proseLine(head.pin.why)}; \`portolan unpin\` lets go`);
        for (const { generation, at, reason, root: other } of unproven) {
          terminal.out(
            `left out, because it is not known whether it was served: ${at}  generation ${generation}, ${reason} of ${other}`,
          );
        }
        const isUnsigned = trust.trusted !== undefined && head.signatures === undefined;
        if (isUnsigned) terminal.out("not signed, since no copy was: look at it, then `portolan sign` vouches for it");
        terminal.out("`portolan fsck` looks at the rest");
      });
    },
  );
}
