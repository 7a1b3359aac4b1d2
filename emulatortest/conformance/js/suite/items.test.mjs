// Items one at a time: create, read, upsert, replace, delete; conditions, ids, keys, sizes, sessions.

import assert from "node:assert/strict";
import { test } from "node:test";
import { connect, freshContainer, freshDatabase, plain, refused } from "./support.mjs";

const client = connect();
const database = await freshDatabase(client);

/** Reads of missing items resolve in this SDK; this turns them into the refusal that they are. */
async function missing(read, substatus) {
  const response = await read;
  assert.equal(response.statusCode, 404);
  assert.equal(response.resource, undefined);
  if (substatus !== undefined) assert.equal(Number(response.substatus ?? 0), substatus);
}

test("an item goes through its life", async () => {
  const container = await freshContainer(database);
  const created = await container.items.create({ id: "1", pk: "a", n: 1, deep: { list: [1, "zwei", null, { x: true }] } });
  assert.equal(created.statusCode, 201);
  assert.ok(created.requestCharge > 0);
  assert.equal(created.etag, created.resource._etag);
  const read = await container.item("1", "a").read();
  assert.equal(read.statusCode, 200);
  assert.deepEqual(read.resource, created.resource);
  assert.ok(Math.abs(read.resource._ts - Date.now() / 1000) < 60);
  const replaced = await container.item("1", "a").replace({ id: "1", pk: "a", n: 2 });
  assert.equal(replaced.statusCode, 200);
  assert.notEqual(replaced.etag, created.etag);
  assert.deepEqual(plain(replaced.resource), { id: "1", pk: "a", n: 2 });
  assert.equal(replaced.resource._rid, created.resource._rid);
  const deleted = await container.item("1", "a").delete();
  assert.equal(deleted.statusCode, 204);
  await missing(container.item("1", "a").read(), 0);
});

test("a second item of the same id conflicts only in the same logical partition", async () => {
  const container = await freshContainer(database);
  await container.items.create({ id: "1", pk: "a" });
  await refused(container.items.create({ id: "1", pk: "a" }), 409);
  assert.equal((await container.items.create({ id: "1", pk: "b" })).statusCode, 201);
});

test("an upsert creates and then replaces", async () => {
  const container = await freshContainer(database);
  assert.equal((await container.items.upsert({ id: "1", pk: "a", n: 1 })).statusCode, 201);
  const second = await container.items.upsert({ id: "1", pk: "a", n: 2 });
  assert.equal(second.statusCode, 200);
  assert.equal(second.resource.n, 2);
});

test("an id is made by the SDK and kept by the service", async () => {
  const container = await freshContainer(database);
  const { resource } = await container.items.create({ pk: "a" });
  assert.match(resource.id, /^[0-9a-f-]{36}$/);
  await refused(container.items.create({ pk: "a" }, { disableAutomaticIdGeneration: true }), 400);
});

test("replace and delete of what is not there are 404", async () => {
  const container = await freshContainer(database);
  await refused(container.item("1", "a").replace({ id: "1", pk: "a" }), 404);
  await refused(container.item("1", "a").delete(), 404);
  await missing(database.container("missing").item("1", "a").read()).catch((error) => assert.equal(error.code, 404));
});

test("an etag guards replace, upsert and delete", async () => {
  const container = await freshContainer(database);
  const { etag: old } = await container.items.create({ id: "1", pk: "a", n: 1 });
  const { etag } = await container.item("1", "a").replace({ id: "1", pk: "a", n: 2 });
  const stale = { accessCondition: { type: "IfMatch", condition: old } };
  await refused(container.item("1", "a").replace({ id: "1", pk: "a", n: 3 }, stale), 412);
  await refused(container.items.upsert({ id: "1", pk: "a", n: 3 }, stale), 412);
  await refused(container.item("1", "a").delete(stale), 412);
  assert.equal((await container.item("1", "a").read()).resource.n, 2);
  assert.equal((await container.item("1", "a").replace({ id: "1", pk: "a", n: 3 }, { accessCondition: { type: "IfMatch", condition: etag } })).statusCode, 200);
  assert.equal((await container.item("1", "a").delete({ accessCondition: { type: "IfMatch", condition: "*" } })).statusCode, 204);
});

test("a read of what has not changed is 304 without a body", async () => {
  const container = await freshContainer(database);
  const { etag } = await container.items.create({ id: "1", pk: "a", n: 1 });
  const unchanged = { accessCondition: { type: "IfNoneMatch", condition: etag } };
  const first = await container.item("1", "a").read(unchanged);
  assert.equal(first.statusCode, 304);
  assert.equal(first.resource ?? undefined, undefined);
  await container.item("1", "a").replace({ id: "1", pk: "a", n: 2 });
  const second = await container.item("1", "a").read(unchanged);
  assert.equal(second.statusCode, 200);
  assert.equal(second.resource.n, 2);
});

test("a replace may rename and may not move", async () => {
  const container = await freshContainer(database);
  await container.items.create({ id: "1", pk: "a" });
  await container.items.create({ id: "taken", pk: "a" });
  assert.equal((await container.item("1", "a").replace({ id: "2", pk: "a" })).statusCode, 200);
  await missing(container.item("1", "a").read());
  assert.equal((await container.item("2", "a").read()).statusCode, 200);
  await refused(container.item("2", "a").replace({ id: "taken", pk: "a" }), 409);
  await refused(container.item("2", "a").replace({ id: "2", pk: "b" }), 400, 1001);
});

test("ids of every kind are found again", async () => {
  const container = await freshContainer(database);
  for (const id of ["with space", "a+b&c=d", "ünïcode-日本語-🦓", "UPPER", "upper", "quote\"s'", "semi;colon,", "dot.", "(x)", "x@y", "100", "~", "a:b", "$", "x".repeat(255)]) {
    await container.items.create({ id, pk: "a" });
    const read = await container.item(id, "a").read();
    assert.equal(read.statusCode, 200, id);
    assert.equal(read.resource.id, id);
    assert.equal((await container.item(id, "a").replace({ id, pk: "a", again: true })).statusCode, 200, id);
    assert.equal((await container.item(id, "a").delete()).statusCode, 204, id);
  }
});

test("partition keys of every kind are told apart", async () => {
  const container = await freshContainer(database);
  const keys = ["", "a", "1", "true", "null", "ü🦓", 1, -1.5, 0, true, false, null];
  for (const [i, pk] of keys.entries()) await container.items.create({ id: "same", pk, i });
  await container.items.create({ id: "same", i: keys.length });
  for (const [i, pk] of keys.entries()) {
    const { resource } = await container.item("same", pk).read();
    assert.equal(resource?.i, i, JSON.stringify(pk));
    const { resources } = await container.items.query("SELECT VALUE c.i FROM c", { partitionKey: pk }).fetchAll();
    assert.deepEqual(resources, [i], JSON.stringify(pk));
  }
  assert.equal((await container.item("same", undefined).read()).resource.i, keys.length);
});

test("numbers, text and depth survive", async () => {
  const container = await freshContainer(database);
  const value = { id: "1", pk: "a", max: Number.MAX_VALUE, min: 5e-324, safe: Number.MAX_SAFE_INTEGER, third: 1 / 3, text: "\u0000\u001f\"\\/ \u2028 🦓 é", empty: ["", {}, [], null], "a.b": { "c/d": 1 } };
  await container.items.create(value);
  assert.deepEqual(plain((await container.item("1", "a").read()).resource), value);
});

test("documents above 2 MB are 413", async () => {
  const container = await freshContainer(database);
  await refused(container.items.create({ id: "1", pk: "a", text: "x".repeat(2 * 1024 * 1024) }), 413);
  assert.equal((await container.items.create({ id: "2", pk: "a", text: "x".repeat(1024 * 1024) })).statusCode, 201);
});

test("an array is no partition key", async () => {
  const container = await freshContainer(database);
  await refused(container.items.create({ id: "1", pk: ["a"] }), 400);
});

test("hierarchical keys need all of their levels for one item", async () => {
  const container = await freshContainer(database, { partitionKey: { paths: ["/t", "/u", "/s/n"], kind: "MultiHash", version: 2 } });
  await container.items.create({ id: "1", t: "a", u: 5, s: { n: true }, v: 1 });
  assert.equal((await container.item("1", ["a", 5, true]).read()).resource.v, 1);
  await missing(container.item("1", ["a", 5, false]).read());
  assert.equal((await container.item("1", ["a", 5, true]).replace({ id: "1", t: "a", u: 5, s: { n: true }, v: 2 })).resource.v, 2);
  assert.equal((await container.item("1", ["a", 5, true]).patch([{ op: "incr", path: "/v", value: 1 }])).resource.v, 3);
  await refused(container.item("1", ["a", 5]).delete(), 400);
  await refused(container.item("1", ["a", 5, true]).replace({ id: "1", t: "b", u: 5, s: { n: true } }), 400, 1001);
  const { resources } = await container.items.query("SELECT VALUE c.v FROM c", { partitionKey: ["a", 5, true] }).fetchAll();
  assert.deepEqual(resources, [3]);
  assert.equal((await container.item("1", ["a", 5, true]).delete()).statusCode, 204);
});

test("all items of a logical partition can be deleted at once", async () => {
  const container = await freshContainer(database);
  for (let i = 0; i < 5; i++) for (const pk of ["a", "b"]) await container.items.create({ id: `${i}`, pk });
  await container.deleteAllItemsForPartitionKey("a");
  const { resources } = await container.items.query("SELECT VALUE c.pk FROM c").fetchAll();
  assert.deepEqual(resources, ["b", "b", "b", "b", "b"]);
});

test("unique keys hold within one logical partition, for every kind of write", async () => {
  const container = await freshContainer(database, { uniqueKeyPolicy: { uniqueKeys: [{ paths: ["/email"] }, { paths: ["/a", "/b/c"] }] } });
  await container.items.create({ id: "1", pk: "x", email: "m", a: 1, b: { c: 1 } });
  await refused(container.items.create({ id: "2", pk: "x", email: "m", a: 2 }), 409);
  await refused(container.items.create({ id: "2", pk: "x", email: "n", a: 1, b: { c: 1 } }), 409);
  assert.equal((await container.items.create({ id: "1", pk: "y", email: "m" })).statusCode, 201);
  await container.items.create({ id: "2", pk: "x", email: "n", a: 1, b: { c: 2 } });
  await refused(container.items.upsert({ id: "2", pk: "x", email: "m", a: 1, b: { c: 2 } }), 409);
  await refused(container.item("2", "x").replace({ id: "2", pk: "x", email: "m", a: 1, b: { c: 2 } }), 409);
  await refused(container.item("2", "x").patch([{ op: "set", path: "/email", value: "m" }]), 409);
  await container.items.create({ id: "3", pk: "x", a: 3 }); // its missing email counts as one
  await refused(container.items.create({ id: "4", pk: "x", a: 4 }), 409);
  await container.item("1", "x").delete();
  assert.equal((await container.item("2", "x").patch([{ op: "set", path: "/email", value: "m" }])).statusCode, 200);
});

test("items expire", async () => {
  const container = await freshContainer(database, { defaultTtl: 1 });
  await container.items.create({ id: "default", pk: "a" });
  await container.items.create({ id: "never", pk: "a", ttl: -1 });
  await container.items.create({ id: "later", pk: "a", ttl: 1000 });
  for (const ttl of [0, 1.5, "1", null]) await refused(container.items.create({ id: "bad", pk: "a", ttl }), 400);
  const end = Date.now() + 10_000;
  while ((await container.item("default", "a").read()).statusCode !== 404) {
    assert.ok(Date.now() < end, "the item is still there after 10 s");
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  const { resources } = await container.items.query("SELECT VALUE c.id FROM c ORDER BY c.id").fetchAll();
  assert.deepEqual(resources, ["later", "never"]);
  assert.equal((await container.items.create({ id: "default", pk: "a" })).statusCode, 201);
});

test("without a container's TTL an item's own means nothing", async () => {
  const container = await freshContainer(database);
  await container.items.create({ id: "1", pk: "a", ttl: 1 });
  await new Promise((resolve) => setTimeout(resolve, 2100));
  assert.equal((await container.item("1", "a").read()).statusCode, 200);
});

test("a session's token is captured and may be handed over", async () => {
  const session = connect({ consistencyLevel: "Session" });
  const container = await freshContainer(database);
  const own = session.database(database.id).container(container.id);
  const { headers } = await own.items.create({ id: "1", pk: "a" });
  assert.match(headers["x-ms-session-token"], /^\d+:/);
  assert.equal((await own.item("1", "a").read()).statusCode, 200);
  const other = connect({ consistencyLevel: "Session" }).database(database.id).container(container.id);
  assert.equal((await other.item("1", "a").read({ sessionToken: headers["x-ms-session-token"] })).statusCode, 200);
  assert.equal((await own.items.query("SELECT * FROM c").fetchAll()).resources.length, 1);
});

test("a token from the future is 404/1002, after which the SDK asks without one", async () => {
  const container = await freshContainer(database, { partitionKey: { paths: ["/pk"], version: 2 } });
  const { headers } = await container.items.create({ id: "1", pk: "a" });
  const sessionToken = headers["x-ms-session-token"].replace(/#(\d+)/, (_, lsn) => `#${Number(lsn) + 1000}`);
  const seen = [];
  const plugin = async (_context, _node, next) => {
    try {
      const answer = await next(_context);
      seen.push(answer.code);
      return answer;
    } catch (error) {
      seen.push(`${error.code}/${error.substatus}`);
      throw error;
    }
  };
  const watched = connect({ plugins: [{ on: "request", plugin }] }).database(database.id).container(container.id);
  await watched.getPartitionKeyDefinition();
  seen.length = 0;
  assert.equal((await watched.item("1", "a").read({ sessionToken })).statusCode, 200);
  assert.deepEqual(seen, ["404/1002", 200]);
});

test("a session token that is none is 400", async () => {
  const container = await freshContainer(database);
  await container.items.create({ id: "1", pk: "a" });
  await refused(container.item("1", "a").read({ sessionToken: "nonsense" }), 400);
});
