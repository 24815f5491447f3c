import { type Command, Option } from "commander";
import { type Diagnostic, keyText, type Origin, PortolanError } from "../../base/diagnostic.ts";
import { isAbout, recordAnalysis } from "../../compile/analyst.ts";
import type { Recompiled } from "../../compile/recompile/recompiled.ts";
import { createWorldRecompiler } from "../../compile/recompile.ts";
import { usualPrimary } from "../../compile/shards/primary-source.ts";
import { mustRefuseClosed } from "../../compile/shards/refuse-closed.ts";
import { replacedObjects } from "../../compile/shards/replaced-objects.ts";
import { filePrefixOf } from "../../compile/shards/source-names.ts";
import { createShardWriter } from "../../compile/shards/write-shard.ts";
import type { RecordedSettings } from "../../compile/world/recorded-settings.ts";
import { type SecurityFailure, securityFailures } from "../../config/fail-closed/closed-object.ts";
import { readFiles, type SourceFile } from "../../config/folder/directory.ts";
import { createReadAhead } from "../../config/folder/files/read-ahead.ts";
import { readFolder } from "../../config/folder/folder.ts";
import { withoutSecrets } from "../../config/secrets/without-secrets.ts";
import { checkBeforeFill, type Publishing } from "../../snapshot/publish.ts";
import { createSnapshotReader } from "../../snapshot/reader/snapshot-reader.ts";
import { analysisOf } from "../config/analysis-report.ts";
import { locatedIn } from "../config/located-messages.ts";
import { messageReport } from "../config/message-report.ts";
import { compiledSummary } from "../dev/dev-report.ts";
import { noProxiesText, tellFilled } from "../dev/recompiled-text.ts";
import { examplesText } from "../examples.ts";
import { openToWrite, storeOption } from "../named-store.ts";
import { ownBuild } from "../own-build.ts";
import { postSigned, webhookSecret } from "../post-signed.ts";
import { noProgress, type Progress } from "../progress.ts";
import { pollDelayOption } from "../proxy/bootstrap.ts";
import { notRecorded } from "../recording-recompiler.ts";
import { keyringOption, trustOf } from "../secrets/keyring.ts";
import { type MissingSecret, missingSecrets, missingSecretsText } from "../secrets/missing-secrets.ts";
import { urlFor } from "../server-url.ts";
import { oneLine, type Terminal } from "../terminal.ts";
import { addPublishingOptions, type PublishingOptions, publishingOf } from "./publishing-options.ts";

interface Options extends PublishingOptions {
  readonly keyring: string;
  readonly store?: string;
  readonly source: string;
  readonly primary?: string;
  readonly url?: string;
  readonly binaryForms?: boolean;
  readonly pollDelay?: number;
  readonly allowEmpty?: boolean;
  readonly acceptClosed?: boolean;
  readonly securityFailure?: SecurityFailure;
  readonly json?: boolean;
}

export function registerPush(program: Command, terminal: Terminal): void {
  const command = program
    .command("push <folder>")
    .description(
      "Fills a source with a folder's files and compiles all sources: in a store, or through a compile function.",
    )
    .addOption(storeOption())
    .option("--source <name>", "name of the source", "main")
    .option("--primary <name>", "the source whose settings of the mesh count, from now on; not with --url")
    .option("--url <url>", "compile function to push to; PORTOLAN_WEBHOOK_SECRET signs the request", urlFor("--url"))
    .option("--json", "the result, with all diagnostics, as JSON")
    .option("--binary-forms", "store binary forms beside the texts, for Connect and gRPC, from now on")
    .option("--no-binary-forms", "stop storing binary forms")
    .addOption(pollDelayOption())
    .option("--allow-empty", "fill the source even if the folder has no objects")
    .option(
      "--accept-closed",
      "publish even if a refused security object denies all requests to the workloads that it selects",
    )
    .addOption(
      new Option("--security-failure <what>", "what every compile does about such objects from now on").choices(
        securityFailures,
      ),
    )
    .addOption(keyringOption())
    .addHelpText(
      "after",
      examplesText([
        "push my-mesh/",
        "push my-mesh/ --source shop --store s3://mesh/prod",
        "push my-mesh/ --canary 10 --why 'new routes'",
        "push my-mesh/ --no-serve && portolan diff SERVED NEWEST && portolan promote",
      ]),
    );
  addPublishingOptions(command).action(async (folder: string, options: Options) => {
    const files = withoutSecrets(await readFolder(folder));
    const publishing = publishingOf(options);
    const { pushed, analysis, gone, summary, hasProxies, secrets } = await filled(
      files,
      options,
      publishing,
      terminal.progress,
    ).catch((cause: unknown) => {
      throw withAnalysis(folder, files, cause);
    });
    const { source } = options;
    const where = { folder, prefix: filePrefixOf(source, (pushed.primary ?? source) === source) };
    const messages = {
      diagnostics: locatedIn(where, files, pushed.diagnostics),
      analysis: locatedIn(options.url === undefined ? where : { folder, prefix: "" }, files, analysis.messages),
    };
    if (analysis.unrecorded !== undefined) terminal.err(analysis.unrecorded);
    if (options.json !== true) {
      for (const line of goneLines(gone)) terminal.err(line);
      if (secrets.length > 0) terminal.err(`warning: ${missingSecretsText(secrets)}`);
      if (!hasProxies) terminal.err(noProxiesText);
      messageReport(terminal, `analyze -f ${folder}`, "analyzed: ")(messages);
    }
    const report = {
      ...pushed,
      files: files.length,
      ...summary,
      gone: gone.map(goneJson),
      missingSecrets: secrets,
      ...messages,
    };
    tellFilled(terminal, { source, share: publishing.share }, pushed, options.json === true ? report : undefined);
  });
}

/** Fills the source and compiles, in a store or through a compile function. */
const filled = async (
  files: readonly SourceFile[],
  options: Options,
  publishing: Publishing,
  progress: Progress | undefined,
): Promise<Pushed> =>
  options.url === undefined
    ? pushToStore(files, options, publishing, progress)
    : {
        pushed: await pushToUrl(files, options.url, options, publishing),
        analysis: { messages: analysisOf(readFiles(files, { inlineSymmetricKeys: "allow" })) },
        gone: [],
        summary: {},
        hasProxies: true,
        secrets: [],
      };

/**
 * A refusal with messages, as all that is found in the folder: with the errors and warnings of the analysers, in files as they are named
 * from the working directory. Any other error stays as it is.
 */
function withAnalysis(folder: string, files: readonly SourceFile[], cause: unknown): unknown {
  if (!(cause instanceof PortolanError) || cause.diagnostics.length === 0) return cause;
  const analysis = analysisOf(readFiles(files, { inlineSymmetricKeys: "allow" }));
  const messages = [...cause.diagnostics, ...analysis.filter(({ severity }) => severity !== "info")];
  return new PortolanError(cause.message, locatedIn({ folder, prefix: "" }, files, messages), cause.cause);
}

/** What came of it, and what all sources say together; of a compile function's others nothing is known here. */
interface Pushed {
  readonly pushed: Recompiled;
  /** What the analysers say, and why that was not recorded; absent: it was, or a compile function does it. */
  readonly analysis: { readonly messages: readonly Diagnostic[]; readonly unrecorded?: string };
  /** Objects that were there before, where they stood; behind a compile function nobody looks. */
  readonly gone: readonly Origin[];
  /** What else JSON tells: numbers of objects and classes, and what was written. */
  readonly summary: object;
  /** Whether any proxy is known; of what a compile function compiles nothing is known here, and it is taken for granted. */
  readonly hasProxies: boolean;
  /** Secrets that proxies ask for and the store does not have; the same. */
  readonly secrets: readonly MissingSecret[];
}

async function pushToStore(
  files: readonly SourceFile[],
  options: Options,
  publishing: Publishing,
  progress: Progress = noProgress,
): Promise<Pushed> {
  const { store: where, source, allowEmpty = false, acceptClosed = false, keyring, json = false } = options;
  const store = await openToWrite(where, progress);
  const publisher = await trustOf(keyring);
  await checkBeforeFill(store, publisher, publishing.share);
  const refuseClosed = await mustRefuseClosed(store, acceptClosed, options.securityFailure);
  const replaced = await replacedObjects(store, source, files);
  const texts = new Map<string, string>();
  const ahead = source === usualPrimary ? createReadAhead() : undefined;
  await createShardWriter(store, source, texts)(files, { allowEmpty, refuseClosed, ahead });
  const recompile = createWorldRecompiler({
    store,
    change: changedSettings(options),
    publisher,
    observer: progress.observer,
    build: await ownBuild(),
    looksInto: json,
    texts,
    ahead,
  });
  // The compile itself, every resource as text, is nothing to print.
  const { compiled, result, ...pushed } = await recompile(publishing);
  const written = result.kind === "unchanged" ? {} : { written: result.written };
  const { loaded } = compiled;
  const there = new Set([...loaded.configs, ...loaded.objects].map(({ origin }) => keyText(origin.key)));
  const gone = replaced.filter(({ key }) => !there.has(keyText(key)));
  // Secrets have a store of their own: missing ones are reported separately.
  const messages = analysisOf(loaded).filter(isAbout(loaded));
  const analysis = await recordAnalysis(store, pushed.version, loaded, () => messages).then(
    () => ({ messages }),
    (cause: unknown) => ({ messages, unrecorded: notRecorded(cause) }),
  );
  const hasProxies = compiled.value.classes.length > 0;
  const secrets = await missingSecrets(store, createSnapshotReader(store), pushed.version);
  return {
    pushed,
    analysis,
    gone,
    hasProxies,
    secrets,
    summary: json ? { ...compiledSummary(compiled), ...written } : {},
  };
}

const changedSettings = ({ primary, binaryForms, pollDelay, securityFailure }: Options): Partial<RecordedSettings> => ({
  ...(primary === undefined ? {} : { sources: [primary] }),
  ...(binaryForms === undefined ? {} : { binaryForms }),
  ...(securityFailure === undefined ? {} : { securityFailure }),
  ...(pollDelay === undefined ? {} : { pollDelayMs: pollDelay }),
});

/** Objects that are named. */
const maxGone = 10;

function goneLines(gone: readonly Origin[]): readonly string[] {
  const named = gone.slice(0, maxGone);
  const lines = named.map(({ key, file, line }) => oneLine(`gone: ${keyText(key)}, which was in ${file}:${line}`));
  return gone.length > maxGone ? [...lines, `and ${gone.length - maxGone} more are gone`] : lines;
}

const goneJson = ({ key, file, line }: Origin) => ({ object: keyText(key), file, line });

async function pushToUrl(
  files: readonly SourceFile[],
  url: string,
  { source, allowEmpty = false, acceptClosed = false }: Options,
  publishing: Publishing,
): Promise<Recompiled> {
  const path = `/sources/${encodeURIComponent(source)}`;
  const body = JSON.stringify({ files, allowEmpty, acceptClosed, ...publishing });
  return JSON.parse(await postSigned(url, path, body, webhookSecret()));
}
