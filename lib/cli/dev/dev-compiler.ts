import { PortolanError } from "../../base/diagnostic.ts";
import { createIsolatedCompile } from "../../compile/isolation/isolated-compile.ts";
import type { CompileObserver } from "../../compile/telemetry/observer.ts";
import { usualPace } from "../../compile/triggers/pace.ts";
import type { ObjectStore } from "../../storage/object-store.ts";
import { createCompileProcess } from "../serve/compile-process.ts";
import type { Publication } from "./dev-report.ts";
import { type DevSettings, folderSource } from "./dev-settings.ts";

/** Compiles for `portolan dev` in a process of its own, so that one that runs out of memory or time costs no more than its change. */
export interface DevCompiler {
  /** Fills the folder's source, compiles all, and publishes. @throws PortolanError when that fails; what is served stays */
  publish(): Promise<Publication>;
  close(): void;
}

export interface DevCompilerOptions {
  readonly store: ObjectStore;
  /** The same, as `openStore` takes it. */
  readonly where: string;
  readonly settings: DevSettings;
  readonly observer: CompileObserver;
  /** Sources wait to be tried one by one: `publish` is to be called again. */
  readonly onWaiting: () => void;
}

/** Starts the process. @throws PortolanError where its program was not installed */
export function createDevCompiler({ store, where, settings, observer, onWaiting }: DevCompilerOptions): DevCompiler {
  let made: Publication | undefined;
  let isClosed = false;
  const sources = settings.folder === undefined ? settings.sources : [folderSource, ...settings.sources];
  const compiling = createCompileProcess({
    where,
    sources,
    env: {},
    dev: settings,
    observer,
    onTrouble: () => {},
    onPublication: (publication) => {
      made = publication;
    },
  });
  const compile = createIsolatedCompile({
    store,
    primary: sources[0],
    async attempt(attempt) {
      const outcome = isClosed ? undefined : await compiling.attempt(attempt);
      // A change must not be held back because `dev` was ended meanwhile.
      if (outcome === undefined || (outcome.kind === "ended" && isClosed))
        throw new PortolanError("the compile was cancelled because dev is ending");
      return outcome;
    },
    now: Date.now,
    onWaiting: () => setImmediate(onWaiting),
  });
  compiling.start();
  return {
    async publish() {
      const { diagnostics } = await compile(undefined, async () => {}, AbortSignal.timeout(usualPace.turnMs));
      if (made === undefined) throw new PortolanError("the compile process published, but did not report what");
      // With what is held back.
      return { ...made, diagnostics };
    },
    close() {
      isClosed = true;
      compiling.close();
    },
  };
}
