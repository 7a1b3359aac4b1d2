// Queries across partitions, each with the result worked out here over the same documents. `ordered` results are compared
// as they come, the others as bags; of a `count` there must be so many different ones among those wanted.

import assert from "node:assert/strict";
import { by, canonical, distinct, documents as docs, groups, mean, sum } from "./documents.mjs";
import { plain } from "./support.mjs";

const sorted = (f, descending) => [...docs].sort(by(f, descending));
const some = (f) => docs.filter(f);

export const filters = [
  { query: "SELECT VALUE c.id FROM c", want: docs.map((d) => d.id) },
  { query: "SELECT c.id, c.u FROM c WHERE c.n = 1 AND c.u > 100", want: some((d) => d.n === 1 && d.u > 100).map(({ id, u }) => ({ id, u })) },
  { query: "SELECT VALUE c.id FROM c WHERE c.s LIKE '%rr%' OR STARTSWITH(c.s, 'é')", want: some((d) => d.s.includes("rr") || d.s.startsWith("é")).map((d) => d.id) },
  { query: "SELECT VALUE c.id FROM c WHERE NOT IS_DEFINED(c.x)", want: some((d) => !("x" in d)).map((d) => d.id) },
  { query: "SELECT VALUE c.id FROM c WHERE c.x = null", want: some((d) => d.x === null).map((d) => d.id) },
  { query: "SELECT VALUE c.id FROM c WHERE c.x != 1", want: some((d) => "x" in d && d.x !== 1).map((d) => d.id) },
  { query: "SELECT VALUE c.id FROM c WHERE c.u BETWEEN 10 AND 40 AND c.e IN ('E0', 'E2')", want: some((d) => d.u >= 10 && d.u <= 40 && d.e !== "E1").map((d) => d.id) },
  { query: "SELECT VALUE c.id FROM c WHERE ARRAY_CONTAINS(c.tags, 'odd') AND c.o.b.c = 2", want: some((d) => d.tags.includes("odd") && d.o.b.c === 2).map((d) => d.id) },
  { query: "SELECT c.id, t AS tag FROM c JOIN t IN c.tags WHERE t != 'all' AND c.n = 3", want: some((d) => d.n === 3).flatMap((d) => d.tags.slice(1).map((tag) => ({ id: d.id, tag }))) },
  { query: "SELECT VALUE c.id FROM c WHERE EXISTS (SELECT VALUE t FROM t IN c.tags WHERE t = 'g2')", want: some((d) => d.tags.includes("g2")).map((d) => d.id) },
  { query: "SELECT VALUE ARRAY_LENGTH(ARRAY(SELECT VALUE t FROM t IN c.tags WHERE t != 'all')) + c.n FROM c WHERE c.n > 2", want: some((d) => d.n > 2).map((d) => 2 + d.n) },
  { query: "SELECT VALUE { 'k': c.sometimes ?? -1, 'even': c.n % 2 = 0 ? 'yes' : 'no' } FROM c", want: docs.map((d) => ({ k: d.sometimes ?? -1, even: d.n % 2 ? "no" : "yes" })) },
  { query: "SELECT VALUE c.id FROM c WHERE c.at >= '2026-01-20T00:00:00.000Z'", want: some((d) => d.at >= "2026-01-20").map((d) => d.id) },
  { query: { query: "SELECT VALUE c.id FROM c WHERE c.o = @o AND ARRAY_CONTAINS(@ns, c.n)", parameters: [{ name: "@o", value: { b: { c: 4 }, a: 1 } }, { name: "@ns", value: [0, 3] }] }, want: some((d) => d.o.a === 1 && d.o.b.c === 4 && (d.n === 0 || d.n === 3)).map((d) => d.id) },
];

export const orders = [
  { query: "SELECT VALUE c.u FROM c ORDER BY c.u", want: sorted((d) => d.u).map((d) => d.u) },
  { query: "SELECT VALUE c.u FROM c ORDER BY c.u DESC", want: sorted((d) => d.u, true).map((d) => d.u) },
  { query: "SELECT c.id, c.u AS k FROM c WHERE c.n = 1 OR c.n = 2 ORDER BY c.u DESC", want: sorted((d) => d.u, true).filter((d) => d.n === 1 || d.n === 2).map((d) => ({ id: d.id, k: d.u })) },
  { query: "SELECT VALUE c.s FROM c ORDER BY c.s", want: sorted((d) => d.s).map((d) => d.s) },
  { query: "SELECT VALUE c.s FROM c ORDER BY c.s DESC", want: sorted((d) => d.s, true).map((d) => d.s) },
  { query: "SELECT VALUE c.f FROM c WHERE c.f > 3.5 ORDER BY c.f", want: sorted((d) => d.f).map((d) => d.f).filter((f) => f > 3.5) },
  { query: "SELECT VALUE c.at FROM c ORDER BY c.at DESC", want: sorted((d) => d.at, true).map((d) => d.at) },
  { query: "SELECT VALUE c.o.b.c FROM c ORDER BY c.o.b.c", want: sorted((d) => d.o.b.c).map((d) => d.o.b.c) },
  { query: "SELECT VALUE c.id FROM c ORDER BY c.n ASC, c.u DESC", want: [...docs].sort((a, b) => a.n - b.n || b.u - a.u).map((d) => d.id) },
  { query: "SELECT VALUE c.id FROM c ORDER BY c.n DESC, c.u ASC", want: [...docs].sort((a, b) => b.n - a.n || a.u - b.u).map((d) => d.id) },
  { query: "SELECT TOP 5 VALUE c.u FROM c ORDER BY c.u", want: sorted((d) => d.u).slice(0, 5).map((d) => d.u) },
  { query: { query: "SELECT TOP @n VALUE c.u FROM c ORDER BY c.u DESC", parameters: [{ name: "@n", value: 11 }] }, want: sorted((d) => d.u, true).slice(0, 11).map((d) => d.u) },
  { query: "SELECT VALUE c.u FROM c ORDER BY c.u OFFSET 3 LIMIT 20", want: sorted((d) => d.u).slice(3, 23).map((d) => d.u) },
  { query: "SELECT VALUE c.u FROM c ORDER BY c.u OFFSET 230 LIMIT 100", want: sorted((d) => d.u).slice(230).map((d) => d.u) },
  { query: "SELECT VALUE c.u FROM c ORDER BY c.u OFFSET 500 LIMIT 5", want: [] },
  { query: { query: "SELECT VALUE c.u FROM c WHERE c.u >= @m ORDER BY c.u OFFSET @o LIMIT @l", parameters: [{ name: "@m", value: 10 }, { name: "@o", value: 2 }, { name: "@l", value: 9 }] }, want: sorted((d) => d.u).filter((d) => d.u >= 10).slice(2, 11).map((d) => d.u) },
  { query: "SELECT c.u, t AS tag FROM c JOIN t IN c.tags WHERE c.n = 1 ORDER BY c.u", want: sorted((d) => d.u).filter((d) => d.n === 1).flatMap((d) => d.tags.map((tag) => ({ u: d.u, tag }))) },
  { query: "SELECT VALUE c.id FROM c WHERE c.t = 't1' ORDER BY c.u", want: sorted((d) => d.u).filter((d) => d.t === "t1").map((d) => d.id) },
  { query: "SELECT VALUE c.id FROM c WHERE c.t IN ('t1', 't2', 't3') ORDER BY c.u", want: sorted((d) => d.u).filter((d) => ["t1", "t2", "t3"].includes(d.t)).map((d) => d.id) },
  { query: "SELECT VALUE c.id FROM c WHERE c.t = 't1' AND c.t = 't2' ORDER BY c.u", want: [] },
  { query: "SELECT VALUE c.id FROM c WHERE c.t = 't1' AND c.e = 'E1' ORDER BY c.u", want: sorted((d) => d.u).filter((d) => d.t === "t1" && d.e === "E1").map((d) => d.id) },
  { query: "SELECT VALUE c.sometimes FROM c WHERE IS_DEFINED(c.sometimes) ORDER BY c.sometimes DESC", want: some((d) => "sometimes" in d).map((d) => d.sometimes).sort((a, b) => b - a) },
  { query: "SELECT * FROM c WHERE c.n = 2 ORDER BY c.u", want: sorted((d) => d.u).filter((d) => d.n === 2), plain: true },
].map((q) => ({ ...q, ordered: true }));

export const limits = [
  { query: "SELECT TOP 4 VALUE c.n FROM c WHERE c.n = 2", want: [2, 2, 2, 2] },
  { query: "SELECT TOP 0 VALUE c.n FROM c", want: [] },
  { query: "SELECT VALUE c.n FROM c WHERE c.n = 2 OFFSET 3 LIMIT 4", want: [2, 2, 2, 2] },
  { query: "SELECT VALUE c.n FROM c WHERE c.n = 2 OFFSET 57 LIMIT 40", want: [2, 2, 2] },
  { query: "SELECT VALUE c.n FROM c OFFSET 0 LIMIT 0", want: [] },
  { query: "SELECT TOP 25 VALUE c.id FROM c WHERE c.n < 2", want: some((d) => d.n < 2).map((d) => d.id), count: 25 },
  { query: "SELECT VALUE c.id FROM c OFFSET 100 LIMIT 31", want: docs.map((d) => d.id), count: 31 },
  { query: "SELECT DISTINCT TOP 5 VALUE c.t FROM c", want: distinct(docs.map((d) => d.t)), count: 5 },
];

const numbers = (name) => docs.map((d) => d[name]);

export const distincts = [
  { query: "SELECT DISTINCT c.n FROM c", want: [0, 1, 2, 3].map((n) => ({ n })) },
  // Without its filter the SDK itself would lose a value of null, false, 0 or "".
  { query: "SELECT DISTINCT VALUE c.x FROM c WHERE c.x != null", want: [1, 2, "s", true] },
  { query: "SELECT DISTINCT c.x FROM c", want: [{ x: 1 }, { x: 2 }, { x: "s" }, { x: true }, { x: null }, {}] },
  { query: "SELECT DISTINCT VALUE c.o FROM c", want: distinct(docs.map((d) => d.o)) },
  { query: "SELECT DISTINCT VALUE c.tags FROM c", want: distinct(docs.map((d) => d.tags)) },
  { query: "SELECT DISTINCT c.n, c.e FROM c WHERE c.u < 90", want: distinct(some((d) => d.u < 90).map(({ n, e }) => ({ n, e }))) },
  { query: "SELECT DISTINCT VALUE t FROM c JOIN t IN c.tags", want: ["all", "g0", "g1", "g2", "odd", "even"] },
  { query: "SELECT DISTINCT VALUE c.t FROM c ORDER BY c.t", want: distinct(numbers("t")).sort(), ordered: true },
  { query: "SELECT DISTINCT TOP 3 VALUE c.t FROM c ORDER BY c.t DESC", want: distinct(numbers("t")).sort().reverse().slice(0, 3), ordered: true },
  { query: "SELECT DISTINCT VALUE c.t FROM c ORDER BY c.t OFFSET 2 LIMIT 3", want: distinct(numbers("t")).sort().slice(2, 5), ordered: true },
];

export const aggregates = [
  { query: "SELECT VALUE COUNT(1) FROM c", want: [docs.length] },
  { query: "SELECT VALUE COUNT(c.x) FROM c", want: [some((d) => "x" in d).length] },
  { query: "SELECT VALUE COUNT(1) FROM c WHERE c.n = 99", want: [0] },
  { query: "SELECT VALUE COUNTIF(c.n > 1) FROM c", want: [some((d) => d.n > 1).length] },
  { query: "SELECT VALUE COUNT(1) FROM c JOIN t IN c.tags", want: [3 * docs.length] },
  { query: "SELECT VALUE SUM(c.f) FROM c", want: [sum(numbers("f"))] },
  { query: "SELECT VALUE AVG(c.f) FROM c", want: [mean(numbers("f"))] },
  { query: "SELECT VALUE AVG(c.sometimes) FROM c", want: [mean(some((d) => "sometimes" in d).map((d) => d.sometimes))] },
  { query: "SELECT VALUE MIN(c.u) FROM c", want: [Math.min(...numbers("u"))] },
  { query: "SELECT VALUE MAX(c.u) FROM c WHERE c.e = 'E1'", want: [Math.max(...some((d) => d.e === "E1").map((d) => d.u))] },
  { query: "SELECT VALUE MIN(c.s) FROM c", want: [[...numbers("s")].sort()[0]] },
  { query: "SELECT VALUE MAX(c.s) FROM c", want: [[...numbers("s")].sort().at(-1)] },
  { query: "SELECT VALUE MIN(c.t) FROM c WHERE c.n = 99", want: [] },
  { query: "SELECT VALUE MAX(c.x) FROM c", want: ["s"] },
  { query: "SELECT VALUE MIN(c.x) FROM c", want: [null] },
  { query: "SELECT COUNT(1) AS n, SUM(c.n) AS s, AVG(c.n) AS a, MIN(c.u) AS lo, MAX(c.u) AS hi FROM c", want: [{ n: docs.length, s: sum(numbers("n")), a: mean(numbers("n")), lo: Math.min(...numbers("u")), hi: Math.max(...numbers("u")) }] },
  { query: "SELECT COUNT(1) FROM c", want: [{ $1: docs.length }] },
  { query: "SELECT VALUE MAKESET(c.n) FROM c", want: [[0, 1, 2, 3]], bags: true },
  { query: "SELECT VALUE MAKELIST(c.u) FROM c WHERE c.n = 1", want: [some((d) => d.n === 1).map((d) => d.u)], bags: true },
  { query: "SELECT VALUE COUNT(1) FROM c WHERE c.t = 't4'", want: [some((d) => d.t === "t4").length] },
];

export const groupings = [
  { query: "SELECT c.n, COUNT(1) AS k, AVG(c.u) AS a FROM c GROUP BY c.n", want: groups(docs, (d) => d.n).map((g) => ({ n: g[0].n, k: g.length, a: mean(g.map((d) => d.u)) })) },
  { query: "SELECT c.x, COUNT(1) AS k FROM c GROUP BY c.x", want: groups(docs, (d) => d.x).map((g) => ("x" in g[0] ? { x: g[0].x, k: g.length } : { k: g.length })) },
  { query: "SELECT c.n, c.e, SUM(c.f) AS f, MIN(c.u) AS lo, MAX(c.u) AS hi FROM c GROUP BY c.n, c.e", want: groups(docs, (d) => [d.n, d.e]).map((g) => ({ n: g[0].n, e: g[0].e, f: sum(g.map((d) => d.f)), lo: Math.min(...g.map((d) => d.u)), hi: Math.max(...g.map((d) => d.u)) })) },
  { query: "SELECT c.o.b.c AS c, COUNT(1) AS k FROM c GROUP BY c.o.b.c", want: groups(docs, (d) => d.o.b.c).map((g) => ({ c: g[0].o.b.c, k: g.length })) },
  { query: "SELECT c.o, COUNT(1) AS k FROM c GROUP BY c.o", want: groups(docs, (d) => d.o).map((g) => ({ o: g[0].o, k: g.length })) },
  { query: "SELECT VALUE c.n FROM c WHERE c.n > 0 GROUP BY c.n", want: [1, 2, 3] },
  { query: "SELECT VALUE COUNT(1) FROM c GROUP BY c.n", want: groups(docs, (d) => d.n).map((g) => g.length) },
  { query: "SELECT UPPER(c.t) AS T, MAX(c.u) AS hi FROM c WHERE c.n = 1 GROUP BY UPPER(c.t)", want: groups(some((d) => d.n === 1), (d) => d.t).map((g) => ({ T: g[0].t.toUpperCase(), hi: Math.max(...g.map((d) => d.u)) })) },
  { query: "SELECT c.n, COUNT(1) AS k FROM c WHERE c.n = 99 GROUP BY c.n", want: [] },
  { query: "SELECT t AS tag, COUNT(1) AS k FROM c JOIN t IN c.tags GROUP BY t", want: groups(docs.flatMap((d) => d.tags), (t) => t).map((g) => ({ tag: g[0], k: g.length })) },
  { query: "SELECT c.t, COUNT(1) AS k FROM c GROUP BY c.t OFFSET 3 LIMIT 4", want: groups(docs, (d) => d.t).map((g) => ({ t: g[0].t, k: g.length })), count: 4 },
];

/** Fails unless the rows are those that a query promises. */
export function compare(rows, { want, ordered = false, bags = false, count, plain: stripped = false }) {
  const text = (row) => canonical(bags && Array.isArray(row) ? [...row].sort(by((v) => canonical(v))) : row);
  const got = rows.map((row) => text(stripped ? plain(row) : row));
  const wanted = want.map(text);
  if (count !== undefined) {
    assert.equal(new Set(got).size, count);
    assert.equal(got.length, count);
    assert.deepEqual(got.filter((row) => !wanted.includes(row)), []);
  } else if (ordered) {
    assert.deepEqual(got, wanted);
  } else {
    assert.deepEqual(got.sort(), wanted.sort());
  }
}
