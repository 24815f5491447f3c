import { type HeldVersions, nothingHeld } from "../../compile/isolation/held-sources.ts";
import { createRecompiler } from "../../compile/recompile.ts";
import { compileSettingsFrom } from "../../compile/settings-from-environment.ts";
import type { CompileObserver } from "../../compile/telemetry/observer.ts";
import { sliceWaitMs } from "../../compile/triggers/pace.ts";
import { PortolanError } from "../../config/diagnostic.ts";
import { openStore } from "../../storage/open-store.ts";
import { ownBuild } from "../own-build.ts";
import { type CompileNews, type CompileRequest, failureOf } from "./compile-messages.ts";
import { layingByThread } from "./laying-thread.ts";
import { sliceThreadsFor } from "./slice-threads-for.ts";

type Start = Extract<CompileRequest, { readonly kind: "start" }>;

/** The compile process of `portolan serve`: compiles when it is sent a request, and ends with the process that started it. */
export function runCompileProcess(): void {
  const tell = (news: CompileNews): void => {
    process.send?.(JSON.stringify(news), () => {});
  };
  let held: HeldVersions = nothingHeld;
  let compiler: ReturnType<typeof startCompiler> | undefined;
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
        compiler = startCompiler(request, () => held, tell);
        // Told to whoever asks for a compile.
        compiler.catch(() => {});
        break;
      case "compile":
        held = new Map(request.held.map(({ name, version }) => [name, version]));
        Promise.resolve(compiler)
          .then((compile) => compile?.(request.publishing, mayPublish))
          .then(
            (told) => told !== undefined && tell({ kind: "answer", told }),
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
  held: () => HeldVersions,
  tell: (news: CompileNews) => void,
): Promise<ReturnType<typeof createRecompiler>> {
  const { world, publisher, pace, slicing } = compileSettingsFrom(env);
  const build = await ownBuild();
  const store = { where, s3Endpoint };
  const onTrouble = (of: "slice" | "laying") => (reason: string) => tell({ kind: "trouble", of, reason });
  const fanOut = sliceThreadsFor(slicing, { ...store, build, onTrouble: onTrouble("slice") });
  const writesBeside = fanOut === undefined && slicing.workers > 1;
  return createRecompiler({
    store: await openStore(where, { s3Endpoint }),
    sources,
    world,
    publisher,
    build,
    held,
    observer: tellingObserver(tell),
    startLaying: writesBeside ? layingByThread({ ...store, onTrouble: onTrouble("laying") }) : undefined,
    ...(fanOut === undefined ? {} : { fanOut: { ...fanOut, waitMs: sliceWaitMs(pace) } }),
  });
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
