// Patch: all six operations over objects and arrays, conditions, and what is refused.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { connect, freshContainer, freshDatabase, plain, refused } from "./support.mjs";

const client = connect();
const database = await freshDatabase(client);
const container = await freshContainer(database);

let serial = 0;
async function given(content) {
  const id = `p${serial++}`;
  await container.items.create({ id, pk: "a", ...content });
  return container.item(id, "a");
}

const accepted = [
  ["add makes a member", { n: 1 }, [{ op: "add", path: "/m", value: { x: 1 } }], { n: 1, m: { x: 1 } }],
  ["add takes the place of a member", { n: 1 }, [{ op: "add", path: "/n", value: "two" }], { n: "two" }],
  ["add inserts into an array", { a: [1, 3] }, [{ op: "add", path: "/a/1", value: 2 }], { a: [1, 2, 3] }],
  ["add appends to an array", { a: [1] }, [{ op: "add", path: "/a/-", value: 2 }, { op: "add", path: "/a/2", value: 3 }], { a: [1, 2, 3] }],
  ["add of null", {}, [{ op: "add", path: "/n", value: null }], { n: null }],
  ["set makes and changes members", { o: { x: 1 } }, [{ op: "set", path: "/o/x", value: 2 }, { op: "set", path: "/o/y", value: [] }], { o: { x: 2, y: [] } }],
  ["set changes an element", { a: [1, 2] }, [{ op: "set", path: "/a/0", value: 9 }], { a: [9, 2] }],
  ["replace changes a member", { n: 1 }, [{ op: "replace", path: "/n", value: 2 }], { n: 2 }],
  ["replace changes an element", { a: [{ b: 1 }] }, [{ op: "replace", path: "/a/0/b", value: 2 }], { a: [{ b: 2 }] }],
  ["remove takes a member out", { n: 1, m: 2 }, [{ op: "remove", path: "/n" }], { m: 2 }],
  ["remove closes an array", { a: [1, 2, 3] }, [{ op: "remove", path: "/a/1" }], { a: [1, 3] }],
  ["incr counts", { n: 1 }, [{ op: "incr", path: "/n", value: 4 }, { op: "incr", path: "/n", value: -2.5 }], { n: 2.5 }],
  ["incr begins a count", {}, [{ op: "incr", path: "/n", value: 4 }], { n: 4 }],
  ["incr counts in an array", { a: [1, 2] }, [{ op: "incr", path: "/a/1", value: 1 }], { a: [1, 3] }],
  ["move renames", { o: { x: 1 } }, [{ op: "move", from: "/o/x", path: "/y" }], { o: {}, y: 1 }],
  ["move takes an element", { a: [1, 2], n: 0 }, [{ op: "move", from: "/a/0", path: "/n" }], { a: [2], n: 1 }],
  ["operations see each other", {}, [{ op: "add", path: "/o", value: {} }, { op: "set", path: "/o/x", value: 1 }, { op: "incr", path: "/o/x", value: 1 }], { o: { x: 2 } }],
  ["escaped names", { "a/b": 1, "c~d": 2 }, [{ op: "set", path: "/a~1b", value: 3 }, { op: "remove", path: "/c~0d" }], { "a/b": 3 }],
  ["time to live", {}, [{ op: "set", path: "/ttl", value: 600 }], { ttl: 600 }],
];

describe("accepted", () => {
  for (const [name, before, operations, after] of accepted) {
    test(name, async () => {
      const item = await given(before);
      const patched = await item.patch(operations);
      assert.equal(patched.statusCode, 200);
      const { id, pk, ...rest } = plain(patched.resource);
      assert.deepEqual(rest, after);
      assert.deepEqual((await item.read()).resource, patched.resource);
    });
  }
});

const rejected = [
  ["add below nothing", {}, [{ op: "add", path: "/o/x", value: 1 }]],
  ["add beyond an array", { a: [1] }, [{ op: "add", path: "/a/5", value: 1 }]],
  ["set below nothing", {}, [{ op: "set", path: "/o/x", value: 1 }]],
  ["replace of nothing", {}, [{ op: "replace", path: "/n", value: 1 }]],
  ["remove of nothing", {}, [{ op: "remove", path: "/n" }]],
  ["remove beyond an array", { a: [1] }, [{ op: "remove", path: "/a/1" }]],
  ["incr of a string", { n: "1" }, [{ op: "incr", path: "/n", value: 1 }]],
  ["move of nothing", {}, [{ op: "move", from: "/n", path: "/m" }]],
  ["move below itself", { o: {} }, [{ op: "move", from: "/o", path: "/o/x" }]],
  ["a path without a slash", { n: 1 }, [{ op: "set", path: "n", value: 1 }]],
  ["the partition key", {}, [{ op: "set", path: "/pk", value: "b" }]],
  ["the id", {}, [{ op: "set", path: "/id", value: "b" }]],
  ["a system property", {}, [{ op: "set", path: "/_ts", value: 1 }]],
  ["eleven operations", { n: 0 }, Array.from({ length: 11 }, () => ({ op: "incr", path: "/n", value: 1 }))],
  ["a good operation before a bad one", { n: 0 }, [{ op: "set", path: "/n", value: 1 }, { op: "remove", path: "/nothing" }]],
];

describe("refused with 400, and nothing changes", () => {
  for (const [name, before, operations] of rejected) {
    test(name, async () => {
      const item = await given(before);
      const { etag } = await item.read();
      await refused(item.patch(operations), 400);
      assert.equal((await item.read()).etag, etag);
    });
  }
});

test("ten operations are allowed", async () => {
  const item = await given({ n: 0 });
  const patched = await item.patch(Array.from({ length: 10 }, () => ({ op: "incr", path: "/n", value: 1 })));
  assert.equal(patched.resource.n, 10);
});

test("a condition decides", async () => {
  const item = await given({ n: 1, tags: ["x"] });
  const operations = [{ op: "incr", path: "/n", value: 1 }];
  assert.equal((await item.patch({ condition: "from c where c.n = 1 and ARRAY_CONTAINS(c.tags, 'x')", operations })).resource.n, 2);
  await refused(item.patch({ condition: "from c where c.n = 1", operations }), 412);
  await refused(item.patch({ condition: "from c where c.missing = 1", operations }), 412);
  await refused(item.patch({ condition: "from c where", operations }), 400);
  assert.equal((await item.read()).resource.n, 2);
});

test("an etag guards, a missing item is 404 before its condition is looked at", async () => {
  const item = await given({ n: 1 });
  const { etag } = await item.read();
  const operations = [{ op: "incr", path: "/n", value: 1 }];
  await item.patch(operations, { accessCondition: { type: "IfMatch", condition: etag } });
  await refused(item.patch(operations, { accessCondition: { type: "IfMatch", condition: etag } }), 412);
  await refused(container.item("nothing", "a").patch({ condition: "from c where c.n = 1", operations }), 404);
});
