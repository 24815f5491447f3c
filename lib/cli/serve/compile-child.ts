import { causeText } from "../../base/cause-text.ts";
import { PortolanError } from "../../base/diagnostic.ts";
import { createAnalyst } from "../../compile/analyst.ts";
import { nothingWithheld, type WithheldVersions } from "../../compile/isolation/withheld-sources.ts";
import { createRecompiler } from "../../compile/recompile.ts";
import type { CompileObserver } from "../../compile/telemetry/observer.ts";
import { sliceWaitMs } from "../../compile/triggers/pace.ts";
import { compileSettingsFrom } from "../../compile/world/settings-from-environment.ts";
import type { Publishing } from "../../snapshot/publish.ts";
import { openStore } from "../../storage/open-store.ts";
import type { DevSettings } from "../dev/dev-settings.ts";
import { ownBuild } from "../own-build.ts";
import { type CompileNews, type CompileRequest, failureOf, type TroubleOf } from "./compile-messages.ts";
import { prewriteByThread } from "./prewrite-thread.ts";
import { sliceThreadsFor } from "./slice-threads-for.ts";

type CompileOnce = (publishing: Publishing | undefined, mayPublish: () => Promise<void>) => Promise<Round>;

interface Round extends Omit<Extract<CompileNews, { readonly kind: "answer" }>, "kind"> {
  /** What is done once the answer is sent; it does not fail. */
  readonly afterwards?: () => Promise<void>;
}

type Start = Extract<CompileRequest, { readonly kind: "start" }>;

/** The compile process of `portolan serve`: compiles when it is sent a request, and ends with the process that started it. */
export function runCompileProcess(): void {
  const tell = (news: CompileNews): void => {
    process.send?.(JSON.stringify(news), () => {});
  };
  let held: WithheldVersions = nothingWithheld;
  let compiler: Promise<CompileOnce> | undefined;
  let answerPublish: (refused: string | undefined) => void = () => {};
  const mayPublish = async (): Promise<void> => {
    const answered = Promise.withResolvers<string | undefined>();
    answerPublish = answered.resolve;
    tell({ kind: "may-publish" });
    const refused = await answered.promise;
    if (refused !== undefined) throw new PortolanError(refused);
  };
  process.on("message", (text) => {
    const request: CompileRequest = JSON.parse(String(text));
    switch (request.kind) {
      case "start":
        compiler =
          request.dev === undefined
            ? startCompiler(request, () => held, tell)
            : startPublisher(request.where, request.dev, () => held, tell);
        // Told to whoever asks for a compile.
        compiler.catch(() => {});
        break;
      case "compile":
        held = new Map(request.held.map(({ name, version }) => [name, version]));
        Promise.resolve(compiler)
          .then((compile) => compile?.(request.publishing, mayPublish))
          .then(
            (round) => {
              if (round === undefined) return;
              const { afterwards, ...answer } = round;
              tell({ kind: "answer", ...answer });
              return afterwards?.();
            },
            (cause: unknown) => tell({ kind: "refusal", failure: failureOf(cause) }),
          );
        break;
      case "publish":
        answerPublish(request.refused);
    }
  });
  // Nobody is left to allow a publish.
  process.once("disconnect", () => process.exit());
}

async function startCompiler(
  { where, s3Endpoint, sources, env }: Start,
  held: () => WithheldVersions,
  tell: (news: CompileNews) => void,
): Promise<CompileOnce> {
  const { world, publisher, pace, slicing } = compileSettingsFrom(env);
  const build = await ownBuild();
  const store = { where, s3Endpoint };
  const opened = await openStore(where, { s3Endpoint });
  const analyst = createAnalyst(opened, { world });
  const onTrouble = (of: TroubleOf) => (reason: string) => tell({ kind: "trouble", of, reason });
  const fanOut = sliceThreadsFor(slicing, { ...store, build, onTrouble: onTrouble("slice") });
  const writesBeside = fanOut === undefined && slicing.workers > 1;
  const recompile = createRecompiler({
    store: opened,
    sources,
    world,
    publisher,
    build,
    held,
    onPublished: analyst.take,
    observer: tellingObserver(tell),
    startPrewrite: writesBeside ? prewriteByThread({ ...store, onTrouble: onTrouble("prewrite") }) : undefined,
    ...(fanOut === undefined ? {} : { fanOut: { ...fanOut, waitMs: sliceWaitMs(pace) } }),
  });
  const analysisTrouble = onTrouble("analysis");
  const afterwards = () => analyst.record().catch((cause: unknown) => analysisTrouble(causeText(cause)));
  return async (publishing, mayPublish) => ({ told: await recompile(publishing, mayPublish), afterwards });
}

/** What `portolan dev` compiles, with what it reports of that. */
async function startPublisher(
  where: string,
  settings: DevSettings,
  held: () => WithheldVersions,
  tell: (news: CompileNews) => void,
): Promise<CompileOnce> {
  const [{ createPublisher }, { openToWrite }, { trustOf }] = await Promise.all([
    import("../dev/publisher.ts"),
    import("../named-store.ts"),
    import("../secrets/keyring.ts"),
  ]);
  const [store, trust, build] = await Promise.all([openToWrite(where), trustOf(settings.keyring), ownBuild()]);
  return createPublisher(settings, { store, trust, build, held, observer: tellingObserver(tell) });
}

/** Sends what a compile does to the process that logs and measures it. */
function tellingObserver(tell: (news: CompileNews) => void): CompileObserver {
  let stages = 0;
  return {
    asked() {},
    begin() {
      tell({ kind: "began" });
      return {
        stage(name) {
          stages += 1;
          const id = stages;
          tell({ kind: "stage", id, name });
          return () => tell({ kind: "stage-ended", id });
        },
        done: (report) => tell({ kind: "done", report }),
        failed: (cause) => tell({ kind: "failed", failure: failureOf(cause) }),
      };
    },
  };
}
