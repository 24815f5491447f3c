const numbers = new WeakMap<object, number>();
let last = 0;

/** A number that no other object has, the same for the same object: for texts in which objects count by identity. It says nothing else of it. */
export function objectNumber(object: object): number {
  const known = numbers.get(object);
  if (known !== undefined) return known;
  last += 1;
  numbers.set(object, last);
  return last;
}
