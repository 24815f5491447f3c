import { describe, expect, it } from "vitest";
import { createBudget } from "../../lib/limits/budget.ts";
import { createSemaphore } from "../../lib/limits/semaphore.ts";

/** Enters, and tells whether it is inside. */
function comer(semaphore: ReturnType<typeof createSemaphore>, bytes: number, signal?: AbortSignal) {
  const comer = { inside: false, leave: () => {} };
  const entered = semaphore.enter(bytes, signal).then((leave) => {
    comer.inside = true;
    comer.leave = leave;
  });
  return { comer, entered };
}
const settle = () => new Promise((resolve) => setTimeout(resolve, 1));

describe("a gate", () => {
  it("lets in what there is room for, and the others in order when somebody leaves", async () => {
    const semaphore = createSemaphore(10);
    const comers = [6, 4, 3, 8].map((bytes) => comer(semaphore, bytes).comer);
    const inside = () => comers.map((one) => one.inside);
    await settle();
    expect(inside()).toEqual([true, true, false, false]);
    comers[1]?.leave();
    comers[1]?.leave();
    await settle();
    expect(inside()).toEqual([true, true, true, false]);
    comers[0]?.leave();
    await settle();
    expect(inside()).toEqual([true, true, true, false]);
    comers[2]?.leave();
    await settle();
    expect(inside()).toEqual([true, true, true, true]);
  });

  it("lets nobody overtake", async () => {
    const semaphore = createSemaphore(10);
    const [first, large, small] = [9, 5, 1].map((bytes) => comer(semaphore, bytes).comer);
    await settle();
    expect([first?.inside, large?.inside, small?.inside]).toEqual([true, false, false]);
  });

  it("lets in what is larger than itself, alone", async () => {
    const semaphore = createSemaphore(10);
    const huge = comer(semaphore, 100).comer;
    const next = comer(semaphore, 1).comer;
    await settle();
    expect([huge.inside, next.inside]).toEqual([true, false]);
    huge.leave();
    await settle();
    expect(next.inside).toBe(true);
  });

  it("forgets whoever goes away while waiting", async () => {
    const semaphore = createSemaphore(10);
    const first = comer(semaphore, 10).comer;
    await settle();
    const gone = new AbortController();
    const { entered } = comer(semaphore, 10, gone.signal);
    const next = comer(semaphore, 10).comer;
    gone.abort(new Error("gone"));
    await expect(entered).rejects.toThrow("gone");
    first.leave();
    await settle();
    expect(next.inside).toBe(true);
  });
});

describe("a budget", () => {
  it("gives what it has, and what it got back", () => {
    const budget = createBudget(10);
    expect([budget.take(6), budget.take(5), budget.take(4), budget.take(1)]).toEqual([true, false, true, false]);
    budget.give(4);
    expect(budget.take(4)).toBe(true);
  });
});
