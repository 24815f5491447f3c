import { wholeNumberIn } from "../../config/setting-values.ts";
import { maxSlices } from "./plan.ts";

/** What a compile function's environment says of slices: whole numbers. */
export interface SliceSettings {
  /** Threads, this one among them; on Node alone. */
  readonly COMPILE_WORKERS?: string | undefined;
  readonly COMPILE_SLICES?: string | undefined;
  readonly COMPILE_SLICE_MEMORY_MIB?: string | undefined;
}

/** Into how many slices classes are cut at most, and who compiles them. */
export interface Slicing {
  readonly workers: number;
  /** One: they are compiled as a whole. */
  readonly slices: number;
  /** Heap of a thread, in MiB; undefined: what Node gives it. */
  readonly memoryMib: number | undefined;
}

/**
 * @param prefix of the settings' names, for messages
 * @throws PortolanError that says what a setting may be
 */
export function readSlicing(settings: SliceSettings, prefix = ""): Slicing {
  const named = (name: keyof SliceSettings) => [`${prefix}${name}`, settings[name]] as const;
  const workers = wholeNumberIn(...named("COMPILE_WORKERS"), { least: 1, most: 64, usual: 1 });
  const memoryMib = wholeNumberIn(...named("COMPILE_SLICE_MEMORY_MIB"), { least: 64, most: 65_536, usual: undefined });
  // What all slices have in common each of them makes: they save time where there are more than two threads, and room where that is bounded.
  const usual = workers === 2 && memoryMib === undefined ? 1 : workers;
  return {
    workers,
    slices: wholeNumberIn(...named("COMPILE_SLICES"), { least: 1, most: maxSlices, usual }),
    memoryMib,
  };
}
