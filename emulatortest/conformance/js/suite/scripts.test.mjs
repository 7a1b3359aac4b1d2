// Stored procedures, triggers, user-defined functions and conflicts, as @azure/cosmos uses them.

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { connect, freshContainer, freshDatabase, refused } from "./support.mjs";

const client = connect();
const database = await freshDatabase(client);

describe("stored procedures", () => {
  it("live and die", async () => {
    const { scripts } = await freshContainer(database);
    const body = "function () { getContext().getResponse().setBody('one'); }";
    const { resource } = await scripts.storedProcedures.create({ id: "p", body });
    assert.equal(resource.body, body);
    await refused(scripts.storedProcedures.create({ id: "p", body }), 409);
    await scripts.storedProcedures.create({ id: "q", body });
    const { resources } = await scripts.storedProcedures.readAll().fetchAll();
    assert.deepEqual(resources.map((r) => r.id), ["p", "q"]);
    const found = await scripts.storedProcedures.query({ query: "SELECT * FROM root r WHERE r.id=@id", parameters: [{ name: "@id", value: "q" }] }).fetchAll();
    assert.deepEqual(found.resources.map((r) => r.id), ["q"]);
    const { resource: replaced } = await scripts.storedProcedure("p").replace({ id: "p", body: "function () { getContext().getResponse().setBody('two'); }" });
    assert.match(replaced.body, /two/);
    assert.equal((await scripts.storedProcedure("p").execute("a")).resource, "two");
    await scripts.storedProcedure("p").delete();
    await refused(scripts.storedProcedure("p").read(), 404);
  });

  it("take functions and arguments", async () => {
    const { scripts } = await freshContainer(database);
    await scripts.storedProcedures.create({
      id: "sum",
      body: function (a, b) { getContext().getResponse().setBody({ sum: a + b }); }.toString(),
    });
    assert.deepEqual((await scripts.storedProcedure("sum").execute("a", [1, 2])).resource, { sum: 3 });
  });

  it("change one logical partition, all or nothing", async () => {
    const container = await freshContainer(database);
    await container.scripts.storedProcedures.create({
      id: "import",
      body: function (items) {
        let made = 0;
        const next = () => {
          if (made === items.length) { __.response.setBody(made); return; }
          if (!__.createDocument(__.getSelfLink(), items[made], (err) => { if (err) throw err; made++; next(); })) throw new Error("not accepted");
        };
        next();
      }.toString(),
    });
    const run = (key, items) => container.scripts.storedProcedure("import").execute(key, [items]);
    assert.equal((await run("a", [{ id: "1", pk: "a" }, { id: "2", pk: "a" }])).resource, 2);
    const error = await refused(run("a", [{ id: "3", pk: "a" }, { id: "1", pk: "a" }]), 400, 409);
    assert.match(error.message, /already exists/);
    await refused(run("a", [{ id: "4", pk: "b" }]), 400);
    const { resources } = await container.items.query("SELECT VALUE c.id FROM c").fetchAll();
    assert.deepEqual(resources.sort(), ["1", "2"]);
  });

  it("log", async () => {
    const { scripts } = await freshContainer(database);
    await scripts.storedProcedures.create({ id: "p", body: "function () { console.log('the value of %s = %s', 'x', 1); }" });
    const { headers } = await scripts.storedProcedure("p").execute("a", [], { enableScriptLogging: true });
    assert.equal(decodeURIComponent(headers["x-ms-documentdb-script-log-results"]), "the value of x = 1");
  });

  it("report errors", async () => {
    const { scripts } = await freshContainer(database);
    await scripts.storedProcedures.create({ id: "p", body: "function () { throw new Error(1234, 'on purpose'); }" });
    const error = await refused(scripts.storedProcedure("p").execute("a"), 400, 1234);
    assert.match(error.message, /on purpose/);
    await refused(scripts.storedProcedure("none").execute("a"), 404);
  });
});

describe("triggers", () => {
  const types = [
    ["before", { triggerType: "pre", body: "function () { var r = getContext().getRequest(), b = r.getBody(); b.id += 't'; r.setBody(b); }" }, { preTriggerInclude: "t" }, "1t"],
    ["after", { triggerType: "post", body: "function () { var r = getContext().getResponse(), b = r.getBody(); b.seen = true; r.setBody(b); }" }, { postTriggerInclude: ["t"] }, "1"],
  ];
  for (const [when, definition, options, id] of types) {
    it(`run ${when} an operation`, async () => {
      const container = await freshContainer(database);
      await container.scripts.triggers.create({ id: "t", triggerOperation: "all", ...definition });
      const { resource } = await container.items.create({ id: "1", pk: "a" }, options);
      assert.equal(resource.id, id);
      assert.equal(resource.seen, when === "after" ? true : undefined);
      const { resource: upserted } = await container.items.upsert({ id: "2", pk: "a" }, options);
      assert.equal(upserted.id, id.replace("1", "2"));
    });
  }

  it("live and die", async () => {
    const { scripts } = await freshContainer(database);
    await scripts.triggers.create({ id: "t", body: "function () {}", triggerType: "pre", triggerOperation: "create" });
    const { resource } = await scripts.trigger("t").replace({ id: "t", body: "function () { }", triggerType: "post", triggerOperation: "delete" });
    assert.equal(resource.triggerType, "post");
    assert.equal((await scripts.triggers.readAll().fetchAll()).resources.length, 1);
    await scripts.trigger("t").delete();
    await refused(scripts.trigger("t").read(), 404);
  });

  it("undo what they refuse", async () => {
    const container = await freshContainer(database);
    await container.scripts.triggers.create({ id: "t", body: "function () { throw new Error('no'); }", triggerType: "post", triggerOperation: "all" });
    await refused(container.items.create({ id: "1", pk: "a" }, { postTriggerInclude: "t" }), 400);
    assert.equal((await container.items.readAll().fetchAll()).resources.length, 0);
  });
});

describe("user-defined functions", () => {
  it("live and die", async () => {
    const { scripts } = await freshContainer(database);
    await scripts.userDefinedFunctions.create({ id: "f", body: "function () { return 1; }" });
    const { resource } = await scripts.userDefinedFunction("f").replace({ id: "f", body: "function () { return 2; }" });
    assert.match(resource.body, /2/);
    assert.equal((await scripts.userDefinedFunctions.query("SELECT * FROM root").fetchAll()).resources.length, 1);
    await scripts.userDefinedFunction("f").delete();
    await refused(scripts.userDefinedFunction("f").read(), 404);
  });

  it("are called in queries, across partitions and in order", async () => {
    const container = await freshContainer(database);
    await container.scripts.userDefinedFunctions.create({ id: "tax", body: "function tax(income) { return income < 1000 ? income * 0.1 : income * 0.4; }" });
    for (let i = 0; i < 8; i++) await container.items.create({ id: String(i), pk: `p${i}`, n: i * 300 });
    const { resources } = await container.items.query("SELECT VALUE udf.tax(c.n) FROM c WHERE udf.tax(c.n) > 50 ORDER BY c.n DESC").fetchAll();
    assert.deepEqual(resources, [840, 720, 600, 480, 90, 60]);
    const { resources: total } = await container.items.query("SELECT VALUE SUM(udf.tax(c.n)) FROM c").fetchAll();
    assert.deepEqual(total, [2820]);
    await refused(container.items.query("SELECT VALUE udf.none(c.n) FROM c").fetchAll(), 400);
  });
});

describe("conflicts", () => {
  it("have a feed, which is empty", async () => {
    const container = await freshContainer(database);
    assert.deepEqual((await container.conflicts.readAll().fetchAll()).resources, []);
    assert.deepEqual((await container.conflicts.query("SELECT * FROM c").fetchAll()).resources, []);
  });
});
