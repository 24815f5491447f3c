import type { Diagnostic } from "../../base/diagnostic.ts";
import type { PublishResult } from "../../snapshot/publish.ts";

/**
 * Parts of a compile, in their order: reading the sources, making services of what they hold, the mesh, its classes, their resources
 * with the texts that are stored, and publishing. Where the classes are compiled in slices, those between reading and publishing are
 * other processes' or threads', and are waiting for the slices and joining them here.
 */
export const stageNames = ["read", "world", "mesh", "classify", "generate", "slices", "join", "publish"] as const;
export type StageName = (typeof stageNames)[number];

/** Who is told what a compile does. What looks at a clock is behind this; the stages themselves do not. */
export interface CompileObserver {
  /** Somebody asks for a compile. @param sentMs when, in milliseconds since the epoch; absent: now */
  asked(sentMs?: number): void;
  begin(): CompileWatch;
}

/** One compile. */
export interface CompileWatch {
  /** @returns ends the stage */
  stage(name: StageName): () => void;
  done(report: CompileReport): void;
  failed(cause: unknown): void;
}

export interface CompileReport {
  readonly kind: Exclude<PublishResult["kind"], "lost">;
  readonly generation: number;
  /** Hash of the root. */
  readonly root: string;
  /** More than one where somebody else published meanwhile. */
  readonly attempts: number;
  readonly classes: number;
  readonly objectsWritten: number;
  readonly bytesWritten: number;
  readonly memo: MemoUse;
  /** Why a process that started cold could take nothing from the newest publish, and has made everything; absent: it took, or was not to. */
  readonly missed?: string;
  readonly errors: number;
  readonly warnings: number;
  /** Errors of the mesh's settings, of which the last valid ones count. */
  readonly settingsErrors: number;
  /** Security objects and rules that fail closed (`security-closed`). */
  readonly closed: number;
  /** Those that are left out (`security-open`). */
  readonly open: number;
}

/** How often steps were remembered, and how often made anew. */
export interface MemoUse {
  readonly hits: number;
  readonly misses: number;
}

/** Of a compile that remembers nothing, or whose steps others have taken. */
export const noMemoUse: MemoUse = { hits: 0, misses: 0 };

const nobody: CompileWatch = { stage: () => () => {}, done() {}, failed() {} };

export const noObserver: CompileObserver = { asked() {}, begin: () => nobody };

/** Tells several. */
export function observers(all: readonly CompileObserver[]): CompileObserver {
  return {
    asked: (sentMs) => {
      for (const one of all) one.asked(sentMs);
    },
    begin() {
      const watches = all.map((one) => one.begin());
      return {
        stage(name) {
          const ends = watches.map((watch) => watch.stage(name));
          return () => {
            for (const end of ends) end();
          };
        },
        done: (report) => {
          for (const watch of watches) watch.done(report);
        },
        failed: (cause) => {
          for (const watch of watches) watch.failed(cause);
        },
      };
    },
  };
}

/** Does a part of a compile. */
export type Staged = <T>(name: StageName, work: () => T) => T;

/** Without anybody who is told. */
export const unwatched: Staged = (_name, work) => work();

/** As a stage of a watched compile; work that is not done at once is over when its promise is. */
export const stagedBy =
  (watch: CompileWatch): Staged =>
  (name, work) => {
    const end = watch.stage(name);
    let isPending = false;
    try {
      const result = work();
      if (result instanceof Promise) {
        isPending = true;
        result.then(end, end);
      }
      return result;
    } finally {
      if (!isPending) end();
    }
  };

/** How many of these messages have a code. */
export const countOfCode = (diagnostics: readonly Diagnostic[], code: Diagnostic["code"]): number =>
  diagnostics.reduce((sum, one) => (one.code === code ? sum + 1 : sum), 0);

export const countOf = (diagnostics: readonly Diagnostic[], severity: Diagnostic["severity"]): number =>
  diagnostics.reduce((sum, one) => (one.severity === severity ? sum + 1 : sum), 0);
