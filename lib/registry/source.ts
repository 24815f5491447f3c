/** What an origin held at one moment: all of it, never a part. */
export interface SourceSnapshot<T> {
  readonly content: T;
  /** Opaque; to be compared for equality only. */
  readonly version: string;
}

/** Something that a watch has to say: the content is other now, or the origin cannot be read at the moment. */
export type SourceEvent<T> = SourceSnapshot<T> | { readonly failure: string };

/**
 * An origin of what runs, in its two modes. After the same history both give the same content; a watch hands out
 * what did not change as the same objects again.
 */
export interface Source<T> {
  /**
   * One bounded run for short-lived functions.
   *
   * @throws PortolanError when anything could not be read: what was read until then is not the content
   */
  snapshot(signal?: AbortSignal): Promise<SourceSnapshot<T>>;
  /** The content, and again after changes, until the signal says stop. Failures are told and retried with back-off. */
  watch(signal: AbortSignal): AsyncIterable<SourceEvent<T>>;
}
