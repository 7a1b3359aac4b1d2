// The documents that queries across partitions are compared over, and the arithmetic that the expected results need.

const words = ["apple", "Banana", "cherry", "éclair", "Ωmega", "zebra 🦓", ""];
const mixed = [1, 2, "s", true, null, undefined];

/** 240 documents over 60 full keys and 20 prefixes. u is unique, n, f and s repeat, x has every type or none. */
export const documents = Array.from({ length: 240 }, (_, i) => {
  const document = {
    id: `d${i}`,
    pk: `p${i % 60}`,
    t: `t${i % 20}`,
    e: `E${i % 3}`,
    u: (i * 7) % 241,
    n: i % 4,
    f: ((i * 37) % 101) / 8, // eighths add up exactly in any order
    s: words[i % words.length] + (i % 5),
    tags: ["all", `g${i % 3}`, i % 2 ? "odd" : "even"],
    o: { a: i % 3, b: { c: i % 5 } },
    at: new Date(Date.UTC(2026, 0, 1 + (i % 28))).toISOString(),
  };
  if (mixed[i % mixed.length] !== undefined) document.x = mixed[i % mixed.length];
  if (i % 5) document.sometimes = i % 11;
  return document;
});

export const sum = (numbers) => numbers.reduce((a, b) => a + b, 0);
export const mean = (numbers) => sum(numbers) / numbers.length;
export const distinct = (values) => [...new Map(values.map((v) => [canonical(v), v])).values()];

/** Orders by what f gives, strings by UTF-16 units as the service does; ties keep their order. */
export const by = (f, descending = false) => (a, b) => {
  const [x, y] = descending ? [f(b), f(a)] : [f(a), f(b)];
  return x < y ? -1 : x > y ? 1 : 0;
};

/** Groups documents by a key, in no particular order. */
export function groups(list, f) {
  const found = new Map();
  for (const d of list) {
    const key = f(d) === undefined ? "undefined" : canonical(f(d));
    found.set(key, [...(found.get(key) ?? []), d]);
  }
  return [...found.values()];
}

/** JSON in which the order of an object's members says nothing. */
export function canonical(v) {
  return JSON.stringify(v, (_, inner) =>
    inner && typeof inner === "object" && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );
}
