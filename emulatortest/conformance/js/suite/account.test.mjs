// The account, databases, containers, throughput and who may ask.

import assert from "node:assert/strict";
import { test } from "node:test";
import { CosmosClient } from "@azure/cosmos";
import { connect, countRanges, endpoint, freshContainer, freshDatabase, growTo, key, plain, refused, unique } from "./support.mjs";

const client = connect();
const database = await freshDatabase(client);

test("the account names itself, its regions and its consistency", async () => {
  const { resource } = await client.getDatabaseAccount();
  assert.equal(resource.writableLocations.length, 1);
  assert.equal(resource.readableLocations.length, 1);
  assert.ok(["Session", "Strong", "BoundedStaleness", "ConsistentPrefix", "Eventual"].includes(resource.consistencyPolicy));
  assert.equal(new URL(await client.getReadEndpoint()).port, new URL(endpoint).port);
});

test("a wrong key is 401", async () => {
  const stranger = new CosmosClient({ endpoint, key: Buffer.alloc(64, 7).toString("base64") });
  const error = await refused(stranger.databases.readAll().fetchAll(), 401);
  assert.doesNotMatch(error.message, new RegExp(key.slice(0, 20).replaceAll("+", "\\+")));
});

test("an Entra ID token may write items and may not create databases", async () => {
  const part = (value) => Buffer.from(typeof value === "string" ? value : JSON.stringify(value)).toString("base64url");
  const now = Math.floor(Date.now() / 1000);
  const token = [{ alg: "RS256", typ: "JWT" }, { aud: endpoint, iss: "https://sts.example/", nbf: now - 60, iat: now - 60, exp: now + 3600, oid: "o", tid: "t", ver: "1.0", scp: "user_impersonation" }, key].map(part).join(".");
  const aad = new CosmosClient({ endpoint, aadCredentials: { getToken: async () => ({ token, expiresOnTimestamp: Date.now() + 3_600_000 }) } });
  const container = await freshContainer(database);
  const items = aad.database(database.id).container(container.id).items;
  assert.equal((await items.create({ id: "1", pk: "a" })).statusCode, 201);
  await refused(aad.databases.create({ id: "never" }), 403, 5300);
});

test("databases are created, found, listed and deleted", async () => {
  const id = `${database.id}-other`;
  const created = await client.databases.create({ id });
  assert.equal(created.statusCode, 201);
  assert.equal(created.resource.id, id);
  await refused(client.databases.create({ id }), 409);
  assert.equal((await client.databases.createIfNotExists({ id })).statusCode, 200);
  assert.equal((await client.database(id).read()).resource._rid, created.resource._rid);
  assert.ok((await client.databases.readAll().fetchAll()).resources.some((d) => d.id === id));
  const found = await client.databases.query({ query: "SELECT * FROM root r WHERE r.id = @id", parameters: [{ name: "@id", value: id }] }).fetchAll();
  assert.deepEqual(found.resources.map((d) => d.id), [id]);
  assert.equal((await client.database(id).delete()).statusCode, 204);
  await refused(client.database(id).read(), 404);
  await refused(client.database(id).delete(), 404);
});

test("a database's id is checked", async () => {
  await refused(client.databases.create({ id: "x".repeat(256) }), 400);
});

test("containers keep their properties", async () => {
  const definition = {
    id: unique(),
    partitionKey: { paths: ["/tenant", "/user"], kind: "MultiHash", version: 2 },
    defaultTtl: 3600,
    uniqueKeyPolicy: { uniqueKeys: [{ paths: ["/email"] }, { paths: ["/a", "/b/c"] }] },
    indexingPolicy: {
      indexingMode: "consistent",
      automatic: true,
      includedPaths: [{ path: "/*" }],
      excludedPaths: [{ path: "/raw/*" }, { path: '/"_etag"/?' }],
      compositeIndexes: [[{ path: "/a", order: "ascending" }, { path: "/b", order: "descending" }]],
    },
    conflictResolutionPolicy: { mode: "LastWriterWins", conflictResolutionPath: "/_ts", conflictResolutionProcedure: "" },
  };
  const created = await database.containers.create(definition);
  assert.equal(created.statusCode, 201);
  const { resource } = await created.container.read();
  for (const [name, value] of Object.entries(definition)) assert.deepEqual(resource[name], value, name);
  assert.equal(Buffer.from(resource._rid.replaceAll("-", "/"), "base64").length, 8);
  assert.deepEqual((await created.container.getPartitionKeyDefinition()).resource, definition.partitionKey);
  await refused(database.containers.create(definition), 409);
  const found = await database.containers.query(`SELECT * FROM c WHERE c.id = "${definition.id}"`).fetchAll();
  assert.equal(found.resources.length, 1);
});

test("a container's policies can be replaced, its key can't", async () => {
  const container = await freshContainer(database);
  const { resource } = await container.read();
  const policy = { indexingMode: "consistent", automatic: true, includedPaths: [{ path: "/*" }], excludedPaths: [{ path: "/x/?" }] };
  const replaced = await container.replace({ ...resource, defaultTtl: 60, indexingPolicy: policy });
  assert.equal(replaced.statusCode, 200);
  assert.equal(replaced.resource.defaultTtl, 60);
  assert.deepEqual((await container.read()).resource.indexingPolicy.excludedPaths[0], { path: "/x/?" });
  await refused(container.replace({ ...resource, partitionKey: { paths: ["/other"], version: 2 } }), 400);
});

test("containers are deleted with what is in them", async () => {
  const container = await freshContainer(database);
  await container.items.create({ id: "1", pk: "a" });
  assert.equal((await container.delete()).statusCode, 204);
  await refused(container.read(), 404);
  await refused(container.item("1", "a").replace({ id: "1", pk: "a" }), 404);
  await database.containers.create({ id: container.id, partitionKey: "/pk" });
  assert.deepEqual((await container.items.readAll().fetchAll()).resources, []);
});

test("definitions outside of the rules are 400", async () => {
  for (const definition of [
    { partitionKey: { paths: ["/a", "/b", "/c", "/d"], kind: "MultiHash", version: 2 } },
    { partitionKey: { paths: ["no-slash"], version: 2 } },
    { defaultTtl: 0 },
    { indexingPolicy: { indexingMode: "sometimes" } },
  ]) {
    await refused(database.containers.create({ id: unique(), partitionKey: "/pk", ...definition }), 400);
  }
});

test("a container of a missing database is 404/1003", async () => {
  await refused(client.database("missing").containers.create({ id: "c", partitionKey: "/pk" }), 404, 1003);
});

test("throughput is read and replaced", async () => {
  const container = await freshContainer(database, { throughput: 500 });
  const { resource: offer } = await container.readOffer();
  assert.equal(offer.content.offerThroughput, 500);
  const changed = await client.offer(offer.id).replace({ ...offer, content: { ...offer.content, offerThroughput: 600 } });
  assert.equal(changed.resource.content.offerThroughput, 600);
  assert.equal((await container.readOffer()).resource.content.offerThroughput, 600);
  assert.equal((await client.offer(offer.id).read()).resource.offerResourceId, (await container.read()).resource._rid);
  assert.ok((await client.offers.readAll().fetchAll()).resources.some((o) => o.id === offer.id));
  await refused(client.offer(offer.id).replace({ ...offer, content: { ...offer.content, offerThroughput: 450 } }), 400);
});

test("autoscale has a maximum", async () => {
  const container = await freshContainer(database, { maxThroughput: 4000 });
  const { resource: offer } = await container.readOffer();
  assert.equal(offer.content.offerAutopilotSettings.maxThroughput, 4000);
});

test("a database's throughput is shared", async () => {
  const { database: shared } = await client.databases.create({ id: `${database.id}-shared`, throughput: 1000 });
  try {
    const { container } = await shared.containers.create({ id: "c", partitionKey: "/pk" });
    assert.equal((await shared.readOffer()).resource.content.offerThroughput, 1000);
    assert.equal((await container.readOffer()).resource, undefined);
  } finally {
    await shared.delete();
  }
});

test("throughput beyond 10,000 RU/s a partition splits it; items stay where their keys are", async () => {
  const container = await freshContainer(database, { partitionKey: { paths: ["/pk"], version: 2 } });
  for (let i = 0; i < 40; i++) await container.items.create({ id: "x", pk: `k${i}` });
  const before = await countRanges(container);
  await growTo(container, before + 3);
  const { resources: ranges } = await container.readPartitionKeyRanges().fetchAll();
  const bounds = ranges.sort((a, b) => (a.minInclusive < b.minInclusive ? -1 : 1));
  assert.equal(bounds[0].minInclusive, "");
  assert.equal(bounds.at(-1).maxExclusive, "FF");
  bounds.slice(1).forEach((range, i) => assert.equal(range.minInclusive, bounds[i].maxExclusive));
  assert.ok(ranges.some((range) => range.parents.length > 0));
  for (let i = 0; i < 40; i++) assert.equal((await container.item("x", `k${i}`).read()).resource.pk, `k${i}`);
});

test("users have permissions, whose tokens reach no further", async () => {
  const container = await freshContainer(database);
  await container.items.create({ id: "1", pk: "a" });
  const { user } = await database.users.create({ id: `u-${container.id}` });
  const { resource: permission } = await user.permissions.create({ id: "read", permissionMode: "Read", resource: container.url });
  assert.ok(permission._token);
  assert.deepEqual((await user.permissions.readAll().fetchAll()).resources.map((p) => p.id), ["read"]);
  await user.delete();
  await refused(user.read(), 404);
});

test("a function that does not exist is refused by name", async () => {
  const container = await freshContainer(database);
  await container.items.create({ id: "1", pk: "a" });
  const call = await refused(container.items.query("SELECT VALUE udf.f(c.x) FROM c").fetchAll(), 400);
  assert.match(call.message, /udf/i);
});

test("properties that the SDK doesn't know are kept", async () => {
  const container = await freshContainer(database);
  const { resource } = await container.read();
  const { resource: replaced } = await container.replace({ ...resource, computedProperties: [{ name: "lower", query: "SELECT VALUE LOWER(c.name) FROM c" }] });
  assert.deepEqual(replaced.computedProperties, [{ name: "lower", query: "SELECT VALUE LOWER(c.name) FROM c" }]);
  await container.items.create({ id: "1", pk: "a", name: "ABC" });
  assert.deepEqual((await container.items.query("SELECT VALUE c.lower FROM c").fetchAll()).resources, ["abc"]);
  assert.deepEqual(plain((await container.item("1", "a").read()).resource), { id: "1", pk: "a", name: "ABC" });
});
