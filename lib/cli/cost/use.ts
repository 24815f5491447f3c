/** What a fleet asks for, in a month: the formula of docs/cost.md. */

/** How many proxies there are, how they poll, and what changes. */
export interface Fleet {
  readonly proxies: number;
  /** Polls that a proxy has open at a time: for clusters, for listeners, and one for each route table. */
  readonly loops: number;
  /** `refresh_delay` of the bootstrap: the next poll comes between one and two of it after an answer. */
  readonly delayMs: number;
  /** How long a poll without news is held; 0: not at all. */
  readonly holdMs: number;
  /** Processes, isolates or environments that serve at a time, each of which looks at HEAD at most once in `headTtlMs`. */
  readonly fronts: number;
  readonly headTtlMs: number;
  /** Publishes, a month. */
  readonly changes: number;
  /** Loops of a proxy that a publish has something new for; a part of one where it concerns few proxies. */
  readonly changedLoops: number;
  /** Size of such an answer. */
  readonly answerBytes: number;
  /** Size of a poll, of the answer that nothing is new, both with their headers. */
  readonly pollBytes: number;
  readonly unchangedBytes: number;
  /** Objects that a front reads for a publish: the root, what it names, what changed. */
  readonly readsPerChange: number;
  /** Objects that are written for a publish, with HEAD, its copy, the lease, the messages of the analysers and the record of a delivery. */
  readonly writesPerChange: number;
  /** Objects that a compile reads. */
  readonly readsPerCompile: number;
  /** Compiles that find nothing new: those of a schedule. */
  readonly idleCompiles: number;
  /** How long a compile takes. */
  readonly compileMs: number;
  /** What lies in the store. */
  readonly storedBytes: number;
  /** Services of the mesh, and objects that the first push writes for each. */
  readonly services: number;
  readonly writesPerService: number;
  /** Share of requests of which the platform itself writes a log entry; 0 as Portolan is deployed. */
  readonly loggedShare: number;
  /** Size of what Lambda writes of a request then: START, END and REPORT. */
  readonly loggedBytes: number;
  /** Lines that the compile function writes of a compile, and their size together. */
  readonly linesPerCompile: number;
  readonly lineBytesPerCompile: number;
}

/** In a month. */
export interface Use {
  readonly requests: number;
  /** Of all polls together. */
  readonly heldSeconds: number;
  readonly storeReads: number;
  readonly storeWrites: number;
  /** Those among them of the first push, which comes once. */
  readonly firstWrites: number;
  /** Log entries, as Workers count them, and their size, as Lambda does. */
  readonly logLines: number;
  readonly logBytes: number;
  readonly bytesIn: number;
  readonly bytesOut: number;
  readonly compiles: number;
  readonly compileMs: number;
  readonly storedBytes: number;
}

const monthMs = 30 * 24 * 3_600_000;

/** A fleet as the generated bootstraps make it poll, of a mesh of some hundred services, with 100 publishes a day. */
export const usualFleet: Omit<Fleet, "proxies"> = {
  loops: 4,
  delayMs: 1_000,
  holdMs: 0,
  fronts: 10,
  headTtlMs: 1_000,
  changes: 3_000,
  changedLoops: 1,
  answerBytes: 20_000,
  pollBytes: 1_000,
  unchangedBytes: 120,
  readsPerChange: 15,
  writesPerChange: 26,
  readsPerCompile: 40,
  idleCompiles: 30 * 24 * 6,
  compileMs: 2_000,
  storedBytes: 200e6,
  services: 1_000,
  writesPerService: 5.6,
  loggedShare: 0,
  loggedBytes: 300,
  linesPerCompile: 2,
  lineBytesPerCompile: 1_000,
};

/**
 * What a fleet uses.
 *
 * @param periodMs of what is counted; a month of 30 days when absent. `changes` and `idleCompiles` are those of this time
 */
export function useOf(fleet: Fleet, periodMs = monthMs): Use {
  const { proxies, loops, delayMs, holdMs, changes, changedLoops, fronts } = fleet;
  const roundMs = 1.5 * delayMs + holdMs;
  const news = changes * proxies * changedLoops;
  // A change ends a hold half-way at the mean, and the round after it begins so much earlier.
  const requests = (periodMs * proxies * loops) / roundMs + (news * (holdMs / 2)) / roundMs;
  // Whoever is asked, or holds, looks at HEAD again when what it knows is old.
  const looks = Math.min((periodMs / fleet.headTtlMs) * fronts, holdMs > 0 ? Number.POSITIVE_INFINITY : requests);
  const compiles = changes + fleet.idleCompiles;
  const firstWrites = fleet.services * fleet.writesPerService;
  const logged = requests * fleet.loggedShare;
  return {
    requests,
    heldSeconds: (periodMs * proxies * loops * holdMs) / roundMs / 1_000,
    storeReads: looks + changes * fronts * fleet.readsPerChange + compiles * fleet.readsPerCompile,
    storeWrites: firstWrites + changes * fleet.writesPerChange,
    firstWrites,
    logLines: logged + compiles * fleet.linesPerCompile,
    logBytes: logged * fleet.loggedBytes + compiles * fleet.lineBytesPerCompile,
    bytesIn: requests * fleet.pollBytes,
    bytesOut: (requests - news) * fleet.unchangedBytes + news * fleet.answerBytes,
    compiles,
    compileMs: compiles * fleet.compileMs,
    storedBytes: fleet.storedBytes,
  };
}
