/** What the API says of a store that nothing was published to, with a 503. The console knows it by this. Without imports: the edge carries it. */
export const nothingYet = "nothing was published yet";
