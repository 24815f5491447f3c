/** What a list of proxies lacks, where records of other servers were not read. */
export const unreadRecords = (count: number): string =>
  `${count} records of other servers were not read: the store is slow, or there are too many. Proxies that only these name are missing; try again.`;
